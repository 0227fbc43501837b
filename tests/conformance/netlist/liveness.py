#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""netlist check --liveness has the verdict of target grid.

    liveness.py [--every N] [--seconds S] [--deadlocks N] BUILD_DIR FOLDER

Decides all netlists below FOLDER, and runs those that are said to deadlock, and every Nth of the others, on target grid with generated inputs,
without tiles being checked. Runs that take more than S seconds of processor time are left out. Prints a line for each difference and one of
counts; ends with 1 when something differs, or when not exactly as many deadlock as --deadlocks says; with 77 when FOLDER is not there.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile


def verdicts(tool, files, batch=40):
    """By file, on the first architecture that it names: 'deadlock', 'live', or 'refused' for what breaks a rule or cannot be laid out."""
    out = {}
    for begin in range(0, len(files), batch):
        command = [tool, "check", "--liveness", "-q", "--format", "json", *files[begin:begin + batch]]
        for line in subprocess.run(command, capture_output=True, text=True).stdout.splitlines():
            one = json.loads(line)
            word = "deadlock" if any(c.startswith("LV") for c in one["codes"]) else "live" if one["verdict"] == "ok" else "refused"
            out.setdefault(one["file"], word)  # target grid takes the first architecture
    return out


def on_grid(runner, netlist, seconds, work):
    """'live', 'deadlock', 'refused' or 'late'."""
    command = [runner, netlist, "--bare", "--stimulus", "--target", "grid", "--set", "target.grid.values=off", "-o", work / "out.npz"]
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    if done.returncode == 0:
        return "live"
    if done.returncode < 0:
        return "late"
    return "deadlock" if "[SM003]" in done.stderr or "[SM017]" in done.stderr else "refused"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--deadlocks", type=int)
    parser.add_argument("build")
    parser.add_argument("folder")
    args = parser.parse_args()
    if not pathlib.Path(args.folder).is_dir():
        sys.exit(77)
    tools = pathlib.Path(args.build) / "bin"
    files = sorted(str(p) for p in pathlib.Path(args.folder).rglob("*.yaml"))
    decided = verdicts(tools / "netlist", files)
    dead = [f for f in files if decided.get(f) == "deadlock"]
    others = [f for f in files if decided.get(f) == "live"][::args.every]
    differ = late = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in dead + others:
            grid = on_grid(tools / "runner", file, args.seconds, pathlib.Path(folder))
            late += grid == "late"
            if grid not in (decided[file], "late"):
                differ += 1
                print(f"{file}: {decided[file]}, and on target grid {grid}")
    print(f"{len(files)} netlists: {len(dead)} deadlock; {len(dead) + len(others) - late} were run, {differ} differ")
    if args.deadlocks is not None and len(dead) != args.deadlocks:
        print(f"{args.deadlocks} should deadlock")
        differ += 1
    sys.exit(1 if differ or not files else 0)


if __name__ == "__main__":
    main()
