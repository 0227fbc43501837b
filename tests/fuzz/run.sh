#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target of BUILD_DIR from real files, which the tools of another build make: run.sh BUILD_DIR TOOLS_BUILD_DIR SECONDS [RUNS];
# with RUNS so many runs of each, however long they take. Inputs that break one are left in BUILD_DIR/found, and the exit code is 1.
set -u
build=$(cd "$1" && pwd)
tools=$(cd "$2" && pwd)/bin
limit=-max_total_time=$3
[ -z "${4:-}" ] || limit=-runs=$4
source=$(cd "$(dirname "$0")/../.." && pwd)
digits=$source/share/examples/digits
seeds=$build/seeds
rm -rf "$seeds"
mkdir -p "$seeds/made" "$build/found"
# Frontends, and what reads the lines of programs, are libraries with libbuda.so behind them; the targets have the same objects, whose
# symbols come first.
export ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0
(cd "$seeds/made" && "$tools/buda" compile "$digits/digits.onnx" -o digits.tti --save-temps -q && cp digits.tti digits.build/) || exit 1
made=$seeds/made/digits.build
# A model of one product, whose stages have the smallest files.
cat > "$seeds/made/tiny.graph.json" << 'end'
{"schema": "buda.graph/1", "name": "tiny", "level": "tensor", "nodes": [
  {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [1, 8]}]},
  {"name": "w", "op": "parameter", "types": [{"dtype": "F32", "shape": [8, 2]}], "value": "w"},
  {"name": "r", "op": "matmul", "inputs": ["x", "w"]},
  {"name": "y", "op": "output", "inputs": ["r"]}],
 "tensors": [{"name": "w", "dtype": "F32", "shape": [8, 2], "values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]}]}
end
(cd "$seeds/made" && "$tools/buda" compile tiny.graph.json -o tiny.tti --save-temps -q) || exit 1
tiny=$seeds/made/tiny.build
overlay=$(find "$made" -path '*temporal_epoch_0/overlay' -type d | head -n 1)

# The files of a reader, as a corpus of its own: up to so many KiB, since a large seed only slows the fuzzer down.
most=6
seed() {
  mkdir -p "$seeds/$1"
  target=$seeds/$1
  shift
  [ $# -eq 0 ] || find "$@" -maxdepth 0 -type f -size "-$((most + 1))k" -exec cp --parents -t "$target" {} + 2> /dev/null
}
seed json "$source"/schemas/*/*.json "$made"/*.json "$tiny"/*.json
seed yaml "$source"/share/devices/*.yaml "$made"/*.yaml "$tiny"/*.yaml
seed tensors "$made"/*.safetensors "$digits"/*.npz
seed graph "$source"/schemas/buda.graph-1/*.json "$made"/*.graph.json "$tiny"/*.graph.json
seed pipeline "$source"/share/pipelines/*.yaml "$source"/schemas/buda.pipeline-1/*.json
seed netlist "$made"/*.yaml "$tiny"/*.yaml "$source"/tests/flow/three_epochs.yaml
most=12
seed device "$source"/share/devices/*.yaml
most=6
seed plan "$source"/schemas/buda.host-plan-1/*.json "$made"/*.plan.json "$tiny"/*.plan.json
"$tools/netlist2pipe" "$source/tests/flow/three_epochs.yaml" -o "$seeds/made/epochs" --device n150 -q || exit 1
# From chip to chip over ethernet and over PCIe: the netlists of two tests.
for way in ethernet pcie; do
  sed -n '/^=== file net.yaml/,/^===/{/^===/!p}' "$source/tests/cli/pipegen/$way.test" > "$seeds/made/$way.yaml"
  for format in yaml json; do
    "$tools/netlist2pipe" "$seeds/made/$way.yaml" -o "$seeds/made/$way-$format" --format $format -q || exit 1
  done
done
seed pipegen "$overlay"/pipes.json "$tiny"/tiny.pipes/*/overlay/pipes.json "$source"/schemas/buda.pipes-1/*.json "$seeds"/made/*/temporal_epoch_*/overlay/pipe*
most=16
seed blob "$overlay"/blob.json "$tiny"/tiny.pipes/*/overlay/blob.json
most=48
seed archive "$seeds"/made/tiny.tti
most=6
seed command
seed config "$source"/schemas/*/*.json "$source"/share/devices/*.yaml
seed streams
seed frontend_onnx "$digits"/digits.onnx
# ONNX's own tests are small models of every operator (Debian's libonnx-testdata).
tests=/usr/share/libonnx-testdata/data/node
seed frontend_onnx "$tests"/test_*/model.onnx
seed tensors "$tests"/test_*/test_data_set_0/input_0.pb
seed frontend_tflite "$source"/plugins/frontends/tflite/samples/*.tflite
seed frontend_torchscript "$source"/plugins/frontends/torchscript/samples/*.pt
seed frontend_stablehlo "$source"/plugins/frontends/stablehlo/samples/*.mlir
seed frontend_tensorflow "$source"/plugins/frontends/tensorflow/samples/*.pb*
# Programs, where there is a compiler for them.
"$tools/kernelc" "$source/share/examples/netlists/matmul.yaml" -o "$seeds/made/kernels" -q || true
cat > "$seeds/made/small.c" << 'end'
static unsigned twice(unsigned a) { return a + a; }
unsigned sums[40];
void _start(void) {
  for (volatile unsigned *p = (unsigned *)0x9000;; ++p) *p = twice(*p) ^ ++sums[*p % 40];
}
end
(cd "$seeds/made" && riscv64-unknown-elf-gcc -march=rv32im -mabi=ilp32 -g -O1 -nostdlib -static -Wl,-Ttext=0xd000,--build-id=none,-n small.c -o small.elf) || true
seed kernels_elf "$seeds"/made/small.elf
seed kernels_listing "$seeds"/made/small.elf
seed kernels_manifest "$seeds"/made/kernels/manifest.json
seed kernels_program
seed kernels_instructions
seed frontend_native "$source"/schemas/buda.graph-1/*.json
seed frontend_example

ls "$build"/fuzz/fuzz_* > /dev/null || exit 1
# TensorFlow's loops may have 65,536 iterations, which the importer makes in a second, and in 16 with sanitizers.
result=0
for target in "$build"/fuzz/fuzz_*; do
  name=${target##*/fuzz_}
  mkdir -p "$seeds/$name"
  longest=$({ echo 4096; find "$seeds/$name" -type f -printf '%s\n'; } | sort -n | tail -n 1)
  if "$target" "$limit" -max_len="$longest" -timeout=60 -rss_limit_mb=4096 -artifact_prefix="$build/found/$name-" "$seeds/$name" > "$build/found/$name.log" 2>&1; then
    echo "$name: $(grep -c . "$build/found/$name.log") lines of log, $(sed -n 's/^Done \([0-9]* runs\).*/\1/p' "$build/found/$name.log"), nothing found"
  else
    echo "$name: FOUND; the end of $build/found/$name.log:"
    tail -n 30 "$build/found/$name.log"
    result=1
  fi
done
exit $result
