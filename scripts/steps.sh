# SPDX-License-Identifier: Apache-2.0
#
# steps.sh - for scripts that run several steps, all of them, and fail if one failed. Sourced, from the root.

steps_failed=

# step NAME COMMAND... - runs it and prints one line with its seconds and those of processors; its output only if it fails.
step()
{
    step_name=$1
    shift
    step_log=$(mktemp)
    step_start=$(date +%s)
    times >"$step_log.times"
    if "$@" >"$step_log" 2>&1; then
        step_status=0
        step_word=ok
    else
        step_status=1
        step_word=FAILED
        steps_failed="$steps_failed $step_name;"
        cat "$step_log"
    fi
    times >>"$step_log.times"
    # Of the children before and after: "0m1.23s 0m0.45s".
    step_cpu=$(awk 'NR % 2 == 0 { before = now; split($1 "m" $2, t, "m"); now = 60 * (t[1] + t[3]) + t[2] + t[4] }
        END { printf "%.0f", now - before }' "$step_log.times")
    rm -f "$step_log" "$step_log.times"
    printf '%-8s%-20s%4d s, %4d s of processors\n' "$step_word" "$step_name" $(($(date +%s) - step_start)) "$step_cpu"
    return $step_status
}

# run_tests PRESET CTEST-OPTION... - one test more than processors at a time, as some wait for others' clocks; what failing
# tests print is shown.
run_tests()
{
    tests_preset=$1
    shift
    ctest --test-dir "build/$tests_preset" --output-on-failure --no-tests=error -Q \
        --output-log "build/$tests_preset-tests.log" -j $(($(nproc) + 1)) "$@" || {
        sed '/^ *Start *[0-9]*:/d; /   Passed   /d; /^\[.*OUTPUT\] *$/d; /^\[ERROR_MESSAGE\]/d; /^Internal ctest/d' \
            "build/$tests_preset-tests.log"
        return 1
    }
}

# slowest PRESET - the tests of the last run that took longest, with their seconds, so that growth is seen.
slowest()
{
    awk '/ Passed +[0-9.]+ sec/ { print $(NF - 1), $4 }' "build/$1-tests.log" | sort -rn | head -n 8 |
        awk '{ printf "%s%s %.0f s", NR == 1 ? "        slowest: " : ", ", $2, $1 } END { if (NR) print "" }'
}

# finish - exits, with code 1 if a step failed.
finish()
{
    if [ -n "$steps_failed" ]; then
        echo "failed:$steps_failed"
        exit 1
    fi
    exit 0
}
