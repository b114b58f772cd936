# SPDX-License-Identifier: Apache-2.0
# Completion of dpframe for bash: commands, options, configurations, components, sections, keys.
_dpframe_words()
{
    "${COMP_WORDS[0]}" complete "$@" 2>/dev/null
}

_dpframe()
{
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= config= i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            *.ini) config=${COMP_WORDS[i]} ;;
            -*) ;;
            *) [ -n "$command" ] || command=${COMP_WORDS[i]} ;;
        esac
    done
    case $previous in
        -o | --override)
            compopt -o nospace
            mapfile -t COMPREPLY < <(compgen -W "$(_dpframe_words keys ${config:+"$config"})" -- "$word")
            return ;;
        -c | --config)
            mapfile -t COMPREPLY < <(compgen -f -X '!*.ini' -- "$word"; compgen -d -S / -- "$word")
            compopt -o nospace
            return ;;
        --format)
            mapfile -t COMPREPLY < <(compgen -W 'text markdown json csv tsv jsonl trec' -- "$word")
            return ;;
        --plugin-dir)
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            return ;;
    esac
    if [ "${word:0:1}" = - ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_dpframe_words options "${command:-run}") --version" -- "$word")
        return
    fi
    case $command in
        '') mapfile -t COMPREPLY < <(compgen -W "$(_dpframe_words commands)" -- "$word") ;;
        list) mapfile -t COMPREPLY < <(compgen -W "$(_dpframe_words roles)" -- "$word") ;;
        describe)
            mapfile -t COMPREPLY < <(compgen -W "$(_dpframe_words components) $(_dpframe_words sections)" -- "$word") ;;
        *) compopt -o default ;;
    esac
}
complete -F _dpframe dpframe
