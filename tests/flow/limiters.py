#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes each part of the chip twice as fast in turn, and compares what that saves with the limit that the report of the run names for each epoch.

    limiters.py BUILD_DIR SOURCE_DIR [--model FILE --inputs FILE] [--policy NAME]... [--microbatch N]... [--verbose]

Without --model the small models of the repository are taken. Parts are the networks, DRAM, the loading of programs, and the kernels that the report
has among an epoch's limits. The limit that it names is right if no other part saves half a per cent of the epoch more. It has to be right in four of
five epochs: of each run, or of those of the small models together, which have few.

The transfers of which a kernel waits longest are said to be slowed by the networks or by DRAM. That is right if this one, twice as fast, shortens these
waits more than the other, or as much to a twentieth of them. It has to be right for four of five ops.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SHARE, EQUAL = 0.8, 0.005
NETWORKS, DRAM, LOADING = "networks", "DRAM", "loading of kernels and stream programs"


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(c) for c in command)}: {done.stderr[-2000:]}")


class Model:
    def __init__(self, tools, model, inputs, options, folder):
        self.tools, self.inputs, self.folder, self.image = tools, inputs, folder, folder / "model.tti"
        run(tools / "buda", "compile", model, "-q", "-o", self.image, *options)

    def epochs(self, *settings):
        report = self.folder / "report"
        run(self.tools / "runner", self.image, "-q", "--inputs", self.inputs, "--target", "grid", "-o", self.folder / "out.npz", "--perf", report, "--perf-level", "0",
            *(argument for setting in settings for argument in ("--set", f"target.grid.{setting}")))
        return json.loads((report / "summary.json").read_text())["epochs"]


def savings(model, epochs, networks, memories):
    """For each epoch the part of its time that is saved, by what is faster; `networks` and `memories`: the epochs with these twice as fast."""
    out = [{} for _ in epochs]

    def add(names, faster, weight=1):
        for own, name, before, after in zip(out, names, epochs, faster):
            if name:
                own[name] = weight * (1 - after["cycles"] / before["cycles"])

    add([NETWORKS] * len(epochs), networks)
    add([DRAM] * len(epochs), memories)
    # Only without any loading can be simulated.
    add([LOADING] * len(epochs), model.epochs("switch-cycles=0"), 0.5)
    kernels = [[limit for limit in epoch["limits"] if limit.get("op")] for epoch in epochs]
    for rank in range(max(map(len, kernels))):
        faster = [own[rank] if rank < len(own) else None for own in kernels]
        add([limit and limit["what"] for limit in faster], model.epochs(*(f"scale={limit['op']}=0.5" for limit in faster if limit)))
    return out


def transfer_waits(epoch, op):
    """Cycles for an input, of each input and the output."""
    return [pipe["moving"] * epoch["cycles"] / epoch["inputs"] for pipe in (*op["inputs"], op["output"])]


def judge_transfers(name, epochs, networks, memories):
    """How many ops wait for transfers more than a tenth of their kernel's time, and for how many the report is right about what slows these."""
    ops = right = 0
    for epoch, with_networks, with_memories in zip(epochs, networks, memories):
        for op, faster, other in zip(epoch["ops"], with_networks["ops"], with_memories["ops"]):
            waits = transfer_waits(epoch, op)
            if sum(waits) <= 0.1 * op["kernel"]:
                continue
            worst = max(range(len(waits)), key=lambda i: waits[i])
            pipe = (*op["inputs"], op["output"])[worst]
            by_networks = waits[worst] - transfer_waits(with_networks, faster)[worst]
            by_memories = waits[worst] - transfer_waits(with_memories, other)[worst]
            named = DRAM if pipe.get("dram", 0) > pipe["moving"] / 2 else NETWORKS
            difference = by_memories - by_networks if named == DRAM else by_networks - by_memories
            is_right = difference >= -0.05 * waits[worst]
            ops, right = ops + 1, right + is_right
            if not is_right:
                print(f"{name}, '{op['name']}': waits {waits[worst]:.0f} cycles for {named}; networks save {by_networks:.0f}, DRAM {by_memories:.0f}: wrong")
    print(f"{name}: what slows transfers is right for {right} of {ops} ops")
    return ops, right


def judge(name, model, verbose):
    """How many epochs there are, and in how many the limit is right; the same for ops and what slows their transfers."""
    epochs, networks, memories = model.epochs(), model.epochs("noc-scale=0.5"), model.epochs("dram-scale=0.5")
    right = 0
    for number, (epoch, saved) in enumerate(zip(epochs, savings(model, epochs, networks, memories))):
        limits = epoch["limits"]
        named, best = limits[0]["what"] if limits else "", max(saved, key=saved.get)
        is_right = saved.get(named, -1) >= saved[best] - EQUAL
        right += is_right
        if verbose or not is_right:
            print(f"{name}, epoch {number}: {named} predicts {limits[0]['gain'] if limits else 0:.1%} and saves {saved.get(named, 0):.1%}; most saves {best}, {saved[best]:.1%}"
                  + ("" if is_right else ": wrong"))
            if verbose:
                print("   ", "; ".join(f"{limit['what']} {limit['gain']:.1%} ({saved.get(limit['what'], -1):.1%})" for limit in limits))
    print(f"{name}: the limit is right in {right} of {len(epochs)} epochs", flush=True)
    return (len(epochs), right), judge_transfers(name, epochs, networks, memories)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--inputs", type=pathlib.Path)
    parser.add_argument("--policy", action="append")
    parser.add_argument("--microbatch", action="append", type=int)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    digits = arguments.source / "share/examples/digits"
    models = [(arguments.model, arguments.inputs)] if arguments.model else [
        (digits / "digits-conv.onnx", digits / "digits-conv.images.npz"), (arguments.source / "tests/models/attention.onnx", arguments.source / "tests/models/attention.inputs.npz")]
    counts = []
    for model, inputs in models:
        for policy in arguments.policy or ["spread", "minimize_grid"]:
            for microbatch in arguments.microbatch or [1, 16]:
                name = f"{model.stem}, {policy}, {microbatch} inputs in an epoch"
                with tempfile.TemporaryDirectory() as folder:
                    made = Model(arguments.build / "bin", model, inputs, ["--policy", policy, "--microbatch", microbatch], pathlib.Path(folder))
                    counts.append(judge(name, made, arguments.verbose))
    for what, judged in zip(("the limit of epochs", "what slows the transfers of ops"), zip(*counts)):
        judged = judged if arguments.model else [tuple(map(sum, zip(*judged)))]
        if any(right < SHARE * count for count, right in judged):
            sys.exit(f"{what} is wrong too often: right for {', '.join(f'{right} of {count}' for count, right in judged)}")


if __name__ == "__main__":
    main()
