#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the digits perceptron and the convolutional model for a Wormhole n150, runs all held-out images on the golden target, shows what they did,
# and how fast the chip would be.
#   demo.sh BUILD_DIR [DEVICE]
set -eu
build=$(cd "$1" && pwd)
device=${2:-n150}
here=$(cd "$(dirname "$0")" && pwd)
work=$build/demo
mkdir -p "$work"
cd "$work"
PATH=$build/bin:$PATH

bold= plain=
if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }

# model NAME: compile it, run the images, show them.
model() {
  say "Compiling $1.onnx for $device"
  buda compile "$here/$1.onnx" -o "$1.tti" --device "$device" --build-dir "stages/$1"

  say "What the stages made"
  ls -l "stages/$1"/*.graph.json "stages/$1"/*.yaml "stages/$1"/*.plan.json | awk '{printf "  %8d bytes  %s\n", $5, $9}'
  find "stages/$1/$1.pipes" -name pipes.json -o -name blob.json | LC_ALL=C sort | xargs ls -l | awk '{printf "  %8d bytes  %s\n", $5, $9}'
  ls -l "$1.tti" | awk '{printf "  %8d bytes  %s\n", $5, $9}'
  tti-pack info "$1.tti"

  say "Running the held-out images on the golden target, compared with PyTorch's outputs"
  buda run "$1.tti" --inputs "$here/$1.images.npz" -o "$1.outputs.npz" --expect "$here/$1.expected.npz" --pcc 0.999

  say "What it saw"
  "$build/share/buda-examples/digits-show" "$here/digits.images.npz" "$here/digits.labels.npz" "$1.outputs.npz"

  if [ -x /usr/bin/riscv64-unknown-elf-g++ ] || [ -x /usr/bin/clang++ ]; then
    say "The kernels of its ops, compiled and executed instruction by instruction"
    buda compile "$here/$1.onnx" -o "$1.kernels.tti" --device "$device" --kernels -q
    buda run "$1.kernels.tti" --target tensix --inputs "$here/$1.images.npz" --expect "$here/$1.expected.npz" --pcc 0.999
  fi

  say "How fast the chip would be: its stream programs in simulated time"
  runner "$1.tti" --target grid --set target.grid.values=off --inputs "$here/$1.images.npz" --perf "$1.times" 2> "$1.times.log" || { cat "$1.times.log"; exit 1; }
  sed -n '1,2p' "$1.times/summary.txt"
  sed -n '/^  to gain/p' "$1.times/summary.txt" | sed -n '1,2p'
  echo "  the epoch over time: $work/$1.times/timeline.svg"
}

say "== A perceptron =="
model digits
say "== A convolutional model =="
model digits-conv
