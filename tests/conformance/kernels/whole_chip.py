#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run images and netlists whole on ttsim, and compare every number with golden's bits.

    whole_chip.py --build BUILD_DIR [--netlists FOLDER] [--model FILE=INPUTS.npz]… [--models FOLDER] [--inputs N,N…] [--page FILE.md]

Models are compiled for n150; one that is an image (.tti) is taken as it is. `--models` takes every X.onnx and X.tti of a folder that has X.inputs.npz.
`--page` writes what became of each, with the time and the memory that it took.

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
import typing

REFUSED = re.compile(r"\[(CP001|MV001|MV002)\]")
OTHER_NUMBERS = {"dropout"}


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


class Taken(typing.NamedTuple):
    """Of one run: seconds of processor time, MiB at most, and what its device says of itself."""
    seconds: float = 0
    mib: float = 0
    said: dict = {}

    def each(self):
        """Per execution of an epoch, or of all of them, one after the other."""
        return f"{self.said.get('epochs', 0):.0f}", f"{self.said.get('cycles', 0) / 1e6:.2f}", f"{self.seconds:.1f}", f"{self.mib:.0f}"


def measured(*command):
    """As run, and what it took."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen([str(c) for c in command], stdout=out, stderr=errors, text=True)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, errors):
            file.seek(0)
        done = subprocess.CompletedProcess(command, child.returncode, out.read(), errors.read())
    told = dict(re.findall(r"(cycles|epochs): ([0-9.e+]+)", done.stdout + done.stderr))
    return done, Taken(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, {name: float(value) for name, value in told.items()})


def on_chip(runner, library, what, golden, out):
    """How it went, what was said, and what it took."""
    done = run(runner, *what, "--target", "golden", "--set", "target.golden.mode=bits", "-o", golden, "-q")
    if done.returncode:
        return "golden fails", done.stderr, Taken()
    chip = [runner, *what, "--target", "ttsim", "--set", f"target.ttsim.library={library}", "--set", "target.ttsim.chip=true", "-o", out, "-v"]
    done, taken = measured(*chip, "--expect", golden, "--max-error", "0")
    if "[RN011]" in done.stderr:  # nothing comes out of it
        done, taken = measured(*chip)
    if done.returncode == 0:
        return "equal", "", taken
    return ("refused" if REFUSED.search(done.stderr) else "different or failed"), done.stderr, taken


def with_inputs(text, count):
    """An example netlist with so many inputs for each epoch."""
    text = re.sub(r"input_count: \d+", f"input_count: {count}", text)
    text = re.sub(r"c_inputs: \d+", f"c_inputs: {count}", text)
    text = re.sub(r"c_wrap: \d+", f"c_wrap: {max(4 * count, 8)}", text)
    return re.sub(r"entries: [2-9]\b", f"entries: {max(2 * count, 4)}", text)


def page_of(models, netlists, counts):
    """Markdown."""
    lines = ["# Whole chips", "",
             "What ran whole on ttsim (`--set target.ttsim.chip=true`, [ttsim](../plugins/ttsim.md#the-whole-chip)), and how its outputs compare with those of golden's `mode=bits`. "
             "Written by", "`make conformance-ttsim OPENBUDA_TTSIM=FILE [WHOLE_CHIP_MODELS=FOLDER]`.", ""]
    if models:
        lines += ["## Models", "",
                  "Compiled for n150 with their kernels. Seconds are processor time of the whole run: it loads the image, compiles the movers and executes all epochs. Millions of cycles are the simulated clock's.", "",
                  "| model | epochs executed | Mcycles | CPU s | MiB | outputs |", "|---|--:|--:|--:|--:|---|"]
        lines += [f"| {name} | {' | '.join(taken.each())} | {verdict} |" for name, verdict, taken in models]
        lines.append("")
    if netlists:
        lines += ["## Example netlists", "", "Each with so many inputs for an epoch. A code says why one is refused ([movers](../internals/movers.md#diagnostics)).", "",
                  "| netlist | " + " | ".join(map(str, counts)) + " |", "|---|" + "---|" * len(counts)]
        lines += [f"| {name} | {' | '.join(verdicts)} |" for name, verdicts in netlists.items()]
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--netlists", type=pathlib.Path)
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--inputs", default="1,2,16")
    parser.add_argument("--page", type=pathlib.Path)
    options = parser.parse_args()
    library = os.environ.get("OPENBUDA_TTSIM", "")
    if not library:
        print("skipped: OPENBUDA_TTSIM names no library of ttsim")
        return 77
    bin_dir, counts, wrong = options.build / "bin", {}, 0
    models, netlists = [], {}
    given = [tuple(map(pathlib.Path, model.split("=", 1))) for model in options.model]
    for found in sorted([*options.models.glob("*.onnx"), *options.models.glob("*.tti")] if options.models else []):
        if (inputs := found.with_suffix(".inputs.npz")).exists():
            given.append((found, inputs))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)

        def judge(name, what):
            nonlocal wrong
            verdict, said, taken = on_chip(bin_dir / "runner", library, what, folder / "golden.npz", folder / "chip.npz")
            if verdict == "different or failed" and name.split(",")[0] in OTHER_NUMBERS and "[TN04" in said:
                verdict = "other random numbers"
            counts[verdict] = counts.get(verdict, 0) + 1
            wrong += verdict in ("golden fails", "different or failed")
            print(f"{name}: {verdict}" + (f"\n{said}" if verdict in ("golden fails", "different or failed") else ""), flush=True)
            code = REFUSED.search(said) if verdict == "refused" else None
            return verdict + (f" ({code[1]})" if code else ""), taken

        for path in sorted(options.netlists.glob("*.yaml")) if options.netlists else []:
            for count in map(int, options.inputs.split(",")):
                netlist = folder / path.name
                netlist.write_text(with_inputs(path.read_text(), count))
                verdict, _ = judge(f"{path.stem}, {count} inputs", [netlist, "--bare", "--stimulus", "--param", "loops=1"])
                netlists.setdefault(path.stem, []).append(verdict)
        for model, inputs in given:
            image = model
            if model.suffix != ".tti":
                image = folder / "model.tti"
                done = run(bin_dir / "buda", "compile", model, "-o", image, "--device", "n150", "--kernels", "-q")
                if done.returncode:
                    print(f"{model}: does not compile\n{done.stderr}")
                    wrong += 1
                    continue
            verdict, taken = judge(model.stem, [image, "--inputs", inputs])
            models.append((model.stem, verdict, taken))
    if options.page:
        options.page.write_text(page_of(models, netlists, options.inputs.split(",")))
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
