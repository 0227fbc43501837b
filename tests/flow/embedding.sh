#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The program of docs/tutorial/embedding.md: it stands in the page as it is in the examples, and its image has the bytes of `buda compile`.
#   embedding.sh BUILD_DIR SOURCE_DIR
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
program=$source/share/examples/embedding/embed.cpp
sed -n '/^```cpp$/,/^```$/p' "$source/docs/tutorial/embedding.md" | sed '1d;$d' | diff - "$program"
[ "$(wc -l < "$program")" -le 60 ]
digits=$source/share/examples/digits
"$build/share/buda-examples/embed" "$build" "$digits/digits.onnx" "$digits/digits.images.npz" embedded.tti > outputs.txt 2> progress.txt
cat outputs.txt
grep -q . progress.txt
"$build/bin/buda" compile "$digits/digits.onnx" --default-df-override Float16_b -o digits.tti -q
cmp embedded.tti digits.tti
