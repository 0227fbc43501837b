# Completion for bash of all tools. What a tool has is read from its own --help, so that a plugin's options are offered, too.

# The lines of help on options that have the spelling $1.
_openbuda_option_lines() {
  sed -n 's/^  \(-[^ ].*\)$/\1/p' | grep -E -- "(^|, )$1([, =[]|$)"
}

# _openbuda_names OPTION: the plugins or devices that an option names; nothing for another option.
_openbuda_names() {
  case $1 in
    --frontend) importer --list-plugins ;;
    --policy) balancer --list-plugins ;;
    --target) runner --list-plugins ;;
    --device) ls "$(dirname "$(command -v balancer)")/../share/buda/devices" | sed 's/\.yaml$//; s/^/device /' ;;
  esac 2>/dev/null | sed -n "s/^${1#--} \([^ ]*\).*/\1/p"
}

# _openbuda_values HELP OPTION CURRENT: words for the value of an option; fails for a flag.
_openbuda_values() {
  local line value
  COMPREPLY=($(compgen -W "$(_openbuda_names "$2")" -- "$3"))
  ((${#COMPREPLY[@]})) && return
  line=$(_openbuda_option_lines "$2" <<<"$1" | head -n 1)
  # "--diagnostics text|json     form of messages": the value's name is what follows the last spelling by one blank, "=" or "[=".
  value=$(sed -E 's/^(-[^ =[]+(, )?)+//; s/^(\[=| |=)//; s/(\]| ).*//' <<<"$line")
  case $value in
    '') return 1 ;;
    *DIR*) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$3")) ;;
    [a-z0-9]*\|*) COMPREPLY=($(compgen -W "${value//|/ }" -- "$3")) ;;
    *) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$3")) ;;
  esac
}

_openbuda() {
  local tool=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} help commands word spellings
  COMPREPLY=()
  # bash splits --option=value into three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  help=$("$tool" --help 2>/dev/null) || return
  commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)  .*/\1/p' <<<"$help")
  if [[ -n $commands ]]; then
    word=${COMP_WORDS[1]}
    if ((COMP_CWORD > 1)) && grep -qxF -- "$word" <<<"$commands"; then
      help=$("$tool" "$word" --help 2>/dev/null) || return
    elif ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then
      COMPREPLY=($(compgen -W "$commands" -- "$cur"))
      return
    fi
  fi
  if [[ $prev == -* ]] && _openbuda_values "$help" "$prev" "$cur"; then
    return
  fi
  if [[ $cur == -* ]]; then
    spellings=$(sed -n 's/^  \(-.*\)$/\1/p' <<<"$help" | grep -Eo -- '^(-[^ =[]+(, )?)+' | tr -d ' ' | tr ',' '\n')
    COMPREPLY=($(compgen -W "$spellings" -- "$cur"))
    return
  fi
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$cur"))
}

complete -F _openbuda @BUDA_TOOLS@
