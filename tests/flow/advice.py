#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Applies what perf-analyzer advises, and compares what the simulation then gives with what was promised.

    advice.py BUILD_DIR SOURCE_DIR [--model FILE --inputs FILE] [--policy NAME]... [--microbatch N] [--tries N] [--most N]

Without --model the small models of the repository are taken. Every piece of advice is an override that the balancer's estimate finds faster;
it holds if the simulated speed is within 15 % of the promise. At least four in five have to hold, and there has to be one.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

WITHIN, SHARE = 0.15, 0.8
ADVICE = re.compile(r"--set '?(op\.[^' ]+=[^' ]+)'? predicts (\d+) inputs/s")


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(c) for c in command)}: {done.stderr[-2000:]}")
    return done.stdout


class Model:
    def __init__(self, arguments, model, inputs, policy, folder):
        self.bin, self.model, self.inputs, self.policy, self.folder = arguments.build / "bin", model, inputs, policy, folder
        self.microbatch = arguments.microbatch

    def speed(self, name, *options):
        """Inputs per second of the simulation, and where its report is."""
        folder = self.folder / name
        run(self.bin / "buda", "compile", self.model, "-q", "-o", self.folder / f"{name}.tti", "--build-dir", folder, "--policy", self.policy, "--microbatch",
            self.microbatch, *options)
        run(self.bin / "runner", self.folder / f"{name}.tti", "-q", "--inputs", self.inputs, "--target", "grid", "-o", self.folder / "out.npz", "--perf", folder / "perf")
        return json.loads((folder / "perf/summary.json").read_text())["inputs_per_second"], folder

    def advice(self, folder, tries):
        graph = next(folder.glob("*.device.graph.json"))
        run(self.bin / "perf-analyzer", folder / "perf", "--graph", graph, "--tries", tries, "--save", self.folder / "tried.json", "-q")
        epochs = json.loads((self.folder / "tried.json").read_text())["epochs"]
        return [ADVICE.search(text).groups() for epoch in epochs for text in epoch.get("advice", [])]


def trials(arguments, name, model, inputs, policy):
    with tempfile.TemporaryDirectory() as folder:
        m = Model(arguments, model, inputs, policy, pathlib.Path(folder))
        before, report = m.speed("before")
        for override, promise in m.advice(report, arguments.tries)[:arguments.most]:
            after, _ = m.speed("after", "--set", override)
            holds = abs(after / float(promise) - 1) <= WITHIN
            print(f"{name} {policy}: {override}: {before:.0f} inputs/s, promised {promise}, simulated {after:.0f}{'' if holds else ': not as promised'}", flush=True)
            yield holds, after > before


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--inputs", type=pathlib.Path)
    parser.add_argument("--policy", action="append")
    parser.add_argument("--microbatch", type=int, default=1)
    parser.add_argument("--tries", type=int, default=12)
    parser.add_argument("--most", type=int, default=4)
    arguments = parser.parse_args()
    digits = arguments.source / "share/examples/digits"
    models = [(arguments.model.stem, arguments.model, arguments.inputs)] if arguments.model else [
        ("digits-conv", digits / "digits-conv.onnx", digits / "digits-conv.images.npz"),
        ("attention", arguments.source / "tests/models/attention.onnx", arguments.source / "tests/models/attention.inputs.npz")]
    results = [r for model in models for policy in arguments.policy or ["minimize_grid", "spread"] for r in trials(arguments, *model, policy)]
    held, faster = sum(h for h, _ in results), sum(f for _, f in results)
    print(f"{len(results)} pieces of advice: {held} as promised, {faster} faster")
    if not results:
        sys.exit("none of the overrides that were tried helps")
    if held < SHARE * len(results):
        sys.exit("advice does not hold")


if __name__ == "__main__":
    main()
