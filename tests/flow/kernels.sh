#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The digits perceptron, compiled, on target tensix: every op by the instructions of its kernel, op by op, and fed by the stream programs of
# its epochs. The outputs are golden's bits, and the times the same, whatever the number of threads.
#   kernels.sh BUILD_DIR SOURCE_DIR
set -eu
build=$1 digits=$2/share/examples/digits
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$build/bin:$PATH
cd "$work"
buda compile "$digits/digits.onnx" -o digits.tti --device n150 --kernels -q
runner digits.tti --target golden --set target.golden.mode=bits --inputs "$digits/digits.images.npz" -o bits.npz -q
for threads in 1 2 8; do
  runner digits.tti --target tensix --inputs "$digits/digits.images.npz" -o "$threads.npz" --threads $threads -q
  cmp bits.npz "$threads.npz"
  runner digits.tti --target tensix --set target.tensix.streams=true --inputs "$digits/digits.images.npz" -o streams.npz --perf "times.$threads" \
    --threads $threads -q
  cmp bits.npz streams.npz
  cmp times.1/summary.txt "times.$threads/summary.txt"
done
# The rules of make put kernels into images, too, and compile them again for another netlist.
mkdir make
cd make
cp "$digits/digits.onnx" .
printf 'BUDA_BIN := %s\nBUDA_DEVICE := n150\nBUDA_KERNELS := 1\ninclude %s/share/buda/make/buda.mk\ndigits.tti: digits.onnx\n' "$build/bin" "$build" > Makefile
make digits.tti > made
grep -q '/kernelc ' made
runner digits.tti --target tensix --inputs "$digits/digits.images.npz" -o made.npz -q
cmp ../bits.npz made.npz
sleep 1
touch digits.yaml
make digits.tti | grep -q '/kernelc '
