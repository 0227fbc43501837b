#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what target golden costs grows with the number of ops and the size of tensors, and no faster.

    golden_growth.py --build BUILD_DIR [--limit 1.5]

A chain of products and additions, in both modes: 8 and 32 of them on the same tensors, and the same 8 on tensors of 4 and 16 times as many rows. A time is
the difference between few and many inputs, so that reading and loading do not count. Exit code 1 when a step of 4 costs more than 4 times the limit.
"""
import argparse
import os
import sys
import tempfile

from golden_encoder import Netlist, processor_seconds

WIDE = 8  # tiles of a row
SPENT = 2048  # links times rows times inputs: small networks run for more inputs, so that all take about as long


def chain(links, rows, inputs):
    n = Netlist(inputs)
    x = n.queue("x", "HOST", (1, rows, WIDE))
    weights, bias = n.ram("w", 1, WIDE, WIDE), n.ram("b", 1, rows, WIDE)
    for i in range(links):
        x = n.matmul(f"mm{i}", (1, rows, WIDE), x, weights, WIDE)
        x = n.op(f"add{i}", "add", (1, rows, WIDE), [x, bias])
    n.queue("y", x, (1, rows, WIDE))
    return n.text()


def seconds(build, folder, links, rows, mode):
    few, many = 1, 1 + max(24, SPENT // (links * rows))
    spent = {}
    for inputs in (few, many):
        path = os.path.join(folder, "chain.yaml")
        with open(path, "w") as f:
            f.write(chain(links, rows, inputs))
        spent[inputs] = processor_seconds([os.path.join(build, "bin", "runner"), path, "--stimulus", "--threads", "1", "--set", f"target.golden.mode={mode}"])
    return (spent[many] - spent[few]) / (many - few)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True)
    p.add_argument("--limit", type=float, default=1.5)
    args = p.parse_args()
    held = True
    with tempfile.TemporaryDirectory() as folder:
        for mode in ("fp32", "exact"):
            for what, steps in (("ops", [(8, 4), (32, 4)]), ("rows", [(8, 4), (8, 16), (8, 64)])):
                before = None
                for links, rows in steps:
                    spent = seconds(args.build, folder, links, rows, mode)
                    ratio = None if before is None else spent / before
                    held = held and (ratio is None or ratio <= 4 * args.limit)
                    print(f"{mode:6} {2 * links:3} ops on {rows:3} x {WIDE} tiles {spent * 1e3:8.2f} ms" + ("" if ratio is None else f"  {ratio:5.2f} times for 4 times the {what}"))
                    before = spent
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
