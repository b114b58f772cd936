# SPDX-License-Identifier: Apache-2.0
#
# Reads public headers and prints, for each structure that crosses the ABI,
#   struct NAME FILE
#   member NAME DECLARATION        (one line each, comments gone, in order)
# Headers that call themselves "not part of the ABI" are left out: functions for authors live there.
function flush_member(text)
{
    gsub(/[ \t]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    if (text != "")
        print "member " name " " text
}
function strip(line,    at, end)
{
    for (;;) {
        if (in_comment) {
            end = index(line, "*/")
            if (!end)
                return ""
            line = substr(line, end + 2)
            in_comment = 0
        }
        at = index(line, "/*")
        if (!at)
            return line
        end = index(substr(line, at + 2), "*/")
        if (end) {
            line = substr(line, 1, at - 1) " " substr(line, at + 2 + end + 1)
        } else {
            in_comment = 1
            return substr(line, 1, at - 1)
        }
    }
}
FNR == 1 {
    in_comment = 0
    name = ""
    skip = 0
}
/not part of the ABI|^ \* the ABI\.$/ && FNR < 8 { skip = 1 }
skip { next }
{
    line = strip($0)
    if (name == "" && line ~ /^(typedef )?struct dpf_[a-z0-9_]+ \{/) {
        name = line
        sub(/^(typedef )?struct /, "", name)
        sub(/ .*/, "", name)
        print "struct " name " " FILENAME
        text = ""
        next
    }
    if (name == "")
        next
    if (line ~ /^\}/) {
        name = ""
        next
    }
    text = text " " line
    while ((at = index(text, ";")) > 0) {
        flush_member(substr(text, 1, at - 1))
        text = substr(text, at + 1)
    }
}
