#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Constraints of the user on single ops and edges, from the options of the driver to the results: fractured chains, queues and nops, tilizers, options of stages
# that the driver hands on.
#   constraints.sh BUILD_DIR
set -eu
build=$(cd "$1" && pwd)
flow=$(cd "$(dirname "$0")" && pwd)
PATH=$build/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$flow python3 - <<'PY'
"""A model in which a short branch waits for a long one, and inputs for three batches."""
import random

from native_model import floats, model, npz, op, parameter, source, tensor

random.seed(3)

model("mlp",
      [source("x", "F32", 64, 96), parameter("w"), parameter("c"), parameter("v"),
       op("fc1", "matmul", ["x", "w", "c"]), op("act", "relu", ["fc1"]), op("fc2", "matmul", ["act", "v"]), op("t", "tanh", ["fc2"]),
       op("p", "softmax", ["t"], dim=-1), op("y", "add", ["p", "fc2"]), {"name": "out", "op": "output", "inputs": ["y"]}],
      tensor("w", 96, 128, most=0.2), tensor("c", 128, most=0.2), tensor("v", 128, 40, most=0.2))
npz("x.npz", x=floats(192, 96))
PY
runner mlp.graph.json --target cpu --inputs x.npz -o expected.npz -q
cat > constraints.yaml <<'YAML'
fracture_groups: [[[fc1, -1, 2], [act, -1, 2], [fc2, k, 2]]]
insert_queues: [[fc2, y, 1], [p.exp, p.sum, 0]]
insert_buffering_nop: [[t, [p]]]
YAML

# Through the driver, which hands these on to the optimizer.
buda compile mlp.graph.json --config constraints.yaml --check --build-dir b -o mlp.tti -q
buda run mlp.tti --inputs x.npz --expect expected.npz --pcc 0.999 -q
for name in buffering_fc2_0: buffering_p.exp_0: t.nop: fc2.part.1: act.part.0:; do grep -q "^ *$name" b/mlp.yaml; done
grep -q '"role": "buffering"' b/mlp.report.json

# The plain model, bit for bit the same with queues, nops and tilizers. The policy blocks an op alike whatever stands next to it.
buda compile mlp.graph.json --policy minimize_grid --build-dir plain -o plain.tti -q
buda run plain.tti --inputs x.npz -o plain.npz -q
buda compile mlp.graph.json --insert-queues fc2,y --insert-queues fc2,t --insert-buffering-nop t,p --policy minimize_grid --build-dir queues -o queues.tti -q
buda run queues.tti --inputs x.npz -o queues.npz -q
cmp plain.npz queues.npz
optimizer mlp.graph.json --enable-device-tilize -o tilized.json
balancer tilized.json --policy minimize_grid -o tilized.yaml
grep -q 'layout: flat' tilized.yaml
grep -q 'x.tilizer: *{type: tilizer' tilized.yaml
runner tilized.yaml --inputs x.npz -o tilized.npz -q
cmp plain.npz tilized.npz

# Options of stages by themselves, flags and values; what no stage knows is told once.
buda compile mlp.graph.json --cpu-fallback-ops softmax --enable-tm-cpu-fallback=true --build-dir host -o host.tti -q
[ -e host/mlp.behind.graph.json ]
buda run host.tti --inputs x.npz --expect expected.npz --pcc 0.999 -q
status=0; buda compile mlp.graph.json --insert-queus a,b -q 2> refused || status=$?
[ "$status" -eq 2 ]; grep -q "did you mean '--insert-queues'" refused
echo "constraints: fine"
