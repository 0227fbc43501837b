#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# man-pages.sh BIN OUT TOOL...: a manual page of each tool, and of each command of those that have some, from --help; by help2man.
set -eu
bin=$1 out=$2
shift 2
mkdir -p "$out"

# page NAME TOOL [COMMAND]
page() {
  help=$("$bin/$2" ${3:+"$3"} --help)
  # The usage ends at the first blank line; one with the summary follows.
  summary=$(printf '%s\n' "$help" | sed -n '/^$/{n;p;q}' | sed 's/\.$//')
  help2man --no-info --name="$summary" --source=OpenBuda --help-option="${3:+$3 }--help" --output="$out/$1.1" "$bin/$2"
  # The title is the page's own name.
  upper=$(printf '%s' "$1" | tr '[:lower:]' '[:upper:]')
  sed -i "s/^\.TH [^ ]* /.TH \"$upper\" /; s/^$2 \\\\- /$(printf '%s' "$1" | sed 's/-/\\\\-/g') \\\\- /" "$out/$1.1"
}

for tool in "$@"; do
  page "$tool" "$tool"
  for command in $("$bin/$tool" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)  .*/\1/p'); do
    page "$tool-$command" "$tool" "$command"
  done
done
