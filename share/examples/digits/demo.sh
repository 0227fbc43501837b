#!/bin/sh
# Compiles the digits perceptron for a Wormhole n150, runs all held-out images on the golden target, and shows what it did.
#   demo.sh BUILD_DIR [DEVICE]
set -eu
build=$(cd "$1" && pwd)
device=${2:-n150}
here=$(cd "$(dirname "$0")" && pwd)
work=$build/demo
mkdir -p "$work"
cd "$work"
PATH=$build/bin:$PATH

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "1. Compiling digits.onnx for $device"
buda compile "$here/digits.onnx" -o digits.tti --device "$device" --build-dir stages

say "2. What the stages made"
ls -l stages/*.graph.json stages/*.yaml stages/*.plan.json | awk '{printf "  %8d bytes  %s\n", $5, $9}'
find stages/digits.pipes -name pipes.json -o -name blob.json | LC_ALL=C sort | xargs ls -l | awk '{printf "  %8d bytes  %s\n", $5, $9}'
ls -l digits.tti | awk '{printf "  %8d bytes  %s\n", $5, $9}'
tti-pack info digits.tti

say "3. Running the held-out images on the golden target, compared with PyTorch's outputs"
buda run digits.tti --inputs "$here/digits.images.npz" -o digits.outputs.npz --expect "$here/digits.expected.npz" --pcc 0.999

say "4. What it saw"
"$build/share/buda-examples/digits-show" "$here/digits.images.npz" "$here/digits.labels.npz" digits.outputs.npz
