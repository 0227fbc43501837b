#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The program of docs/tutorial/embedding-runtime.md: it stands in the page as it is in the examples, and gives the values of `buda run`.
#   embedding_runtime.sh BUILD_DIR SOURCE_DIR
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
program=$source/share/examples/embedding-runtime/serve.cpp
sed -n '/^```cpp$/,/^```$/p' "$source/docs/tutorial/embedding-runtime.md" | sed '1d;$d' | diff - "$program"
[ "$(wc -l < "$program")" -le 60 ]
digits=$source/share/examples/digits
"$build/bin/buda" compile "$digits/digits.onnx" --default-df-override Float16_b -o digits.tti -q
"$build/share/buda-examples/serve" "$build" golden digits.tti "$digits/digits.images.npz" served.npz
"$build/bin/buda" run digits.tti --inputs "$digits/digits.images.npz" --expect served.npz --max-error 0 --same-type -q
# A target that simulates time takes the batches as they come, too.
"$build/share/buda-examples/serve" "$build" grid digits.tti "$digits/digits.images.npz" simulated.npz
"$build/bin/buda" run digits.tti --target grid --inputs "$digits/digits.images.npz" --expect simulated.npz --max-error 0 --same-type -q
# What is no image is refused, and nothing is written.
if "$build/share/buda-examples/serve" "$build" golden "$digits/digits.onnx" "$digits/digits.images.npz" refused.npz 2> refused.txt; then exit 1; fi
cat refused.txt
grep -q . refused.txt
[ ! -e refused.npz ]
