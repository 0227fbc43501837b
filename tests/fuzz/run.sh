#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target from real files: run.sh BUILD_DIR SECONDS [RUNS]; with RUNS so many runs of each, however long they take. Inputs that break one are left in BUILD_DIR/found, and the exit code is 1.
set -u
build=$(cd "$1" && pwd)
limit=-max_total_time=$2
[ -z "${3:-}" ] || limit=-runs=$3
source=$(cd "$(dirname "$0")/../.." && pwd)
digits=$source/share/examples/digits
seeds=$build/seeds
rm -rf "$seeds"
mkdir -p "$seeds/made" "$build/found"
# Frontends, and what reads the lines of programs, are libraries with libbuda.so behind them; the targets have the same objects, whose
# symbols come first.
export ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0
(cd "$seeds/made" && "$build/bin/buda" compile "$digits/digits.onnx" -o digits.tti --save-temps -q && cp digits.tti digits.build/) || exit 1
made=$seeds/made/digits.build
overlay=$(find "$made" -path '*temporal_epoch_0/overlay' -type d | head -n 1)

# The files of a reader, as a corpus of its own. A large seed only slows the fuzzer down.
count=0
seed() {
  mkdir -p "$seeds/$1"
  target=$1
  shift
  for file in "$@"; do
    count=$((count + 1))
    [ -f "$file" ] && [ "$(wc -c < "$file")" -lt 300000 ] && cp "$file" "$seeds/$target/$count-$(basename "$file")"
  done
}
seed json "$source"/schemas/*/*.json "$made"/*.json
seed yaml "$source"/share/devices/*.yaml "$made"/*.yaml
seed tensors "$made"/*.safetensors "$digits"/*.npz
seed graph "$source"/schemas/buda.graph-1/*.json "$made"/*.graph.json
seed pipeline "$source"/share/pipelines/*.yaml "$source"/schemas/buda.pipeline-1/*.json
seed netlist "$made"/*.yaml
seed device "$source"/share/devices/*.yaml
seed plan "$source"/schemas/buda.host-plan-1/*.json "$made"/*.plan.json
"$build/bin/netlist2pipe" "$source/tests/flow/three_epochs.yaml" -o "$seeds/made/epochs" --device n150 -q || exit 1
# From chip to chip over ethernet and over PCIe: the netlists of two tests.
for way in ethernet pcie; do
  sed -n '/^=== file net.yaml/,/^===/{/^===/!p}' "$source/tests/cli/pipegen/$way.test" > "$seeds/made/$way.yaml"
  for format in yaml json; do
    "$build/bin/netlist2pipe" "$seeds/made/$way.yaml" -o "$seeds/made/$way-$format" --format $format -q || exit 1
  done
done
seed pipegen "$overlay"/pipes.json "$source"/schemas/buda.pipes-1/*.json "$seeds"/made/*/temporal_epoch_*/overlay/pipe*
seed blob "$overlay"/blob.json
seed archive "$made"/*.tti
seed command
seed config "$source"/schemas/*/*.json "$source"/share/devices/*.yaml
seed streams
seed frontend_onnx "$digits"/digits.onnx
# ONNX's own tests are small models of every operator (Debian's libonnx-testdata).
for test in /usr/share/libonnx-testdata/data/node/test_*; do
  seed frontend_onnx "$test"/model.onnx
  seed tensors "$test"/test_data_set_0/input_0.pb
done
seed frontend_tflite "$source"/plugins/frontends/tflite/samples/*.tflite
seed frontend_torchscript "$source"/plugins/frontends/torchscript/samples/*.pt
seed frontend_stablehlo "$source"/plugins/frontends/stablehlo/samples/*.mlir
seed frontend_tensorflow "$source"/plugins/frontends/tensorflow/samples/*.pb*
# Programs, where there is a compiler for them.
"$build/bin/kernelc" "$source/share/examples/netlists/matmul.yaml" -o "$seeds/made/kernels" -q || true
seed kernels_elf "$seeds"/made/kernels/*/*.elf
seed kernels_listing "$seeds"/made/kernels/*/*.elf
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
  if "$target" "$limit" -max_len=60000 -timeout=60 -rss_limit_mb=4096 -artifact_prefix="$build/found/$name-" "$seeds/$name" > "$build/found/$name.log" 2>&1; then
    echo "$name: $(grep -c . "$build/found/$name.log") lines of log, $(sed -n 's/^Done \([0-9]* runs\).*/\1/p' "$build/found/$name.log"), nothing found"
  else
    echo "$name: FOUND; the end of $build/found/$name.log:"
    tail -n 30 "$build/found/$name.log"
    result=1
  fi
done
exit $result
