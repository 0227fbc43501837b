#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kill tools at random moments: no file is left that is taken for a product and is not a whole one, and the next command works.

    kill.py --build BUILD_DIR --model MODEL.onnx --inputs INPUTS.npz [--kills N]

Half of the kills are SIGKILL, which gives a tool no chance to tidy up; after the others (SIGTERM) no temporary file may be left either. Jobs with a store
of products or a folder of stages find there what the killed ones before them have left.
"""
import argparse
import dataclasses
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import slices  # noqa: E402


@dataclasses.dataclass
class Job:
    """A command that makes one file in the folder in which it runs; `kept`: a folder that it uses from one run to the next, beside that."""
    name: str
    command: list
    product: str
    kept: pathlib.Path | None = None


def run_once(command, folder, environment, after=None, how=signal.SIGKILL):
    """Seconds that it took, and whether it ended by itself with exit code 0. A signal goes to all processes that it has started, too."""
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    if after is not None:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, how)
    ended = process.wait() == 0
    while group_lives(process.pid):
        time.sleep(0.001)
    return time.monotonic() - begin, ended


def group_lives(group):
    """Whether a process of the group still runs: what it has begun of a system call it ends first."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if of == str(group) and state not in "ZX":
            return True
    return False


def judge(folder, job, good, environment):
    """What is wrong with the files that a killed tool has left."""
    for path in sorted(p for p in folder.iterdir() if p.is_file()):
        content = path.read_bytes()
        if content == good:
            continue
        if path.name == job.product:
            yield f"{path.name} has {len(content)} bytes of {len(good)}"
        elif job.product.endswith(".tti") and subprocess.run(["tti-pack", "info", path], env=environment, capture_output=True).returncode == 0:
            yield f"{path.name}, {len(content)} bytes of {len(good)}, is taken for an image"


def next_works(job, good, environment, root):
    """What is wrong with the next run that finds what killed ones have left."""
    with tempfile.TemporaryDirectory(dir=root) as folder:
        _, ended = run_once(job.command, folder, environment)
        made = pathlib.Path(folder, job.product)
        if not ended or not made.exists():
            yield "the next command fails"
        elif made.read_bytes() != good:
            yield "the next command makes another product"


def kill_often(job, kills, environment, root):
    name = job.name
    good_folder = root / f"{name}.good"
    good_folder.mkdir()
    whole, _ = run_once(job.command, good_folder, environment)
    good = (good_folder / job.product).read_bytes()
    rng, problems, killed, runs = random.Random(20), [], 0, 0
    # As many as were wanted: a run that ends before its time is none, and tells how long one takes now, beside other work.
    while killed < kills and runs < 10 * kills:
        i, runs = runs, runs + 1
        folder = root / f"{name}.{i}"
        folder.mkdir()
        if job.kept and i % 10 == 0:
            subprocess.run(["rm", "-rf", job.kept], check=True)
        how = signal.SIGKILL if i % 2 == 0 else signal.SIGTERM
        # The writing is at the end: more kills there.
        after = whole * (rng.uniform(0, 1.1) if i % 4 < 2 else rng.uniform(0.7, 1.1))
        seconds, ended = run_once(job.command, folder, environment, after, how)
        killed += not ended
        whole = seconds if ended else whole
        found = list(judge(folder, job, good, environment))
        if job.kept and not ended:
            found += next_works(job, good, environment, root)
        problems += [f"{name}: killed after {after:.3f} s: {text}" for text in found]
        if ended and not (folder / job.product).exists():
            problems.append(f"{name}: succeeded without a product")
        if how == signal.SIGTERM and (left := [p.name for p in folder.iterdir() if p.name != job.product]):
            problems.append(f"{name}: SIGTERM after {after:.3f} s leaves {left}")
    print(f"{name}: {killed} of {runs} runs of about {whole:.3f} s were killed before their end")
    if killed < kills:
        problems.append(f"{name}: only {killed} runs were killed in time")
    return problems


def jobs(root, model, inputs, environment):
    """All tools that make a product, with the files that they take."""
    images = root / "images"
    subprocess.run(["buda", "compile", model, "-o", "a.tti", "--build-dir", root / "build", "-q"], cwd=root, env=environment, check=True)
    images.mkdir()
    for name in ("a", "b"):
        (images / f"{name}.tti").write_bytes((root / "a.tti").read_bytes())
    netlist = next((root / "build").glob("*.yaml"))
    store, stages = root / "store", root / "stages"
    yield Job("tti-pack", ["tti-pack", "--netlist", netlist, "--build", netlist.with_suffix(".pipes"), "-o", "out.tti"], "out.tti")
    yield Job("tti-merge", ["tti-merge", "-mbl", images, "-mdl", "a", "b", "-mml", "out.tti"], "out.tti")
    yield Job("compile", ["buda", "compile", model, "-q", "-o", "out.tti"], "out.tti")
    yield Job("compile-stages", ["buda", "compile", model, "-q", "--build-dir", stages, "-o", "out.tti"], "out.tti", stages)
    yield Job("compile-cached", ["buda", "compile", model, "-q", "--cache", store, "-o", "out.tti"], "out.tti", store)
    yield Job("run", ["buda", "run", root / "a.tti", "--inputs", inputs, "-q", "-o", "out.npz"], "out.npz")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--inputs", required=True, type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=100)
    options = parser.parse_args()
    environment = {**os.environ, "PATH": f"{options.build.resolve() / 'bin'}:{os.environ['PATH']}"}
    problems = []
    with tempfile.TemporaryDirectory() as work:
        temporary = pathlib.Path(work, "tmp")
        temporary.mkdir()
        environment["TMPDIR"] = str(temporary)
        for job in jobs(pathlib.Path(work), options.model.resolve(), options.inputs.resolve(), environment):
            problems += kill_often(job, slices.share(options.kills), environment, pathlib.Path(work))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
