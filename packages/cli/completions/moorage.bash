# Completion of moorage for bash 3.2 and later. bash-completion is not needed:
#   source <(moorage completion bash)
# It asks the command what can stand at the cursor, and has no list of commands of its own.
_moorage() {
  local program=$1 line=${COMP_LINE:0:COMP_POINT} reply head
  case $program in
    */*) program=${program/#\~/$HOME} ;;
    *) program=moorage ;; # an alias has another name
  esac
  COMPREPLY=()
  reply=$(command "$program" __complete bash "$COMP_WORDBREAKS" "${COMP_TYPE:-9}" "${COLUMNS:-80}" -- "$line" \
    2>/dev/null </dev/null) || return
  head=${reply%%$'\n'*}
  case $head in
    nospace) compopt -o nospace 2>/dev/null ;;
    files | folders)
      # The shell's own completion of paths knows about quotes, ~ and spaces; bash 3.2 has no compopt.
      if [ "$head" = folders ]; then compopt -o dirnames 2>/dev/null; else compopt -o default 2>/dev/null; fi ||
        while IFS= read -r reply; do COMPREPLY+=("$reply"); done < <(compgen -f -- "$2")
      return
      ;;
  esac
  case $reply in *$'\n'*) ;; *) return ;; esac
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done <<<"${reply#*$'\n'}"
}
complete -F _moorage moorage
