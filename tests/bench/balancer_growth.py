#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the balancer's time grows with the number of nodes, and no faster.

    balancer_growth.py --build BUILD_DIR [--limit 1.5] [--graph FILE --nodes N]

A chain of encoder layers (attention of four heads, softmax, a residual perceptron, normalization), all of one shape: 2,500 and 10,000 nodes. Times are of the
processor, so that threads count. Exit code 1 when four times the nodes cost more than four times the limit. With --graph the device graph of N nodes is written
and nothing is run.
"""
import argparse
import json
import os
import sys
import tempfile

from golden_encoder import processor_seconds

ROWS, WIDE, HEADS = 128, 256, 4
BROADCAST_ROWS, BROADCAST_COLUMNS = {"broadcast": {"r": ROWS // 32}}, {"broadcast": {"c": ROWS // 32}}


class Layers:
    """A device graph, layer by layer. All parameters of a shape share their values."""

    def __init__(self):
        self.nodes, self.tensors = [], {}

    def node(self, name, op, shape, inputs=None, **more):
        self.nodes.append({"name": name, "op": op} | ({"inputs": inputs} if inputs else {}) | {"types": [{"dtype": "F32", "shape": list(shape), "format": "Float16_b"}]} | more)
        return name

    def value(self, name, rows, columns, op="parameter"):
        tensor = f"value_{rows}x{columns}"
        self.tensors[tensor] = (rows, columns)
        return self.node(name, op, (1, 1, rows, columns), value=tensor)

    def linear(self, name, x, inner, columns):
        bias = {"from": self.value(f"{name}.bias", 32, columns), "tms": [BROADCAST_ROWS]}
        return self.node(name, "matmul", (1, 1, ROWS, columns), [x, self.value(f"{name}.weight", inner, columns), bias], attrs={"bias": True})

    def softmax(self, name, x, slices, columns):
        low = {"from": self.node(f"{name}.max", "reduce", (1, slices, ROWS, 32), [x], attrs={"dim": "c", "type": "max"}), "tms": [BROADCAST_COLUMNS]}
        exp = self.node(f"{name}.exp", "exp", (1, slices, ROWS, columns), [self.node(f"{name}.low", "subtract", (1, slices, ROWS, columns), [x, low])])
        ones = {"from": self.value(f"{name}.ones", columns, 32, "constant"), "tms": [{"broadcast": {"z": slices}}]}
        total = self.node(f"{name}.inverse", "reciprocal", (1, slices, ROWS, 32), [self.node(f"{name}.sum", "matmul", (1, slices, ROWS, 32), [exp, ones])])
        return self.node(name, "multiply", (1, slices, ROWS, columns), [exp, {"from": total, "tms": [BROADCAST_COLUMNS]}])

    def layer(self, name, x):
        cut = [{"hslice": HEADS}]
        query, key, value = (self.linear(f"{name}.{part}", x, WIDE, WIDE) for part in ("query", "key", "value"))
        scores = self.node(f"{name}.scores", "matmul", (1, HEADS, ROWS, ROWS), [{"from": query, "tms": cut}, {"from": key, "tms": cut + ["transpose"]}])
        mixed = self.node(f"{name}.mixed", "matmul", (1, HEADS, ROWS, WIDE // HEADS), [self.softmax(f"{name}.softmax", scores, HEADS, ROWS), {"from": value, "tms": cut}])
        out = self.linear(f"{name}.out", {"from": mixed, "tms": [{"hstack": HEADS}]}, WIDE, WIDE)
        x = self.node(f"{name}.residual", "add", (1, 1, ROWS, WIDE), [x, out])
        up = self.node(f"{name}.gelu", "gelu", (1, 1, ROWS, 4 * WIDE), [self.linear(f"{name}.up", x, WIDE, 4 * WIDE)])
        x = self.node(f"{name}.sum", "add", (1, 1, ROWS, WIDE), [x, self.linear(f"{name}.down", up, 4 * WIDE, WIDE)])
        scale = {"from": self.value(f"{name}.scale", 32, WIDE), "tms": [BROADCAST_ROWS]}
        return self.node(f"{name}.scaled", "multiply", (1, 1, ROWS, WIDE), [x, scale])


def graph(nodes, folder):
    g = Layers()
    x = g.node("x", "input", (1, 1, ROWS, WIDE))
    while len(g.nodes) < nodes:
        x = g.layer(f"layer{len(g.nodes)}", x)
    g.nodes.append({"name": "y", "op": "output", "inputs": [x]})
    # Zeros, in a file of their own form: no package is needed to write them.
    header, at = {}, 0
    for name, (rows, columns) in g.tensors.items():
        header[name] = {"dtype": "F32", "shape": [rows, columns], "data_offsets": [at, at + 4 * rows * columns]}
        at += 4 * rows * columns
    head = json.dumps(header).encode()
    with open(os.path.join(folder, "zeros.safetensors"), "wb") as f:
        f.write(len(head).to_bytes(8, "little") + head + bytes(at))
    tensors = [{"name": name, "dtype": "F32", "shape": list(shape), "file": "zeros.safetensors"} for name, shape in g.tensors.items()]
    lines = ",\n".join(json.dumps(node) for node in g.nodes)
    return f'{{"schema": "buda.graph/1", "name": "layers", "level": "device", "nodes": [\n{lines}], "tensors": {json.dumps(tensors)}}}\n'


def seconds(build, folder, nodes):
    path = os.path.join(folder, f"{nodes}.json")
    with open(path, "w") as f:
        f.write(graph(nodes, folder))
    return processor_seconds([os.path.join(build, "bin", "balancer"), path, "-o", os.path.join(folder, "net.yaml")])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True)
    p.add_argument("--limit", type=float, default=1.5)
    p.add_argument("--graph")
    p.add_argument("--nodes", type=int, default=100_000)
    args = p.parse_args()
    if args.graph:
        with open(args.graph, "w") as f:
            f.write(graph(args.nodes, os.path.dirname(os.path.abspath(args.graph))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        few, many = (seconds(args.build, folder, nodes) for nodes in (2_500, 10_000))
    print(f"2,500 nodes {few:.2f} s, 10,000 nodes {many:.2f} s: {many / few:.2f} times for 4 times the nodes")
    return 0 if many <= 4 * args.limit * few else 1


if __name__ == "__main__":
    sys.exit(main())
