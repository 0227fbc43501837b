#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sums and differences with constants that are multiplied hardly have a trend on n150, in default formats: they are rounded with the product.

    shifts.py BUILD_DIR

Each case is an expression of normal numbers x and y with a drawn constant. All are compiled as one graph, at -O1 and -O2, and run with the arithmetic
of the chip. The trend of a result is by how much it is too large on average, weighted by its square: its projection on the same in float64, less 1.
Ends with 77 without NumPy.
"""
import json
import pathlib
import sys
import tempfile

from tools import Failed, run

try:
    import numpy
except ImportError:
    sys.exit(77)

from sums import rounded, value

SHAPE = (1, 1, 256, 256)
DRAWN = 3
# Rounded before the product, these sums have trends of 0.06 to 0.14 %.
LARGEST_TREND = 3e-4
# Products with the bound of a clip, a number of few bits, end in halves themselves.
LARGEST_CLIPPED = 1e-3
# A product that is multiplied again is cut off after 11 bits, and HiFi3 leaves out what their low bits add. With a factor of 8 bits it was 0.27 %.
LARGEST_SCALED = 1.5e-3


class Expression:
    """A list of steps (name, op, inputs, attributes), with constants, its value in float64, and its largest trend."""

    def __init__(self, steps, constants, compute, largest=LARGEST_TREND):
        self.steps, self.constants, self.compute, self.largest = steps, constants, compute, largest


def expressions(constants, top):
    """Of five constants, one each, since a sum that several products of the graph share is an op of its own, and of the bound of a clip."""
    c, of_gate, of_difference, of_clip, of_swish = constants
    clip = {"min": 0.0, "max": top}
    gate = [("a", "add", ["x", "c"], {}), ("b", "clip", ["a"], clip)]
    return {
        "sum": Expression([("a", "add", ["x", "c"], {}), ("r", "multiply", ["x", "a"], {})], {"c": c}, lambda x, y: x * (x + c)),
        "gate": Expression([("a", "subtract", ["c", "y"], {}), ("r", "multiply", ["a", "x"], {})], {"c": of_gate}, lambda x, y: (of_gate - y) * x),
        "difference": Expression([("a", "subtract", ["x", "c"], {}), ("r", "multiply", ["y", "a"], {})], {"c": of_difference}, lambda x, y: y * (x - of_difference)),
        "clipped": Expression(gate + [("r", "multiply", ["x", "b"], {})], {"c": of_clip}, lambda x, y: x * numpy.clip(x + of_clip, 0, top), LARGEST_CLIPPED),
        "hard_swish": Expression(gate + [("d", "multiply", ["x", "b"], {}), ("r", "multiply", ["d", "k"], {})], {"c": of_swish, "k": 1 / top},
                                 lambda x, y: x * numpy.clip(x + of_swish, 0, top) / top, LARGEST_SCALED),
    }


def graph_of(cases):
    nodes, tensors = [value("x", SHAPE), value("y", SHAPE)], []
    for case, expression in cases.items():
        def named(name):
            return name if name in ("x", "y") else f"{case}.{name}"
        for name, number in expression.constants.items():
            nodes.append({"name": named(name), "op": "constant", "types": [{"dtype": "F32", "shape": []}], "value": named(name)})
            tensors.append({"name": named(name), "dtype": "F32", "shape": [], "values": [number]})
        for name, op, inputs, attrs in expression.steps:
            nodes.append({"name": named(name), "op": op, "inputs": [named(i) for i in inputs], **({"attrs": attrs} if attrs else {})})
        nodes.append({"name": case, "op": "output", "inputs": [named("r")]})
    return {"schema": "buda.graph/1", "name": "shifts", "level": "tensor", "nodes": nodes, "tensors": tensors}


def main():
    build, rng = pathlib.Path(sys.argv[1]), numpy.random.default_rng(48)
    inputs = {name: rounded(rng.standard_normal(SHAPE).astype(numpy.float32)) for name in ("x", "y")}
    # Constants of few bits, so that they are exact; factors that are not.
    drawn, cases = (rng.permutation(15 * DRAWN) + 1) / 16, {}
    for i in range(DRAWN):
        of_case = [float(c) for c in drawn[5 * i:5 * i + 5]]
        cases.update({f"{name}{i}": e for name, e in expressions(of_case, float(rng.choice([3, 6, 7, 11]))).items()})
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "shifts.graph.json").write_text(json.dumps(graph_of(cases)))
        numpy.savez(folder / "inputs.npz", **inputs)
        for level in ("-O1", "-O2"):
            run(build / "bin/buda", "compile", folder / "shifts.graph.json", "-o", folder / "shifts.tti", "--device", "n150", level, "-q")
            run(build / "bin/buda", "run", folder / "shifts.tti", "--inputs", folder / "inputs.npz", "-o", folder / "outputs.npz", "-q",
                "--set", "target.golden.mode=bits")
            outputs = numpy.load(folder / "outputs.npz")
            for case, expression in cases.items():
                exact = expression.compute(*(x.astype(numpy.float64) for x in inputs.values()))
                trend = (outputs[case] * exact).sum() / (exact * exact).sum() - 1
                print(f"{level} {case}: {expression.constants}, trend {100 * trend:+.4f} %")
                if abs(trend) > expression.largest:
                    bad.append(f"{level} {case}")
    if bad:
        raise Failed(f"too large a trend: {', '.join(bad)}")


if __name__ == "__main__":
    try:
        main()
    except Failed as e:
        sys.exit(f"shifts.py: {e}")
