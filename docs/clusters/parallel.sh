#!/bin/sh
# parallel.sh CONFIG [JOBS] - the points of a sweep with GNU parallel, some at a time. For other machines that share the
# directory give parallel --sshlogin, and the same paths there. Starting it again runs what is missing.
set -eu
config=$1
dpframe sweep -q -c "$config" --prepare
dpframe sweep -c "$config" --list | awk '$2 != "done" {print $3}' |
    parallel --will-cite --jobs "${2:-100%}" dpframe sweep -q -c "$config" --point {}
