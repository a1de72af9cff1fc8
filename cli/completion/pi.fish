# fish completion for pi; see: pi completion --help
#
# What was typed is handed to pi as text, and what pi answers is text for fish: nothing of it is run.

function __pi_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l answer (command pi completion fish --at -- $typed[2..-1] "$current" 2>/dev/null)
    set -l kind $answer[1]
    for line in $answer[2..-1]
        echo -- $line
    end
    switch "$kind"
        case 'files *'
            set -l behind (string sub -s 7 -- $kind)
            for path in (__fish_complete_path (string sub -s (math (string length -- $behind) + 1) -- $current))
                echo -- $behind$path
            end
        case 'folders *'
            set -l behind (string sub -s 9 -- $kind)
            for path in (__fish_complete_directories (string sub -s (math (string length -- $behind) + 1) -- $current))
                echo -- $behind$path
            end
    end
end

complete -c pi -e
complete -c pi -f -k -a '(__pi_complete)'
