#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run images and netlists whole on ttsim, and compare every number with golden's bits.

    whole_chip.py --build BUILD_DIR [--netlists FOLDER] [--model FILE.onnx=INPUTS.npz]… [--inputs N,N…]

The library is OPENBUDA_TTSIM=FILE; without it nothing is run, and the exit code is 77. Netlists that need what movers do not do yet have to be refused by a
code; dropout draws its numbers from the hardware's generator, which golden has not.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

REFUSED = re.compile(r"\[(CP001|MV001|MV002)\]")
OTHER_NUMBERS = {"dropout"}


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def on_chip(runner, library, what, golden, out):
    """How it went, and what was said."""
    done = run(runner, *what, "--target", "golden", "--set", "target.golden.mode=bits", "-o", golden, "-q")
    if done.returncode:
        return "golden fails", done.stderr
    done = run(runner, *what, "--target", "ttsim", "--set", f"target.ttsim.library={library}", "--set", "target.ttsim.chip=true", "--expect", golden,
               "--max-error", "0", "-o", out)
    if done.returncode == 0:
        return "equal", ""
    return ("refused" if REFUSED.search(done.stderr) else "different or failed"), done.stderr


def with_inputs(text, count):
    """An example netlist with so many inputs for each epoch."""
    text = re.sub(r"input_count: \d+", f"input_count: {count}", text)
    text = re.sub(r"c_inputs: \d+", f"c_inputs: {count}", text)
    text = re.sub(r"c_wrap: \d+", f"c_wrap: {max(4 * count, 8)}", text)
    return re.sub(r"entries: [2-9]\b", f"entries: {max(2 * count, 4)}", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--netlists", type=pathlib.Path)
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--inputs", default="1,2,16")
    options = parser.parse_args()
    library = os.environ.get("OPENBUDA_TTSIM", "")
    if not library:
        print("skipped: OPENBUDA_TTSIM names no library of ttsim")
        return 77
    bin_dir, counts, wrong = options.build / "bin", {}, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)

        def judge(name, what):
            nonlocal wrong
            verdict, said = on_chip(bin_dir / "runner", library, what, folder / "golden.npz", folder / "chip.npz")
            if verdict == "different or failed" and name.split(",")[0] in OTHER_NUMBERS and "[TN04" in said:
                verdict = "other random numbers"
            counts[verdict] = counts.get(verdict, 0) + 1
            wrong += verdict in ("golden fails", "different or failed")
            print(f"{name}: {verdict}" + (f"\n{said}" if verdict in ("golden fails", "different or failed") else ""), flush=True)

        for path in sorted(options.netlists.glob("*.yaml")) if options.netlists else []:
            for count in map(int, options.inputs.split(",")):
                netlist = folder / path.name
                netlist.write_text(with_inputs(path.read_text(), count))
                judge(f"{path.stem}, {count} inputs", [netlist, "--bare", "--stimulus", "--param", "loops=1"])
        for model in options.model:
            onnx, _, inputs = model.partition("=")
            image = folder / "model.tti"
            done = run(bin_dir / "buda", "compile", onnx, "-o", image, "--device", "n150", "-q")
            if done.returncode:
                print(f"{onnx}: does not compile\n{done.stderr}")
                wrong += 1
                continue
            judge(pathlib.Path(onnx).stem, [image, "--inputs", inputs])
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
