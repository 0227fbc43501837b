#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Same input, same bytes: the whole flow in three folders, with 1, 2 and 8 threads, gives equal products.
#   determinism.sh BUILD_DIR MODEL INPUTS
set -eu
PATH=$(cd "$1" && pwd)/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for run in 1/a 2/b 8/another/deeper/folder; do
  threads=${run%%/*}
  mkdir -p "$work/$run"
  cp "$2" "$work/$run/model.onnx"
  cp "$3" "$work/$run/inputs.npz"
  (
    cd "$work/$run"
    buda compile model.onnx -o model.tti --build-dir build --threads "$threads" -q
    runner model.tti --inputs inputs.npz -o outputs.npz --threads "$threads" -q
    # By hand, in a pipe, from the same folder.
    importer model.onnx -o - --threads "$threads" | optimizer - -o - --threads "$threads" | balancer - --device n150 -o piped.yaml --threads "$threads" -q
    find . -name '*.d' -delete  # depfiles name the folders of the tools
    find . -type f | LC_ALL=C sort | xargs sha256sum > "$work/$threads.sums"
  )
done
cat "$work/1.sums"
diff "$work/1.sums" "$work/2.sums"
diff "$work/1.sums" "$work/8.sums"
echo "$(wc -l < "$work/1.sums") files are the same"
