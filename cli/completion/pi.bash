# bash completion for pi; see: pi completion --help
#
# What was typed is handed to pi as text, and what pi answers is text for bash: nothing of it is run.

_pi_complete() {
    COMPREPLY=()
    local line kind='' columns=${COLUMNS:-80}
    while IFS= read -r line; do
        if [[ -z $kind ]]; then
            kind=$line
        else
            COMPREPLY+=("$line")
        fi
    done < <(command pi completion bash --at -- "${COMP_LINE:0:COMP_POINT}" "$2" "${COMP_TYPE:-9}" 2>/dev/null)
    [[ ${BASH_VERSINFO[0]} -ge 4 ]] || return 0
    case $kind in
        files*) compopt -o default ;;
        folders*) compopt -o dirnames ;;
        open) compopt -o nospace ;;
    esac
    [[ ${BASH_VERSINFO[0]} -eq 4 && ${BASH_VERSINFO[1]} -lt 4 ]] || compopt -o nosort
}

complete -F _pi_complete pi
