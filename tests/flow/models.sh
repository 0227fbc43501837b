#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real models, exported by PyTorch together with its own results: importer and runner must come to the same, with any number of threads,
# and so must what is placed on the chip.
#   models.sh BUILD_DIR SOURCE_DIR
# Skipped (77) without the script that exports them (BUDA_SHARED_DIR, or ../shared beside the sources) or without PyTorch.
set -eu
export_models=${BUDA_SHARED_DIR:-$2/../shared}/tools/export_models.py
python=/usr/bin/python3  # Debian's, which has Debian's PyTorch
[ -f "$export_models" ] || { echo "skipped: no $export_models"; exit 77; }
"$python" -c 'import onnx, torch, torchvision' 2>/dev/null || { echo "skipped: no PyTorch"; exit 77; }
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
PATH=$build/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
models="mlp mobilenet_v2 unet bert_tiny"
"$python" "$export_models" "$work" $models
cd "$work"
for model in $models; do
  importer "$model.onnx" -o "$model.graph.json"
  runner "$model.graph.json" --target cpu --inputs "$model.inputs.npz" --expect "$model.outputs.npz" --rtol 1e-4 --atol 1e-5 --threads 1 -o one.npz
  runner "$model.graph.json" --target cpu --inputs "$model.inputs.npz" --threads 3 -o three.npz -q
  cmp one.npz three.npz
done
# Placed on a board of each architecture, with every stage's own check, they give what PyTorch does within the chip's formats, and move
# what was estimated.
for model in $models; do
  for device in n150 e150; do
    buda compile "$model.onnx" -o "$model.tti" --device "$device" --check --build-dir "$model.$device" -q
    python3 "$source/tests/flow/traffic.py" "$build/bin" "$model.$device/$model.yaml" "$model.$device/$model.pipes"
    buda run "$model.tti" --inputs "$model.inputs.npz" --expect "$model.outputs.npz" --pcc 0.99 -q
  done
done
# With ops of the host between products the device runs in several segments, of one image: h and d are what runs one after the other.
while read -r model ops order; do
  buda compile "$model.onnx" -o "$model.tti" --cpu-fallback-ops "$ops" -q
  [ "$(tti-pack info "$model.tti" --json | "$python" -c 'import json, sys; print("".join(s["kind"][0] for s in json.load(sys.stdin)["segments"]))')" = "$order" ]
  buda run "$model.tti" --inputs "$model.inputs.npz" -o session.npz --expect "$model.outputs.npz" --pcc 0.99 -q
  sh "$source/tests/flow/served.sh" "$build" "$model.tti" "$model.inputs.npz" served.npz < /dev/null
  cmp session.npz served.npz
done <<'END'
bert_tiny embedding,softmax hdhdhd
unet max_pool2d dhdhd
mobilenet_v2 clip dhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhdhd
END
# What the optimizer makes of them must come to the same, too.
python3 "$source/tests/flow/lowered_models.py" --build "$build" --models "$work"
