#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Target grid, with values, has the bits of target golden, whatever time its parts take.

    exact.py [--every N] [--most-bytes BYTES] [--seconds S] [--seeds N] BUILD_DIR FOLDER

Runs the netlists below FOLDER, or every Nth of them that are not larger, on both targets with generated inputs, on grid with durations that
vary, with N seeds one after the other. Left out are those that golden refuses or does not end within S seconds of processor time, those that
have no stream programs or whose stream programs end in a deadlock, and those whose queues overlap in memory (NL206), so that what a queue
holds depends on time. Prints a line for each difference and one of counts; ends with 1 when something differs, with 77 when FOLDER is not
there.
"""
import argparse
import collections
import pathlib
import resource
import subprocess
import sys
import tempfile

# Deadlocks, and what is not executed yet: docs/plugins/grid.md has their numbers.
NOT_EXECUTED = ("grid: SM001", "grid: SM003")


def run(runner, netlist, out, seconds, *options):
    """'ended', 'late', or the code of the first error; and what it has printed."""
    command = [runner, netlist, "--bare", "--stimulus", "-o", out, *options]
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    if done.returncode <= 0:
        return "ended" if done.returncode == 0 else "late", done.stderr
    codes = [line.rsplit("[", 1)[1].rstrip("]") for line in done.stderr.splitlines() if "error:" in line and line.endswith("]")]
    return next(iter(codes), done.stderr.strip()), done.stderr


def outcome(runner, netlist, work, seconds, seeds):
    golden, grid = work / "golden.npz", work / "grid.npz"
    first, said = run(runner, netlist, golden, seconds, "--target", "golden")
    if first != "ended":
        return f"golden: {first}"
    if "[NL206]" in said:
        return "queues overlap"
    for seed in range(18, 18 + seeds):
        second, _ = run(runner, netlist, grid, 10 * seconds, "--target", "grid", "--set", "target.grid.values=exact", "--set",
                        f"target.grid.jitter={seed}")
        if second != "ended":
            return f"grid: {second}"
        if golden.read_bytes() != grid.read_bytes():
            return "different"
    return "equal"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--most-bytes", type=int, default=1 << 30)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    if not args.folder.is_dir():
        return 77
    netlists = [f for f in sorted(args.folder.rglob("*.yaml")) if f.stat().st_size <= args.most_bytes][::args.every]
    counts, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for netlist in netlists:
            what = outcome(args.build / "bin" / "runner", netlist, pathlib.Path(folder), args.seconds, args.seeds)
            counts[what] += 1
            if what == "different" or what.startswith("grid: SM") and what not in NOT_EXECUTED:
                print(f"{netlist}: {what}", flush=True)
                wrong += 1
    print(", ".join(f"{what} {count}" for what, count in sorted(counts.items())))
    return 1 if wrong or counts["equal"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
