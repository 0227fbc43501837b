#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a plan for a chip with one row of workers more is ever slower.

    larger_grids.py --build BUILD_DIR GRAPH... [--microbatch N,...] [--option=OPTION ...]

Each device graph is placed on n150 with 5 to 9 rows of workers, the others harvested, and the cycles of the plans are printed. Exit code 1 when a plan for more
rows takes longer. Options go to the balancer: --option=--effort=2.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

WORKER_ROWS, FEWEST = 10, 5


def cycles(args, graph, microbatch, rows, folder):
    base = os.path.join(folder, f"{os.path.basename(graph)}.{microbatch}.{rows}")
    harvested = ",".join(str(row) for row in range(1, WORKER_ROWS - rows + 1))
    subprocess.run([os.path.join(args.build, "bin", "balancer"), graph, "--device", "n150", "--harvested-rows", harvested, "--microbatch", str(microbatch),
                    "--threads", "1", "-q", "-o", base + ".yaml", "--report", base + ".json", *args.option], check=True)
    with open(base + ".json") as report:
        return json.load(report)["totals"]["cycles"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    parser.add_argument("--microbatch", default="1,16,64")
    parser.add_argument("--option", action="append", default=[])
    args = parser.parse_args()
    all_rows = range(FEWEST, WORKER_ROWS)
    cases = [(graph, int(n)) for graph in args.graphs for n in args.microbatch.split(",")]
    slower = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        plans = [[pool.submit(cycles, args, graph, n, rows, folder) for rows in all_rows] for graph, n in cases]
        for (graph, n), futures in zip(cases, plans):
            found = [future.result() for future in futures]
            worse = [rows + 1 for rows, a, b in zip(all_rows, found, found[1:]) if b > a]
            slower += len(worse)
            print(f"{os.path.basename(graph)} x {n}: " + "  ".join(f"{rows} rows {c / 1e6:.3f}M" for rows, c in zip(all_rows, found))
                  + "".join(f"  slower with {rows} rows" for rows in worse), flush=True)
    pairs = len(cases) * (len(all_rows) - 1)
    print(f"{slower} of {pairs} pairs are slower with one row more")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
