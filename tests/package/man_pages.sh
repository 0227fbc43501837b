#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Manual pages of a tool and of each of its commands: man_pages.sh BIN SOURCES. Skipped (77) where help2man is missing.
set -eu
command -v help2man > /dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$2/share/packages/man-pages.sh" "$1" "$work" netlist
for command in $("$1/netlist" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)  .*/\1/p'); do
  page=$work/netlist-$command.1
  for part in NAME SYNOPSIS DESCRIPTION OPTIONS; do
    grep -q "^.SH $part" "$page" || { echo "the page of netlist $command has no $part" >&2; exit 1; }
  done
  sed 's/\\-/-/g' "$page" | grep -q "^netlist-$command - [a-z]" || { echo "the page of netlist $command does not say what it is for" >&2; exit 1; }
  # Each option of the help has a paragraph.
  for option in $("$1/netlist" "$command" --help | sed -n 's/^  \(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p'); do
    sed 's/\\-/-/g' "$page" | grep -q -- "$option" || { echo "the page of netlist $command lacks $option" >&2; exit 1; }
  done
done
[ -s "$work/netlist.1" ] && [ -n "${command:-}" ] || { echo "no page of netlist, or none of its commands" >&2; exit 1; }
