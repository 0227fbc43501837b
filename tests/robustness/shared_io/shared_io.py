#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An image in one process, its inputs and outputs in two others: with bounded memory, and with each of them killed at random moments.

    shared_io.py --build BUILD_DIR [--inputs N] [--kills N]

A killed process leaves the other two with an error, within seconds, and no result is wrong.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import time

MODEL = """{"schema": "buda.graph/1", "name": "twice", "level": "tensor", "nodes": [
 {"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [1, 32]}]},
 {"name": "y", "op": "add", "inputs": ["x", "x"]}, {"name": "r", "op": "relu", "inputs": ["y"]}, {"name": "out", "op": "output", "inputs": ["r"]}]}
"""
# Where the model runs, by options of the compiler.
PLACES = {"device": [], "device and host": ["--cpu-fallback-ops", "relu"]}


class Processes:
    def __init__(self, build, image, name, inputs):
        start = lambda *arguments: subprocess.Popen([build / "tests/shared_io", build, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.all = {"serve": start("serve", name, image), "push": start("push", name, str(inputs)), "pop": start("pop", name)}

    def ended(self, what, seconds=30):
        """Exit code and output; a hang ends the test."""
        process = self.all[what]
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill_all()
            sys.exit(f"{what} hangs")
        return process.returncode, out.strip(), err.strip()

    def kill_all(self):
        for process in self.all.values():
            process.kill()


def whole_run(build, image, name, inputs):
    """Peak memory of the process that serves, in KiB, and the time that it took."""
    begin = time.monotonic()
    processes = Processes(build, image, name, inputs)
    ends = {what: processes.ended(what, 300) for what in ("push", "pop", "serve")}
    if any(code != 0 for code, _, _ in ends.values()) or int(ends["pop"][1]) != inputs:
        sys.exit(f"{inputs} inputs: {ends}")
    return int(ends["serve"][1].split()[1]), time.monotonic() - begin


def kill_one(build, image, name, victim, after):
    processes = Processes(build, image, name, 10**9)
    time.sleep(after)
    processes.all[victim].kill()
    ends = {what: processes.ended(what) for what in processes.all}
    for what, (code, out, err) in ends.items():
        if what == victim:
            continue
        if code != 1 or not err:
            sys.exit(f"{victim} was killed after {after:.3f} s, and {what} ended with {code}: {out} {err}")
    return ends


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--inputs", type=int, default=10000)
    parser.add_argument("--kills", type=int, default=100)
    o = parser.parse_args()
    build = o.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "twice.graph.json"
        model.write_text(MODEL)
        name = f"openbuda-test-{pathlib.Path(folder).name}"
        images = []
        for place, options in PLACES.items():
            image = pathlib.Path(folder) / f"{len(images)}.tti"
            subprocess.run([build / "bin/buda", "compile", model, "-o", image, "-q", *options], check=True)
            few, _ = whole_run(build, image, name, 100)
            many, seconds = whole_run(build, image, name, o.inputs)
            print(f"{place}: {o.inputs} inputs in {seconds:.1f} s; peak memory {few} KiB after 100 of them, {many} KiB after all")
            if many > few + 4096:
                sys.exit("memory grows with the number of inputs")
            images.append(image)
        rng = random.Random(20)
        said = set()
        for i in range(o.kills):
            victim = ("serve", "push", "pop")[i % 3]
            ends = kill_one(build, images[i // 3 % len(images)], name, victim, rng.uniform(0.15, 0.4) if i % 10 else rng.uniform(0, 0.1))
            said |= {f"{victim} killed, {what}: {err}" for what, (_, _, err) in ends.items() if what != victim}
        # What the last killed process has left: its name is replaced by the next that uses it, and here there is none.
        pathlib.Path("/dev/shm", name).unlink(missing_ok=True)
        print("\n".join(sorted(said)))
        print(f"{o.kills} kills: the others ended with an error")


if __name__ == "__main__":
    main()
