#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Models of which the host does a part: every stage by itself, in one call of the driver, and by make; the image on golden against the reference.
#   fallback.sh BUILD_DIR SOURCE_DIR
set -eu
build=$(cd "$1" && pwd)
flow=$(cd "$(dirname "$0")" && pwd)
PATH=$build/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$flow python3 - <<'PY'
"""Graphs by hand, and inputs for two batches of each."""
import random

from native_model import floats, model, npz, op, parameter, source, tensor

random.seed(7)

# A table in front.
model("embedding",
      [source("ids", "I64", 2, 8), parameter("table"), parameter("w"), parameter("b"),
       op("rows", "gather", ["table", "ids"], dim=0), op("h", "matmul", ["rows", "w", "b"]), op("r", "relu", ["h"]),
       op("p", "softmax", ["r"], dim=2), {"name": "y", "op": "output", "inputs": ["p"]}],
      tensor("table", 20, 48), tensor("w", 48, 40), tensor("b", 40))
npz("embedding.npz", ids=("<i8", "q", (4, 8), [random.randrange(20) for _ in range(32)]))

# A table of too many rows for a product with comparisons, in which the device looks up where lookups are not named for the host; with a part of its channels joined to the rows.
model("lookup",
      [source("ids", "I64", 1, 40), parameter("table"), parameter("w"), parameter("v"),
       op("rows", "gather", ["table", "ids"], dim=0), op("h", "matmul", ["rows", "w"]), op("both", "concatenate", ["h", "rows"], dim=2),
       op("z", "matmul", ["both", "v"]), {"name": "y", "op": "output", "inputs": ["z"]}],
      tensor("table", 4100, 32), tensor("w", 32, 96), tensor("v", 128, 10))
npz("lookup.npz", ids=("<i8", "q", (2, 40), [random.randrange(4100) for _ in range(80)]))

# An op that no chip does in the middle, between products.
model("middle",
      [source("x", "F32", 6, 16), parameter("w"), parameter("v"), parameter("u"), parameter("zero"),
       op("h", "matmul", ["x", "w"]), op("gap", "is_nan", ["h"]), op("filled", "where", ["gap", "zero", "h"]),
       op("wide", "matmul", ["filled", "v"]), op("r", "relu", ["wide"]), op("z", "matmul", ["r", "u"]),
       {"name": "y", "op": "output", "inputs": ["z"]}],
      tensor("w", 16, 16), tensor("v", 16, 48), tensor("u", 48, 10), tensor("zero", 1))
npz("middle.npz", x=floats(12, 16))

# The same near the end, which also needs a value of the host from before the device.
model("both",
      [source("x", "F32", 6, 16), source("ids", "I64", 6), parameter("table"), parameter("w"), parameter("v"),
       op("rows", "gather", ["table", "ids"], dim=0), op("sum", "add", ["x", "rows"]), op("h", "matmul", ["sum", "w"]),
       op("t", "tanh", ["h"]), op("i", "matmul", ["t", "v"]), op("j", "sigmoid", ["i"]), op("k", "matmul", ["j", "w"]),
       op("l", "tanh", ["k"]), op("g", "matmul", ["l", "v"]), op("gap", "is_nan", ["g"]), op("filled", "where", ["gap", "rows", "g"]),
       {"name": "y", "op": "output", "inputs": ["filled"]}, {"name": "t", "op": "output", "inputs": ["t"]}],
      tensor("table", 9, 16), tensor("w", 16, 16), tensor("v", 16, 16))
npz("both.npz", x=floats(6, 16), ids=("<i8", "q", (6,), [random.randrange(9) for _ in range(6)]))

# Nothing for a device.
model("host",
      [source("x", "F32", 3, 4), op("gap", "is_inf", ["x"]), {"name": "y", "op": "output", "inputs": ["gap"]}])
npz("host.npz", x=("<f4", "f", (3, 4), [random.choice([1.0, float("inf")]) for _ in range(12)]))
PY

# Stage by stage. The reference is the model as it was imported.
for model in embedding middle both host; do
  runner $model.graph.json --target cpu --inputs $model.npz -o $model.expected.npz -q
  importer $model.graph.json -o - | optimizer - --verify --diagnostics=json -o $model.device.graph.json 2> $model.warnings
  for formats in fp32 exact; do
    pcc=0.99; [ $formats = exact ] || pcc=0.99999
    runner $model.device.graph.json --formats $formats --inputs $model.npz --expect $model.expected.npz --pcc $pcc -q
  done
  balancer $model.device.graph.json -o $model.yaml
  netlist2pipe $model.yaml -o $model.pipes --device n150 --check
  for epoch in $model.pipes/temporal_epoch_*; do
    [ -d "$epoch" ] || continue
    pipegen "$epoch/overlay/pipegen.yaml" -o "$epoch/overlay/blob.json" --device n150
  done
  tti-pack --netlist $model.yaml --build $model.pipes -o $model.tti
  runner $model.tti --target golden --inputs $model.npz -o $model.npz.out.npz --expect $model.expected.npz --pcc 0.99 -q
  # Beside its plan the netlist runs as the image does, and the image runs alone.
  runner $model.yaml --inputs $model.npz -o $model.plan.npz -q
  cmp $model.npz.out.npz $model.plan.npz
  mkdir alone; mv $model.tti alone; (cd alone && runner $model.tti --inputs ../$model.npz -o ../$model.alone.npz -q); mv alone/$model.tti .; rmdir alone
  cmp $model.npz.out.npz $model.alone.npz
  echo "$model: $(tti-pack info $model.tti | grep -c host_graphs) members of the host"
