#compdef @BUDA_TOOLS@
# Completion for zsh of all tools. What a tool has is read from its own --help, so that a plugin's options are offered, too.

# Reads help; prints "spelling:summary" for every spelling of every option.
_openbuda_options() {
  local line names summary name
  sed -n 's/^  \(-.*\)$/\1/p' | while IFS= read -r line; do
    names=${line%%  *} summary=
    [[ $line == *'  '* ]] && summary=${line##*  }
    for name in ${(s:, :)names}; do
      print -r -- "${${name%%[ =\[]*}//:/\\:}:$summary"
    done
  done
}

_openbuda_commands() {
  sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)$/\1:\2/p'
}

_openbuda() {
  local tool=$words[1] help=
  local -a commands options
  help=$($tool --help 2>/dev/null) || return
  commands=(${(f)"$(print -r -- $help | _openbuda_commands)"})
  if (( $#commands )); then
    if (( CURRENT > 2 )) && [[ -n ${commands[(r)$words[2]:*]} ]]; then
      help=$($tool $words[2] --help 2>/dev/null) || return
    elif (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then
      _describe command commands
      return
    fi
  fi
  if [[ $PREFIX == -* ]]; then
    options=(${(f)"$(print -r -- $help | _openbuda_options)"})
    _describe -o option options
    return
  fi
  _files
}

# Loaded by the completion system the file is the function's body; a program that sources it has the functions only.
[[ -n $compstate ]] && _openbuda "$@"
