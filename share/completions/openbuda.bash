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

# The data formats that there are, as the refusal of a wrong one lists them.
_openbuda_formats() {
  optimizer /dev/null --default-df '?' 2>&1 | sed -n 's/.*; there are \(.*\) \[TN010\].*/\1/p' | tr -d ','
}

# The keys of --set in a help text, each with this before it.
_openbuda_keys() {
  sed -n 's/^  \(-.*\)$/\1/p' <<<"$1" | grep -Eo -- '(^|, )--[a-z][a-z0-9-]*' | sed "s/.*--\(.*\)/$2\1=/"
}

# The stages whose options `buda compile` hands on.
_openbuda_stages="importer optimizer balancer netlist2pipe pipegen tti-pack"
# And those of `buda train`.
_openbuda_train_stages="importer autograd optimizer balancer netlist2pipe pipegen tti-pack trainer"

# _openbuda_with_stages HELP STAGE...: the help of `buda compile` or `buda train`, with the options that are the stages'.
_openbuda_with_stages() {
  local stage
  echo "$1"
  for stage in "${@:2}"; do "$stage" --help 2>/dev/null; done
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
    FORMAT) COMPREPLY=($(compgen -W "$(_openbuda_formats)" -- "$3")) ;;
    KEY=VALUE)
      compopt -o nospace 2>/dev/null
      if [[ ${COMP_WORDS[0]} == buda && ${COMP_WORDS[1]} == @(compile|train|bench) ]]; then
        local stages=$_openbuda_stages
        [[ ${COMP_WORDS[1]} == train ]] && stages=$_openbuda_train_stages
        COMPREPLY=($(compgen -W "$(for stage in $stages; do _openbuda_keys "$("$stage" --help 2>/dev/null)" "$stage."; done)" -- "$3"))
      else
        COMPREPLY=($(compgen -W "$(_openbuda_keys "$1" "")" -- "$3"))
      fi
      ;;
    N) COMPREPLY=($(compgen -W "1 2 4 8 16 32 64" -- "$3")) ;;
    *DIR*) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$3")) ;;
    [a-z0-9]*\|*) COMPREPLY=($(compgen -W "${value//|/ }" -- "$3")) ;;
    *) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$3")) ;;
  esac
}

_openbuda() {
  local tool=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} help commands word spellings actions
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
      [[ $word == @(compile|bench) ]] && help=$(_openbuda_with_stages "$help" $_openbuda_stages)
      [[ $word == train ]] && help=$(_openbuda_with_stages "$help" $_openbuda_train_stages)
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
    COMPREPLY=($(compgen -W "$(sort -u <<<"$spellings")" -- "$cur"))
    return
  fi
  # "  ACTION     stats, or clear"
  actions=$(sed -n 's/^  ACTION  *//p' <<<"$help" | sed 's/,//g; s/ or / /')
  if [[ -n $actions ]]; then
    COMPREPLY=($(compgen -W "$actions" -- "$cur"))
    return
  fi
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$cur"))
}

complete -F _openbuda @BUDA_TOOLS@
