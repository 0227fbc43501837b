#!/bin/sh
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
expect "from nothing" "$(stages digits.tti)" "importer optimizer balancer netlist2pipe tti-pack "
[ -s digits.tti ]
# Depfiles are rules too, and are there from now on; a plain make still makes the Makefile's own goal.
expect "a plain make, nothing changed" "$(stages)" ""
rm digits.tti
expect "a plain make without the image" "$(stages)" "tti-pack "
# Without BUDA_BIN the tools are found beside buda.mk.
expect "the tools beside buda.mk" "$(sed '/BUDA_BIN/d' Makefile > Found.mk; make -f Found.mk -n -B digits.tti | grep -c "^$build/bin/")" "5"
expect "nothing changed" "$(stages digits.tti)" ""
sleep 1; touch board.yaml
expect "the device descriptor changed" "$(stages digits.tti)" "optimizer balancer netlist2pipe tti-pack "
sleep 1; touch digits.onnx
expect "the model changed" "$(stages digits.tti)" "importer optimizer balancer netlist2pipe tti-pack "
sleep 1; touch digits.yaml
expect "the netlist was edited" "$(stages digits.tti)" "netlist2pipe tti-pack "
# A policy of one's own: what the balancer loaded is what it depends on.
mkdir own
sleep 1; mv policy_minimize_grid.so own/
expect "a policy that is not in use changed" "$(sleep 1; touch own/policy_minimize_grid.so; stages digits.tti)" ""
make -q digits.tti
