# Completion of moorage for fish 3 and later:
#   moorage completion fish > ~/.config/fish/completions/moorage.fish
# It asks the command what can stand at the cursor, and has no list of commands of its own.
function __moorage_complete
    set -l given (commandline -opc)
    set -l current (commandline -ct)
    # The word without its quotes; one that is open is closed for that.
    set -l plain (string unescape -- $current 2>/dev/null; or string unescape -- "$current'" 2>/dev/null; or string unescape -- "$current\"" 2>/dev/null; or echo -- $current)
    set -l program moorage
    string match -q '*/*' -- $given[1]; and set program (string replace -r '^~' $HOME -- $given[1])
    set -l lines (command $program __complete fish -- $given[2..-1] "$plain" 2>/dev/null </dev/null)
    switch "$lines[1]"
        case :files
            __fish_complete_path (string replace -r '^--[^=]+=' '' -- $plain)
        case :folders
            __fish_complete_directories (string replace -r '^--[^=]+=' '' -- $plain) ''
        case '*'
            test (count $lines) -gt 0; and printf '%s\n' $lines
    end
end
complete -c moorage -f -a '(__moorage_complete)'
