#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Softmax and matrix products over sizes of every number of tiles are placed, and prime numbers of tiles cost little more than others.

    tile_sizes.py BUILD_DIR [--sizes FIRST:LAST] [--devices n150,e150] [--grid]

A size with a prime number of tiles may take 1.5 times the cycles of the next multiple of eight by the estimate; with --grid both are executed on target grid, too,
where an execution may take a quarter more or less than its estimate.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import native_model as native  # noqa: E402

TILE = 32
MOST = 1.5  # of the cycles of the next multiple of eight
NEAR = 0.25  # of an execution to its estimate
ROUNDS = 2  # the first loads what the others use


def is_prime(number):
    return number > 1 and all(number % factor for factor in range(2, int(number**0.5) + 1))


def softmax(side):
    return [native.source("x", "F32", side, side), native.op("made", "softmax", ["x"], dim=1)]


def product(side):
    return [native.source("x", "F32", side, side), native.source("w", "F32", side, side), native.op("made", "matmul", ["x", "w"])]


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[0])


def estimate(tools, kind, tiles, device):
    native.model("g", kind(tiles * TILE) + [{"name": "y", "op": "output", "inputs": ["made"]}])
    run(tools / "buda", "compile", "g.graph.json", "-q", "-o", "g.tti", "--build-dir", "built", "--device", device)
    report = json.loads(pathlib.Path("built/g.report.json").read_text())
    return report["totals"]["cycles"]


def executed(tools, kind, tiles):
    side = tiles * TILE
    rows = side * (1 if kind is product else ROUNDS)  # a row of a product needs all of w
    zeros = ("<f4", "f", (rows, side), [0.0] * (rows * side))
    native.npz("in.npz", **{node["name"]: zeros for node in kind(side) if node["op"] == "input"})
    run(tools / "runner", "g.tti", "-q", "--inputs", "in.npz", "--target", "grid", "--set", "target.grid.values=off", "-o", "out.npz", "--perf", "perf")
    epochs = json.loads(pathlib.Path("perf/summary.json").read_text())["epochs"]
    return sum(epoch["cycles"] for epoch in epochs)


def check(tools, kind, tiles, device, on_grid):
    """What is wrong, as sentences."""
    what = f"{kind.__name__} of {tiles} tiles on {device}"
    try:
        cycles = estimate(tools, kind, tiles, device)
        wrong = []
        if on_grid and is_prime(tiles):
            measured = executed(tools, kind, tiles)
            print(f"{what}: estimate {cycles}, grid {measured:.0f}", flush=True)
            if abs(measured / cycles - 1) > NEAR:
                wrong.append(f"{what}: {measured:.0f} cycles on grid, the estimate is {cycles}")
        if is_prime(tiles):
            other = estimate(tools, kind, (tiles + 7) // 8 * 8, device)
            if cycles > MOST * other:
                wrong.append(f"{what}: {cycles} cycles, {cycles / other:.2f} times those of the next multiple of eight")
        return wrong
    except RuntimeError as error:
        return [f"{what}: {error}"]


parser = argparse.ArgumentParser()
parser.add_argument("build", type=pathlib.Path)
parser.add_argument("--sizes", help="tiles, FIRST:LAST; default: 47")
parser.add_argument("--devices", default="n150,e150")
parser.add_argument("--grid", action="store_true")
given = parser.parse_args()
tools = given.build.resolve() / "bin"
sizes = [47]
if given.sizes:
    first, last = (int(part) for part in given.sizes.split(":"))
    sizes = range(first, last + 1)
faults, checked = [], 0
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for kind in (softmax, product):
        for tiles in sizes:
            for device in given.devices.split(","):
                found = check(tools, kind, tiles, device, given.grid)
                for fault in found:
                    print(fault, flush=True)
                faults += found
                checked += 1
    os.chdir("/")
print(f"{checked} sizes, {len(faults)} faults")
sys.exit(1 if faults or not checked else 0)
