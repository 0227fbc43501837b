#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No plan beats its lower bounds, as a whole or in an epoch: random small graphs, policies and microbatches, each executed on target grid.

    lower_bounds.py BUILD_DIR [--plans FIRST:COUNT]

Each graph is executed for three rounds of the program's loop, of which the last one counts: its programs are loaded while the round before still works.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import native_model as native  # noqa: E402

ROUNDS = 3
POLICIES = ["spread", "minimize_grid", "random", "single_op_per_epoch", "maximize_t_minimize_grid", "ribbon", "nlp"]
MICROBATCHES = [1, 2, 13, 64]
SHAPES = ["relu", "gelu", "exp", "softmax", "sigmoid"]


def graph(name):
    """A chain of products and functions, with sums of what was computed before where shapes allow."""
    rows, width = random.choice([1, 7, 32, 64, 100]), random.choice([16, 32, 64, 96, 200])
    nodes, tensors = [native.source("x", "F32", rows, width)], []
    earlier, last = [("x", width)], "x"
    for number in range(random.randint(1, 8)):
        kind = random.choice(["matmul", "matmul", "add", "function"])
        other = [n for n, w in earlier if w == width and n != last]
        step = f"n{number}"
        if kind == "matmul":
            to = random.choice([16, 32, 64, 96, 200])
            tensors.append(native.tensor(f"w{number}", width, to, most=0.1))
            nodes += [native.parameter(f"w{number}"), native.op(step, "matmul", [last, f"w{number}"])]
            width = to
        elif kind == "add" and other:
            nodes.append(native.op(step, "add", [last, random.choice(other)]))
        else:
            function = random.choice(SHAPES)
            nodes.append(native.op(step, function, [last], **({"dim": -1} if function == "softmax" else {})))
        last = step
        earlier.append((step, width))
    nodes.append({"name": "y", "op": "output", "inputs": [last]})
    native.model(name, nodes, *tensors)
    return rows, nodes[0]["types"][0]["shape"][1]


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    return done.returncode, done.stderr


def check(tools, seed):
    """How the plan was made; the bound and the cycles of a round, and of each of its epochs. None for these where there is no plan."""
    random.seed(seed)
    rows, width = graph("g")
    policy, microbatch = random.choice(POLICIES), random.choice(MICROBATCHES)
    how = f"plan {seed}: --policy {policy} --microbatch {microbatch}"
    code, said = run(tools / "buda", "compile", "g.graph.json", "-q", "-o", "g.tti", "--build-dir", "built", "--policy", policy, "--microbatch", microbatch)
    if code == 3:
        return how, None  # does not fit
    if code != 0:
        sys.exit(f"{how}: {said[-2000:]}")
    native.npz("in.npz", x=native.floats(rows * microbatch * ROUNDS, width))
    code, said = run(tools / "runner", "g.tti", "-q", "--inputs", "in.npz", "--target", "grid", "--set", "target.grid.values=off", "-o", "out.npz", "--perf", "perf")
    if code != 0:
        sys.exit(f"{how}: {said[-2000:]}")
    report = json.loads(pathlib.Path("built/g.report.json").read_text())
    epochs = json.loads(pathlib.Path("perf/summary.json").read_text())["epochs"]
    whole = sum(epoch["cycles"] for epoch in epochs)
    bounds = [(name, report["totals"][name]["cycles"], whole) for name in ("universal_bound", "schedule_bound") if name in report["totals"]]
    known = {epoch["graph"]: epoch.get("bound", 0) for epoch in report["epochs"]}
    bounds += [(epoch["graph"], known[epoch["graph"]], epoch["cycles"]) for epoch in epochs]
    return how, bounds


parser = argparse.ArgumentParser()
parser.add_argument("build", type=pathlib.Path)
parser.add_argument("--plans", default="0:4")
given = parser.parse_args()
first, count = (int(part) for part in given.plans.split(":"))
tools = given.build.resolve() / "bin"
beaten, made, closest = 0, 0, float("inf")
for seed in range(first, first + count):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        how, bounds = check(tools, seed)
        os.chdir("/")
    if bounds is None:
        continue
    made += 1
    for name, bound, cycles in bounds:
        closest = min(closest, cycles / max(bound, 1))
        if cycles < bound:
            beaten += 1
            print(f"{how}: {cycles:.0f} cycles on grid, {name} is {bound}")
print(f"{made} of {count} plans fit, {beaten} bounds are beaten; the closest takes {closest:.2f} times as long")
sys.exit(1 if beaten or made < count / 2 else 0)
