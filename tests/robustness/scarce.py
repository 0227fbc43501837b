#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tools with little memory and few descriptors: a message says that these ran out, or they work; a lack is never called a bug of ours.

    scarce.py --build BUILD_DIR --model MODEL.onnx --inputs INPUTS.npz [--steps N]
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

# From where the loader can start the tools, to where all of them work.
MIB = range(72, 136)
DESCRIPTORS = range(4, 17)
LACK = ("out of memory", "no more memory", "Too many open files", "Cannot allocate memory", "cannot be loaded", "no such file or directory", "Error 24", "error while loading")


def commands(root, model, inputs):
    folder = root / "made"
    return {"buda compile": ["buda", "compile", model, "-o", "out.tti"],
            "importer": ["importer", model, "-o", "out.json"],
            "optimizer": ["optimizer", folder / "digits.graph.json", "-o", "out.json"],
            "balancer": ["balancer", folder / "digits.device.graph.json", "-o", "out.yaml"],
            "tti-merge": ["tti-merge", "-mbl", root, "-mdl", "a", "b", "-mml", "out.tti"],
            "runner, golden": ["runner", root / "a.tti", "--inputs", inputs, "-o", "out.npz"],
            "runner, grid": ["runner", root / "a.tti", "--inputs", inputs, "--target", "grid", "-o", "out.npz"]}


class Trial:
    def __init__(self, root, environment):
        self.root, self.environment, self.problems, self.count, self.lacks = root, environment, [], 0, 0

    def run(self, name, command, kind, limit):
        with tempfile.TemporaryDirectory(dir=self.root) as work, tempfile.TemporaryDirectory(dir=self.root) as temporary:
            done = subprocess.run([*command, "-q", "--threads", "2"], cwd=work, env={**self.environment, "TMPDIR": temporary}, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, errors="replace", timeout=120, preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)))
            left = [*os.listdir(work), *os.listdir(temporary)]
        self.count += 1
        what = f"{name}, {'memory' if kind == resource.RLIMIT_AS else 'descriptors'} {limit}: {done.returncode}: {done.stderr.strip()[:400]}"
        if done.returncode == 0:
            return
        self.lacks += 1
        # 127: the system's loader; what a tool is killed by before it begins is not its own.
        if done.returncode not in (1, 127) or not any(text in done.stderr for text in LACK):
            self.problems.append(what)
        if left:
            self.problems.append(f"{what}; left: {left}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--inputs", required=True, type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1, help="only every so manieth limit")
    options = parser.parse_args()
    environment = {**os.environ, "PATH": f"{options.build.resolve() / 'bin'}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory(prefix="buda-scarce-") as work:
        root = pathlib.Path(work)
        model, inputs = options.model.resolve(), options.inputs.resolve()
        subprocess.run(["buda", "compile", model, "-o", "a.tti", "--build-dir", "made", "-q"], cwd=root, env=environment, check=True)
        (root / "b.tti").write_bytes((root / "a.tti").read_bytes())
        trial = Trial(root, environment)
        for name, command in commands(root, model, inputs).items():
            for mib in MIB[::options.every]:
                trial.run(name, command, resource.RLIMIT_AS, mib << 20)
            for count in DESCRIPTORS[::options.every]:
                trial.run(name, command, resource.RLIMIT_NOFILE, count)
    print(f"{trial.count} runs, {trial.lacks} with too little")
    for problem in trial.problems:
        print(problem, file=sys.stderr)
    return 1 if trial.problems or trial.lacks == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
