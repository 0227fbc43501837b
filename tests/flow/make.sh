#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The make rules: `include buda.mk` and one line are a complete Makefile; what changed, and only what depends on it, is made again.
#   make.sh BUILD_DIR SOURCE_DIR
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$source/share/examples/digits/digits.onnx" .
cp "$build/share/buda/devices/n150.yaml" board.yaml
cp "$build/lib/buda/plugins/abi1/policy_minimize_grid.so" .
cat > Makefile <<MK
BUDA_BIN := $build/bin
BUDA_DEVICE := board.yaml
include $build/share/buda/make/buda.mk
digits.tti: digits.onnx
MK
# The stages that a run of make starts, in order.
stages() { make "$@" | sed -n 's|^'"$build"'/bin/\([a-z0-9-]*\) .*|\1|p' | tr '\n' ' '; }
expect() {
  if [ "$2" != "$3" ]; then echo "$1: made '$2' where '$3' was expected" >&2; exit 1; fi
  echo "$1: ${2:-nothing}"
}
expect "from nothing" "$(stages digits.tti)" "importer optimizer balancer netlist2pipe pipegen tti-pack "
[ -s digits.tti ]
# Depfiles are rules too, and are there from now on; a plain make still makes the Makefile's own goal.
expect "a plain make, nothing changed" "$(stages)" ""
rm digits.tti
expect "a plain make without the image" "$(stages)" "tti-pack "
# Without BUDA_BIN the tools are found beside buda.mk.
expect "the tools beside buda.mk" "$(sed '/BUDA_BIN/d' Makefile > Found.mk; make -f Found.mk -n -B digits.tti | grep -c "^$build/bin/")" "6"
expect "nothing changed" "$(stages digits.tti)" ""
cp digits.plan.json plan.json; rm digits.plan.json
expect "the plan is missing" "$(make digits.tti 2>&1 | sed -n 's|^[+ ]*'"$build"'/bin/\([a-z0-9-]*\) .*|\1|p' | tr '\n' ' ')" "balancer tti-pack "
cmp digits.plan.json plan.json
sleep 1; touch board.yaml
expect "the device descriptor changed" "$(stages digits.tti)" "optimizer balancer netlist2pipe pipegen tti-pack "
sleep 1; touch digits.onnx
expect "the model changed" "$(stages digits.tti)" "importer optimizer balancer netlist2pipe pipegen tti-pack "
sleep 1; touch digits.yaml
expect "the netlist was edited" "$(stages digits.tti)" "netlist2pipe pipegen tti-pack "
# A policy of one's own: what the balancer loaded is what it depends on.
mkdir own
sleep 1; mv policy_minimize_grid.so own/
expect "a policy that is not in use changed" "$(sleep 1; touch own/policy_minimize_grid.so; stages digits.tti)" ""
make -q digits.tti
# Each epoch's stream programs are a target of their own. Three epochs made side by side are what one thread makes one by one.
cp "$source/tests/flow/three_epochs.yaml" .
{ cat Makefile; echo 'three: three_epochs.pipes/stamp'; } > Three.mk
expect "three epochs side by side" "$(stages -j3 -f Three.mk three)" "netlist2pipe pipegen pipegen pipegen "
mkdir alone
"$build/bin/netlist2pipe" three_epochs.yaml -o alone --device board.yaml --threads 1 -q
for epoch in 0 1 2; do
  overlay=temporal_epoch_$epoch/overlay
  "$build/bin/pipegen" alone/$overlay/pipegen.yaml -o alone/$overlay/blob.json --device board.yaml --threads 1 -q
  "$build/bin/netlist2pipe" three_epochs.yaml -o - --device board.yaml --epoch $epoch -q | cmp - alone/$overlay/pipegen.yaml
  cmp alone/$overlay/blob.json three_epochs.pipes/$overlay/blob.json
done
sleep 1; touch three_epochs.pipes/temporal_epoch_1/overlay/pipes.json
expect "one epoch was edited" "$(stages -f Three.mk three_epochs.pipes/temporal_epoch_1/overlay/blob.json)" "pipegen "
# What was edited by hand stays, with the image made from it.
echo ' ' >> digits.pipes/temporal_epoch_0/overlay/pipes.json
cp digits.pipes/temporal_epoch_0/overlay/pipes.json edited.json
expect "pipes were edited" "$(stages digits.tti)" "pipegen tti-pack "
cmp edited.json digits.pipes/temporal_epoch_0/overlay/pipes.json
expect "nothing changed since" "$(stages digits.tti)" ""
# The other form, in a folder that has one.
expect "pipes in the other form" "$(stages -B BUDA_PIPES_FORMAT=yaml digits.tti)" "importer optimizer balancer netlist2pipe pipegen tti-pack "
[ ! -e digits.pipes/temporal_epoch_0/overlay/pipes.json ]
expect "and back" "$(stages -B digits.tti)" "importer optimizer balancer netlist2pipe pipegen tti-pack "
[ ! -e digits.pipes/reports ]
# The image is that of the driver, settings included.
mkdir driver
"$build/bin/buda" compile digits.onnx -o driver/digits.tti --device board.yaml -q
cmp digits.tti driver/digits.tti
# Kernels that are not wanted any more leave the image, and are not made again.
expect "an image with kernels" "$(stages -B BUDA_KERNELS=1 digits.tti)" "importer optimizer balancer netlist2pipe pipegen kernelc tti-pack "
[ -e digits.pipes/kernels/manifest.json ]
expect "without them" "$(stages -B digits.tti)" "importer optimizer balancer netlist2pipe pipegen tti-pack "
cmp digits.tti driver/digits.tti
rm digits.tti
expect "packed again without them" "$(stages BUDA_KERNELS=0 digits.tti)" "tti-pack "
cmp digits.tti driver/digits.tti
# Models of all frontends have rules.
for ending in onnx mlp pt tflite mlir pb pbtxt; do
  : > "other.$ending"
  make -n "other.graph.json" | grep -q "importer other.$ending"
  rm "other.$ending"
done
echo "models of all frontends"
