#compdef pi
# zsh completion for pi; see: pi completion --help
#
# What was typed is handed to pi as text, and what pi answers is text for zsh: nothing of it is run.

_pi() {
    local kind line word about width=0
    local -a typed found shown abouts
    typed=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}")
    while IFS= read -r line; do
        if [[ -z $kind ]]; then
            kind=$line
            continue
        fi
        word=${line%%$'\t'*}
        found+=("$word")
        abouts+=("${line#*$'\t'}")
        (( ${#word} > width )) && width=${#word}
    done < <(command pi completion zsh --at -- "${typed[@]}" 2>/dev/null)

    local i
    for (( i = 1; i <= ${#found}; i++ )); do
        line=${found[i]}
        [[ -n ${abouts[i]} ]] && line="${(r:width:)line}  ${abouts[i]}"
        shown+=("${line[1,COLUMNS - 1]}")
    done
    local -a with
    [[ $kind == open ]] && with=(-S '')
    local ret=1
    if (( ${#found} )); then
        compadd -V pi -l -d shown "${with[@]}" -a -- found && ret=0
    fi
    case $kind in
        files*)
            compset -P '--*='
            _files && ret=0
            ;;
        folders*)
            compset -P '--*='
            _files -/ && ret=0
            ;;
    esac
    return ret
}

if [[ ${funcstack[1]} == _pi ]]; then
    _pi "$@"
else
    compdef _pi pi
fi
