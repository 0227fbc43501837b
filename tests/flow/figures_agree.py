#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The estimate of a compilation, `netlist cost` of its netlist and a run on target grid say one number of cycles.

    figures_agree.py BUILD_DIR SOURCE_DIR [MODEL...]

Cycles of one round of the program's loop after others, of a model with one and with several batches in an epoch. `netlist cost` is the estimate, and both differ from
the simulator by 10 % at most. Models given are compared, too, without a limit.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import native_model as native  # noqa: E402

MICROBATCHES = [1, 8, 64]
ROUNDS = 3
MOST_APART = 0.10
# Of whole cycles of each epoch.
MOST_ROUNDED = 0.001


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr[-2000:]}")
    return done.stdout


def perceptron(name):
    """Two layers of prime sizes and a softmax."""
    nodes, last, width = [native.source("x", "F32", 31, 67)], "x", 67
    tensors = []
    for number, to in enumerate([131, 37]):
        tensors.append(native.tensor(f"w{number}", width, to, most=0.1))
        nodes += [native.parameter(f"w{number}"), native.op(f"n{number}", "matmul", [last, f"w{number}"]), native.op(f"r{number}", "relu", [f"n{number}"])]
        last, width = f"r{number}", to
    nodes += [native.op("s", "softmax", [last], dim=-1), {"name": "y", "op": "output", "inputs": ["s"]}]
    native.model(name, nodes, *tensors)
    return f"{name}.graph.json"


def figures(tools, model, microbatch):
    """Cycles by the report, by netlist cost, and of the last round on grid."""
    run(tools / "buda", "compile", model, "-q", "-o", "m.tti", "--build-dir", "built", "--microbatch", microbatch)
    built = pathlib.Path("built")
    netlist = next(built.glob("*.yaml"))
    report = json.loads(netlist.with_suffix(".report.json").read_text())
    plan = json.loads(netlist.with_suffix(".plan.json").read_text())
    cost = sum(json.loads(line)["all_cycles"] for line in run(tools / "netlist", "cost", netlist, "--format", "json").splitlines())
    inputs = {}
    for tensor in plan["inputs"]:
        shape = [tensor["shape"][0] * microbatch * ROUNDS] + tensor["shape"][1:]
        kind, value = (("<i8", "q"), 1) if tensor["dtype"] == "I64" else (("<f4", "f"), 0.5)
        inputs[tensor["name"]] = (*kind, shape, [value] * native.volume(shape))
    native.npz("in.npz", **inputs)
    run(tools / "runner", "m.tti", "-q", "--inputs", "in.npz", "--target", "grid", "--set", "target.grid.values=off", "-o", "out.npz", "--perf", "perf")
    epochs = json.loads(pathlib.Path("perf/summary.json").read_text())["epochs"]
    return report["totals"]["cycles"], cost, sum(epoch["cycles"] for epoch in epochs)


def padding_is_said(tools):
    """In the folder of the perceptron with 8 batches in an epoch: whatever the rows, the others are zeros."""
    for rows in [5, 31, 200]:
        native.npz("few.npz", x=("<f4", "f", [rows, 67], [0.5] * (rows * 67)))
        run(tools / "runner", "m.tti", "-q", "--inputs", "few.npz", "--target", "grid", "--set", "target.grid.values=off", "-o", "out.npz", "--perf", "few")
        if not pathlib.Path("few/summary.txt").read_text().startswith(f"{rows} inputs (8 batches, filled up with {8 * 31 - rows} rows of zeros)"):
            return False
    return True


def guess_is_named(tools):
    """In the folder of a compilation: without the values of its parameters, netlist cost says that it guesses."""
    netlist = next(pathlib.Path("built").glob("*.yaml"))
    netlist.with_suffix(".safetensors").unlink()
    done = subprocess.run([str(tools / "netlist"), "cost", str(netlist)], capture_output=True, text=True)
    return done.returncode == 0 and "[NT003]" in done.stderr


def main():
    tools, source = pathlib.Path(sys.argv[1]).resolve() / "bin", pathlib.Path(sys.argv[2]).resolve()
    random.seed(1)
    digits = source / "share" / "examples" / "digits"
    limited = ["perceptron", digits / "digits.onnx", digits / "digits-conv.onnx"]
    wrong = 0
    for model in limited + [pathlib.Path(m).resolve() for m in sys.argv[3:]]:
        name = pathlib.Path(model).stem
        for microbatch in MICROBATCHES:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                estimate, cost, grid = figures(tools, perceptron("perceptron") if model == "perceptron" else model, microbatch)
                said = name != "perceptron" or microbatch != 8 or padding_is_said(tools)
                named = name != "digits-conv" or guess_is_named(tools)
                os.chdir("/")
            fails = model in limited and (abs(cost / estimate - 1) > MOST_ROUNDED or abs(estimate / grid - 1) > MOST_APART)
            wrong += fails
            if not named:
                print("netlist cost guesses without a word")
            if not said:
                print("the summary of a run does not say how many rows are zeros")
            wrong += not named or not said
            print(f"{name:16} microbatch {microbatch:3}: estimate {estimate:9} netlist cost {cost:9} grid {grid:11.0f}, {estimate / grid:.3f} of it{' FAILS' if fails else ''}")
    sys.exit(1 if wrong else 0)


main()
