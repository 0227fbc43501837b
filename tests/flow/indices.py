#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An index outside of its table is an error of the run, whatever op takes it and on whatever device; legal ones give what target cpu gives.

    indices.py BUILD_DIR [--count N]

Tables of random sizes, in graphs of gathers and scatters whose indices are an input that is moved. Ends with 77 without NumPy.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from tools import Failed, run

try:
    import numpy as np
except ImportError as missing:
    sys.exit(print(f"skipped: {missing}") or 77)

SEED = 4501


def shuffled_columns(rng, size, rows, columns):
    """Indices of a scatter: none is twice in a column."""
    return np.stack([rng.permutation(size)[:rows] for _ in range(columns)], 1)


def cases(rng):
    """Name, op, shapes of its operands but the indices, attributes, legal indices, size of the table."""
    n, m = (int(v) for v in rng.integers(5, 41, 2))
    below = lambda *shape: rng.integers(-n, n, shape)
    yield "gather", "gather", [[n, m]], {"dim": 0}, below(3), n
    yield "gather-last", "gather", [[m, n]], {"dim": 1}, below(2, 3), n
    yield "elements", "gather_elements", [[n, m]], {"dim": 0}, below(4, m), n
    yield "nd", "gather_nd", [[n, m]], {}, below(5, 1), n
    yield "nd-both", "gather_nd", [[n, n]], {}, below(5, 2), n
    yield "put", "scatter_elements", [[n, m], [4, m]], {"dim": 0}, shuffled_columns(rng, n, 4, m), n
    yield "put-nd", "scatter_nd", [[n, m], [3, m]], {}, rng.permutation(n)[:3, None], n


def write(work, op, shapes, attributes, indices):
    """The graph; its indices come as a line."""
    others = [{"name": f"x{k}", "op": "input", "types": [{"dtype": "F32", "shape": shape}]} for k, shape in enumerate(shapes)]
    line = {"name": "i", "op": "input", "types": [{"dtype": "I32", "shape": [int(indices.size)]}]}
    nodes = [*others, line, {"name": "at", "op": "reshape", "inputs": ["i"], "attrs": {"shape": list(indices.shape)}},
             {"name": "y", "op": op, "inputs": ["x0", "at", *(n["name"] for n in others[1:])], "attrs": attributes},
             {"name": "out", "op": "output", "inputs": ["y"]}]
    (work / "m.graph.json").write_text(json.dumps({"schema": "buda.graph/1", "name": "m", "level": "tensor", "nodes": nodes}))


def problems_of(tools, work, rng, case, device):
    name, op, shapes, attributes, legal, size = case
    write(work, op, shapes, attributes, legal)
    given = {f"x{k}": rng.standard_normal(shape).astype(np.float32) for k, shape in enumerate(shapes)}
    np.savez(work / "legal.npz", i=legal.ravel().astype(np.int32), **given)
    run(tools / "buda", "compile", work / "m.graph.json", "-o", work / "m.tti", "--device", device, "-q")
    run(tools / "runner", work / "m.graph.json", "--inputs", work / "legal.npz", "-o", work / "y.npz", "-q")
    run(tools / "buda", "run", work / "m.tti", "--inputs", work / "legal.npz", "--expect", work / "y.npz", "-q")
    for outside in (size, -size - 1, 2**31 - 1, -2**31):
        wrong = legal.ravel().astype(np.int32)
        wrong[rng.integers(wrong.size)] = outside
        np.savez(work / "wrong.npz", i=wrong, **given)
        done = subprocess.run([tools / "buda", "run", work / "m.tti", "--inputs", work / "wrong.npz", "-q", "-o", work / "z.npz"], capture_output=True, text=True)
        if done.returncode != 1 or f"'i' has the element {outside} at" not in done.stderr or "'y' takes indices from" not in done.stderr:
            yield f"{name} of {shapes} on {device}: index {outside} of a table of {size}: exit {done.returncode} {done.stderr}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=1)
    args = parser.parse_args()
    rng, found, tried = np.random.default_rng(SEED), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.count):
            for case in cases(rng):
                for device in ("n150", "e150"):
                    tried += 1
                    try:
                        found += problems_of(args.build.resolve() / "bin", pathlib.Path(folder), rng, case, device)
                    except Failed as failed:
                        found.append(f"{case[0]} of {case[2]} on {device}: {failed}")
    print("\n".join(found))
    print(f"{tried} graphs, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
