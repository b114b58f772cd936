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

complete -c dpframe -n __fish_use_subcommand -f -a '(__dpframe_words commands)'
complete -c dpframe -n '__fish_seen_subcommand_from list' -f -a '(__dpframe_words roles)'
complete -c dpframe -n '__fish_seen_subcommand_from describe' -f -a '(__dpframe_words components; __dpframe_words sections)'
complete -c dpframe -s c -l config -r -F -d 'the configuration'
complete -c dpframe -s o -l override -x -a '(__dpframe_keys)' -d 'sets one value'
complete -c dpframe -s O -l output -r -F -d 'where results go'
complete -c dpframe -s j -l jobs -x -d 'sweeps: points at the same time'
complete -c dpframe -l dry-run -d 'sweeps: list the points'
complete -c dpframe -l resume -d 'sweeps: skip points that are done; a run: go on from its checkpoint'
complete -c dpframe -l prepare -d 'sweep: write its points and run none'
complete -c dpframe -l list -d 'sweep: how far its points are'
complete -c dpframe -l point -x -d 'sweep: run the point NAME, I, or those from I to J'
complete -c dpframe -l insecure-test -d 'serve, join: noise that can be reproduced, for tests'
complete -c dpframe -l take-over -d 'sweep: also points held by a process known to be dead'
complete -c dpframe -l scores -d 'items: a table of scores, for data.item-features'
complete -c dpframe -l profile -d 'run: where the time goes'
complete -c dpframe -l user -x -d 'recommend: for whom'
complete -c dpframe -l all -d 'recommend: for all users'
complete -c dpframe -l item -x -d 'similar: to which item'
complete -c dpframe -s n -l number -x -d 'so many items'
complete -c dpframe -l data -r -F -d 'other records'
complete -c dpframe -l candidates -r -F -d 'among these items alone'
complete -c dpframe -l exclude -r -F -d 'without these items'
complete -c dpframe -l format -x -a 'text markdown json csv tsv jsonl trec'
complete -c dpframe -l plugin-dir -x -a '(__fish_complete_directories)'
complete -c dpframe -l json -d 'machine-readable output'
complete -c dpframe -s q -l quiet -d 'errors and warnings only'
complete -c dpframe -s v -l verbose -d 'more about what is done'
complete -c dpframe -s h -l help -d 'help'
