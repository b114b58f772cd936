# SPDX-License-Identifier: Apache-2.0
# Completion of dpframe for fish: commands, options, configurations, components, sections, keys.
function __dpframe_words
    set -l program (commandline -opc)[1]
    $program complete $argv 2>/dev/null
end

function __dpframe_keys
    set -l config
    for word in (commandline -opc)
        string match -q '*.ini' -- $word; and set config $word
    end
    __dpframe_words keys $config
end

function __dpframe_options
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or begin
            __dpframe_words options $word
            return
        end
    end
end

complete -c dpframe -n __fish_use_subcommand -f -a '(__dpframe_words commands)'
complete -c dpframe -n '__fish_seen_subcommand_from list' -f -a '(__dpframe_words roles)'
complete -c dpframe -n '__fish_seen_subcommand_from describe' -f -a '(__dpframe_words components; __dpframe_words sections)'
complete -c dpframe -a '(__dpframe_options)'
complete -c dpframe -s c -l config -r -F -d 'the configuration'
complete -c dpframe -s o -l override -x -a '(__dpframe_keys)' -d 'sets one value'
complete -c dpframe -s O -l output -r -F -d 'where results go'
complete -c dpframe -l format -x -a 'text markdown json csv tsv jsonl trec'
complete -c dpframe -l plugin-dir -x -a '(__fish_complete_directories)'