done
# The device does all of it, and streams of the table and of the splice are laid out.
runner lookup.graph.json --target cpu --inputs lookup.npz -o lookup.expected.npz -q
importer lookup.graph.json -o - | optimizer - --cpu-fallback-ops '' --verify -o lookup.device.graph.json -q
for device in n150 e150; do
  for queues in '' '--input-queues-on-host --output-queues-on-host --forked-dram-inputs'; do
    balancer lookup.device.graph.json -o lookup.yaml --device $device $queues -q
    for type in embedding splice; do grep -q "type: $type" lookup.yaml; done
    netlist check lookup.yaml --device $device --for-run -q
    rm -rf lookup.pipes; netlist2pipe lookup.yaml -o lookup.pipes --device $device --check
    for epoch in lookup.pipes/temporal_epoch_*; do
      pipegen "$epoch/overlay/pipegen.yaml" -o "$epoch/overlay/blob.json" --device $device
    done
    runner lookup.yaml --target golden --inputs lookup.npz --expect lookup.expected.npz --pcc 0.99 -q
  done
done
[ ! -s embedding.warnings ]
grep -q PA060 middle.warnings
grep -q '"queues"' host.plan.json && exit 1
# What runs where, in order.
segments() { python3 -c 'import json, sys; print(" ".join(s["kind"] for s in json.load(open(sys.argv[1]))["segments"]))' "$1"; }
[ "$(segments embedding.plan.json)" = "host device" ]
[ "$(segments middle.plan.json)" = "device host device" ]
[ "$(segments both.plan.json)" = "host device host" ]
[ "$(segments host.plan.json)" = "host" ]

tti-pack info middle.tti | grep -A 4 'segments, in order' > order
[ "$(awk 'NR > 2 { print $1, $2 }' order | tr '\n' ';')" = "device run_fwd_0;host host_graphs/middle.between1.graph.json;device run_fwd_1;" ]

# Segments of the device as others see them: in simulated time, several inputs per epoch, and in an image of two models that take turns.
runner middle.tti --target grid --inputs middle.npz -o middle.time.npz -q 2> /dev/null
buda compile middle.graph.json --microbatch 4 -o middle.batches.tti -q 2> /dev/null
buda run middle.batches.tti --inputs middle.npz --expect middle.expected.npz --pcc 0.99 -q
# Other processes push and pop: two inputs, of one or of an epoch of four.
runner middle.batches.tti --inputs middle.npz -o middle.batches.npz -q 2> /dev/null
sh "$flow/served.sh" "$build" middle.tti middle.npz served.npz; cmp served.npz middle.npz.out.npz
sh "$flow/served.sh" "$build" middle.batches.tti middle.npz served.npz; cmp served.npz middle.batches.npz
mkdir images; cp middle.tti both.tti images
tti-merge -mbl images -mdl middle both -mml merged.tti > /dev/null
for model in middle both middle; do
  runner merged.tti --model $model --inputs $model.npz -o $model.merged.npz -q 2> /dev/null
  cmp $model.merged.npz $model.npz.out.npz
done

# Without fallback it is an error, as are names for it that nobody has.
status=0; optimizer middle.graph.json --enable-cpu-fallback=false -o no.json -q 2> refused || status=$?
[ "$status" -eq 1 ]; grep -q PA020 refused; [ ! -e no.json ]

# The driver, and make.
for model in embedding both host; do
  buda compile $model.graph.json -o $model.driver.tti --build-dir driver.$model -q 2> /dev/null
  buda run $model.driver.tti --inputs $model.npz --expect $model.expected.npz --pcc 0.99 -q
done
# One call of the library makes the same image: its stages see the nodes in the order in which files hand them on.
for model in embedding middle both; do
  "$build/share/buda-examples/embed" "$build" $model.graph.json $model.npz $model.embedded.tti > /dev/null 2>&1
  buda compile $model.graph.json --default-df-override Float16_b -o $model.float16.tti -q 2> /dev/null
  cmp $model.embedded.tti $model.float16.tti
done
mkdir made; cp both.graph.json made/both.mlp; cd made
printf 'BUDA_BIN := %s/bin\nIMPORTER_FLAGS := --frontend native\ninclude %s/share/buda/make/buda.mk\nboth.tti: both.mlp\n' "$build" "$build" > Makefile
make both.tti > /dev/null 2>&1
runner both.tti --inputs ../both.npz --expect ../both.expected.npz --pcc 0.99 -q
touch both.before.graph.json
make -n both.tti | grep -q tti-pack  # the image holds it
make -q both.tti && exit 1
cd ..
echo "fallback: fine"
