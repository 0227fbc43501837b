#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plan that the balancer has chosen is not refused by a later check: random graphs, boards, policies, microbatches and batches.

    plans_hold.py BUILD_DIR [--plans FIRST:COUNT]

Graphs have sizes of a few elements up to some dozens of tiles, several inputs and outputs, and ops of every class. What the balancer refuses by a diagnostic of its own counts
as refused; any other end but success is a fault.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import native_model as native  # noqa: E402

BOARDS = ["n150", "n150", "e150", "n300"]
POLICIES = ["spread", "minimize_grid", "random", "single_op_per_epoch", "maximize_t_minimize_grid", "ribbon", "nlp"]
SIZES = [1, 7, 32, 33, 64, 100, 197, 352, 500, 992, 1184, 1504]
FUNCTIONS = ["relu", "gelu", "exp", "sigmoid", "tanh", "abs", "negative"]


class Graph:
    """A graph that grows op by op; `values`: names and shapes [slices, rows, columns]."""

    def __init__(self):
        self.nodes, self.tensors, self.values, self.read = [], [], [], set()

    def add(self, shape, op, inputs, **attrs):
        name = f"n{len(self.nodes)}"
        self.nodes.append(native.op(name, op, inputs, **attrs))
        self.values.append((name, shape))
        self.read.update(inputs)

    def source(self):
        shape = [random.choice([1, 1, 2, 3, 12]), random.choice(SIZES), random.choice(SIZES)]
        name = f"x{len(self.nodes)}"
        self.nodes.append(native.source(name, "F32", *shape))
        self.values.append((name, shape))

    def parameter(self, *shape):
        name = f"w{len(self.nodes)}"
        self.tensors.append(native.tensor(name, *shape, most=0.1))
        self.nodes.append(native.parameter(name))
        return name


def function(graph, name, shape):
    chosen = random.choice(FUNCTIONS)
    if chosen == "exp":  # of products, and of its own results, it would overflow, which is refused with reason
        graph.add(shape, "tanh", [name])
        name = graph.values[-1][0]
    graph.add(shape, chosen, [name])


def softmax(graph, name, shape):
    graph.add(shape, "softmax", [name], dim=random.choice([-1, -2]))


def reduction(graph, name, shape):
    dim = random.choice([0, 1, 2])
    graph.add([1 if axis == dim else size for axis, size in enumerate(shape)], random.choice(["reduce_max", "reduce_sum", "reduce_avg"]), [name], dims=[dim], keep_dims=True)


def transpose(graph, name, shape):
    order = random.choice([[0, 2, 1], [1, 0, 2]])
    graph.add([shape[axis] for axis in order], "transpose", [name], perm=order)


def product(graph, name, shape):
    columns = random.choice([8, 32, 64, 96, 200])
    if shape[2] * columns > 60000:
        return
    graph.add([shape[0], shape[1], columns], "matmul", [name, graph.parameter(shape[2], columns)])


def binary(graph, name, shape):
    other = random.choice([other for other, its in graph.values if its == shape])
    graph.add(shape, random.choice(["add", "subtract", "multiply", "maximum"]), [name, other])


def own_product(graph, name, shape):
    graph.add([shape[0], shape[2], shape[1]], "transpose", [name], perm=[0, 2, 1])
    graph.add([shape[0], shape[1], shape[1]], "matmul", [name, graph.values[-1][0]])


def concatenation(graph, name, shape):
    dim = random.choice([0, 1, 2])
    graph.add([2 * size if axis == dim else size for axis, size in enumerate(shape)], "concatenate", [name, name], dim=dim)


def cut(graph, name, shape):
    dim = random.choice([1, 2])
    kept = random.randint(1, shape[dim])
    first = random.randint(0, shape[dim] - kept)
    graph.add([kept if axis == dim else size for axis, size in enumerate(shape)], "slice", [name], dims=[dim], starts=[first], stops=[first + kept], steps=[1])


STEPS = [function, function, softmax, reduction, transpose, product, product, binary, own_product, concatenation, cut]


def grow(name):
    graph = Graph()
    for _ in range(random.choice([1, 1, 2])):
        graph.source()
    for _ in range(random.randint(1, 12)):
        value, shape = random.choice(graph.values[-3:])
        if shape[0] * shape[1] * shape[2] <= 3_000_000:
            random.choice(STEPS)(graph, value, shape)
    unread = [value for value, _ in graph.values if value not in graph.read]
    ends = [value for value in unread if not value.startswith("x")] or [graph.values[-1][0]]
    if ends[0].startswith("x"):
        graph.add(graph.values[-1][1], "sigmoid", [ends[0]])
        ends = [graph.values[-1][0]]
    outputs = [{"name": f"y{number}", "op": "output", "inputs": [end]} for number, end in enumerate(ends)]
    native.model(name, graph.nodes + outputs, *graph.tensors)


def check(tools, seed):
    """(how it was compiled, "" where the plan holds, "refused", or what went wrong)."""
    random.seed(seed)
    grow("g")
    options = ["--device", random.choice(BOARDS), "--policy", random.choice(POLICIES), "--microbatch", str(random.choice([1, 2, 3, 8, 13, 64, 65]))]
    command = [str(tools / "buda"), "compile", "g.graph.json", "-q", "-o", "g.tti", "--check", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return options, "not done after 300 s"
    if done.returncode == 0:
        return options, ""
    codes = re.findall(r"error: .*\[([A-Z]{2}\d{3})\]$", done.stderr, re.M)
    if done.returncode == 3 and codes and all(code.startswith("BL") or code == "BD001" for code in codes):
        return options, "refused"
    return options, done.stderr[:2000] or f"exit code {done.returncode}"


parser = argparse.ArgumentParser()
parser.add_argument("build", type=pathlib.Path)
parser.add_argument("--plans", default="143:5")
given = parser.parse_args()
first, count = (int(part) for part in given.plans.split(":"))
tools = given.build.resolve() / "bin"
refused, faults = 0, 0
for seed in range(first, first + count):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        how, wrong = check(tools, seed)
        os.chdir("/")
    if wrong == "refused":
        refused += 1
        print(f"seed {seed}: {' '.join(how)}: refused", flush=True)
    elif wrong:
        faults += 1
        print(f"seed {seed}: {' '.join(how)}: {wrong}", flush=True)
print(f"{count} graphs, {refused} refused, {faults} faults")
sys.exit(1 if faults or refused > count / 4 else 0)
