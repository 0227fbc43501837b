#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What --accuracy reaches holds in both modes of golden in which people run an image: `bits`, in which it is measured, and `exact`.

    accuracy_modes.py BUILD_DIR [FIRST:LAST]

Small networks with one output, whose error is near the limit: sums in another order put it on the other side. Ends with 77 without NumPy.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from tools import Failed, run

try:
    import numpy
except ImportError:
    sys.exit(77)

# Of the first two `bits` alone would be content with what `exact` is not.
SEEDS = [34, 87, 0]


def network(seed, work):
    """Writes a graph, its input, and what it gives in float64."""
    rng = numpy.random.default_rng(seed)
    x = rng.standard_normal((1, 96)).astype(numpy.float32)
    w = rng.standard_normal((96, 64)).astype(numpy.float32) / 8
    v = rng.standard_normal((64, 1)).astype(numpy.float32) / 8
    nodes = [{"name": "x", "op": "input", "types": [{"dtype": "F32", "shape": [1, 96]}]}]
    nodes += [{"name": n, "op": "parameter", "types": [{"dtype": "F32", "shape": list(a.shape)}], "value": n} for n, a in (("w", w), ("v", v))]
    nodes += [{"name": "first", "op": "matmul", "inputs": ["x", "w"]}, {"name": "bent", "op": "tanh", "inputs": ["first"]},
              {"name": "second", "op": "matmul", "inputs": ["bent", "v"]}, {"name": "y", "op": "output", "inputs": ["second"]}]
    tensors = [{"name": n, "dtype": "F32", "shape": list(a.shape), "values": a.ravel().tolist()} for n, a in (("w", w), ("v", v))]
    (work / "net.graph.json").write_text(json.dumps({"schema": "buda.graph/1", "name": "net", "level": "tensor", "nodes": nodes, "tensors": tensors}))
    numpy.savez(work / "x.npz", x=x)
    y = numpy.tanh(x.astype(numpy.float64) @ w) @ v
    numpy.savez(work / "y.npz", y=y.astype(numpy.float32))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    seeds = range(*map(int, sys.argv[2].split(":"))) if len(sys.argv) > 2 else SEEDS
    problems = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for seed in seeds:
            network(seed, work)
            try:
                run(build / "bin" / "buda", "compile", work / "net.graph.json", "-o", work / "net.tti", "--device", "n150", "-q", "--accuracy", "0.99",
                    "--calibrate", work / "x.npz", "--expect", work / "y.npz")
            except Failed as failed:
                problems += 1
                print(f"seed {seed}: {failed}")
                continue
            for mode in ("bits", "exact"):
                command = [build / "bin" / "buda", "run", work / "net.tti", "--inputs", work / "x.npz", "--expect", work / "y.npz", "-q",
                           "--set", f"target.golden.mode={mode}"]
                if subprocess.run(command, capture_output=True).returncode != 0:
                    problems += 1
                    print(f"seed {seed}: not as expected in mode {mode}")
    print(f"{len(seeds)} networks, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
