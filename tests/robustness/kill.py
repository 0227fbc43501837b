#!/usr/bin/env python3
"""Kill tti-pack and tti-merge at random moments: no file is left that is taken for an image and is not a whole one.

    kill.py --build BUILD_DIR --model MODEL.onnx [--kills N]

Half of the kills are SIGKILL, which gives a tool no chance to tidy up; after the others (SIGTERM) no temporary file may be left either.
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time


def run_once(command, folder, environment, after=None, how=signal.SIGKILL):
    """Seconds that it took, and whether it ended by itself with exit code 0."""
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if after is not None:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            process.send_signal(how)
    ended = process.wait() == 0
    return time.monotonic() - begin, ended


def judge(folder, good, environment):
    """What is wrong with the files that a killed tool has left."""
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        if content == good:
            continue
        if path.suffix == ".tti":
            yield f"{path.name} has {len(content)} bytes of {len(good)}"
        elif subprocess.run(["tti-pack", "info", path], env=environment, capture_output=True).returncode == 0:
            yield f"{path.name}, {len(content)} bytes of {len(good)}, is taken for an image"


def kill_often(name, command, kills, environment, root):
    good_folder = root / f"{name}.good"
    good_folder.mkdir()
    whole, _ = run_once([*command, "out.tti"], good_folder, environment)
    good = (good_folder / "out.tti").read_bytes()
    rng, problems, killed, runs = random.Random(20), [], 0, 0
    # As many as were wanted: a run that ends before its time is none, and tells how long one takes now, beside other work.
    while killed < kills and runs < 10 * kills:
        i, runs = runs, runs + 1
        folder = root / f"{name}.{i}"
        folder.mkdir()
        how = signal.SIGKILL if i % 2 == 0 else signal.SIGTERM
        # The writing is at the end: more kills there.
        after = whole * (rng.uniform(0, 1.1) if i % 4 < 2 else rng.uniform(0.7, 1.1))
        seconds, ended = run_once([*command, "out.tti"], folder, environment, after, how)
        killed += not ended
        whole = seconds if ended else whole
        problems += [f"{name}: killed after {after:.3f} s: {text}" for text in judge(folder, good, environment)]
        if ended and not (folder / "out.tti").exists():
            problems.append(f"{name}: succeeded without a product")
        if how == signal.SIGTERM and (left := [p.name for p in folder.iterdir() if p.name != "out.tti"]):
            problems.append(f"{name}: SIGTERM after {after:.3f} s leaves {left}")
    print(f"{name}: {killed} of {runs} runs of about {whole:.3f} s were killed before their end")
    if killed < kills:
        problems.append(f"{name}: only {killed} runs were killed in time")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=100)
    options = parser.parse_args()
    environment = {**os.environ, "PATH": f"{options.build.resolve() / 'bin'}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as work:
        root = pathlib.Path(work)
        images = root / "images"
        subprocess.run(["buda", "compile", options.model.resolve(), "-o", "a.tti", "--build-dir", root / "build", "-q"], cwd=root, env=environment, check=True)
        images.mkdir()
        for name in ("a", "b"):
            (images / f"{name}.tti").write_bytes((root / "a.tti").read_bytes())
        netlist = next((root / "build").glob("*.yaml"))
        problems = kill_often("tti-pack", ["tti-pack", "--netlist", netlist, "--build", netlist.with_suffix(".pipes"), "-o"], options.kills, environment, root)
        problems += kill_often("tti-merge", ["tti-merge", "-mbl", images, "-mdl", "a", "b", "-mml"], options.kills, environment, root)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
