#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the kernels with undefined behaviour (tests/unit/tensix/undefined) on Tenstorrent's simulator, which finds some of it.

    undefined.py --build BUILD_DIR --library libttsim.so

Of each: how the simulator ends, or that it goes on. By hand, for the library is not part of this repository; unit.tensix has what target tensix says of them.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "unit/tensix/undefined"
NETLIST = """devices: {{arch: wormhole_b0}}
queues:
  a: {{type: queue, input: HOST, entries: 1, grid_size: [1, 1], t: {t}, mblock: [1, 1], ublock: [1, 1], ublock_order: r, df: Float16_b, target_device: 0, loc: dram, dram: [[0, 0x10000000]]}}
  out: {{type: queue, input: op, entries: 1, grid_size: [1, 1], t: {t}, mblock: [1, 1], ublock: [1, 1], ublock_order: r, df: Float16_b, target_device: 0, loc: dram, dram: [[0, 0x12000000]]}}
graphs:
  g:
    target_device: 0
    input_count: 1
    op: {{type: nop, grid_loc: [0, 0], grid_size: [1, 1], inputs: [a], in_df: [Float16_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi4, t: {t}, mblock: [1, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2}}
programs:
  - main:
    - execute: {{graph_name: g, queue_settings: {{a: {{prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}}}}}}
"""


def cases():
    """Numbers, which are the counts of tiles that lead to them, and classes."""
    number = 0
    for line in (FOLDER / "undefined.h").read_text().splitlines():
        begins, found = re.match(r" *case (\d+):", line), re.match(r".*// ([a-z]+-?[a-z]*)$", line)
        number = int(begins[1]) if begins else number
        if number and found:
            yield number, found[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--library", required=True)
    args = parser.parse_args()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        net = pathlib.Path(scratch) / "net.yaml"
        for number, check in cases():
            net.write_text(NETLIST.format(t=number))
            command = [args.build / "bin/runner", net, "--bare", "--stimulus", "--target", "ttsim", "-o", f"{scratch}/out.npz", "-q"]
            for option in (f"library={args.library}", f"kernel-path={FOLDER}", f"cache={scratch}/store"):
                command += ["--set", f"target.ttsim.{option}"]
            said = subprocess.run(command, capture_output=True, text=True)
            error = re.search(r"ERROR: (.*)", said.stdout + said.stderr)
            counts[check, "found" if error else "not found"] += 1
            print(f"{number:3} {check}: {error[1] if error else 'goes on'}")
    for (check, what), count in sorted(counts.items()):
        print(f"{count:5} {check} {what}")
    if sum(count for (_, what), count in counts.items() if what == "found") == 0:
        sys.exit("nothing was found")


if __name__ == "__main__":
    main()
