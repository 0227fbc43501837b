#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sums of many numbers of one sign on golden, in default formats: no sum stalls, and exact agrees with bits.

    sums.py BUILD_DIR [--long] [--device NAME]... [--only PATTERN]

Each case is a small graph whose terms are all positive. It is compiled with default options for each device, runs with the arithmetic of the chip
(mode bits) and in the default mode (exact), and is compared with float64. --long: up to 10^6 terms, which takes some minutes. Ends with 77 without NumPy.
"""
import argparse
import itertools
import json
import pathlib
import re
import sys
import tempfile

from tools import Failed, run

try:
    import numpy
except ImportError:
    sys.exit(77)

SHORT = [1009]
LONG = [10, 31, 100, 1009, 4096, 10007, 65536, 1000000]
# Where the leading bits, the tiles or the terms of a window divide badly.
ODD_INNER = [64, 257, 521, 2053, 4099, 7919, 9001, 12007, 20011, 40009]
ODD_WINDOWS = [5, 7, 8, 11, 13, 17, 23, 29]
# Of the root mean square of all outputs, with what the inputs lose; and of each output without.
LARGEST_ERROR = 0.01


def value(name, shape):
    return {"name": name, "op": "input", "types": [{"dtype": "F32", "shape": list(shape)}]}


def rounded(x):
    """The nearest numbers of Float16_b."""
    bits = x.view(numpy.uint32)
    return (bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)


class Case:
    """One op on positive numbers; `compute` is its meaning in float64. Of lines that are divided by a sum the factor of each line is judged."""

    def __init__(self, name, shapes, op, attrs, compute, by_lines=False):
        self.name, self.op, self.attrs, self.compute, self.by_lines = name, op, attrs, compute, by_lines
        rng = numpy.random.default_rng(len(name) + sum(map(sum, shapes)))
        self.inputs = {f"x{i}": rng.random(shape).astype(numpy.float32) for i, shape in enumerate(shapes)}

    def graph(self):
        nodes = [value(name, x.shape) for name, x in self.inputs.items()]
        op = {"name": "op", "op": self.op, "inputs": list(self.inputs)}
        if self.attrs:
            op["attrs"] = self.attrs
        return {"schema": "buda.graph/1", "name": self.name, "level": "tensor", "nodes": nodes + [op, {"name": "y", "op": "output", "inputs": ["op"]}]}

    def expected(self):
        return self.compute(*(x.astype(numpy.float64) for x in self.inputs.values()))

    def expected_of_held(self):
        """Of the inputs as a device holds them: the host rounds them to 16 bits, ties to even."""
        return self.compute(*(rounded(x).astype(numpy.float64) for x in self.inputs.values()))


def product(n):
    return Case(f"product-{n}", [(7, n), (n, 9)], "matmul", {}, lambda a, b: a @ b)


def pool(side, channels, windows):
    attrs = {"kernel": [side, side], "stride": [side, side]}
    return Case(f"pool-{channels}x{windows}x{side}", [(1, channels, windows * side, windows * side)], "avg_pool2d", attrs,
                lambda x: x.reshape(1, channels, windows, side, windows, side).mean((3, 5)))


def softmax(x):
    e = numpy.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def layernorm(x):
    return (x - x.mean(1, keepdims=True)) / numpy.sqrt(x.var(1, keepdims=True) + 1e-5)


def convolution(x, w):
    rows, columns = x.shape[2] - 2, x.shape[3] - 2
    return sum(numpy.einsum("nchw,oc->nohw", x[:, :, i:i + rows, j:j + columns], w[:, :, i, j]) for i in range(3) for j in range(3))


def cases(terms):
    for n in terms:
        half = max(2, round(n**0.5))
        yield Case(f"sum-columns-{n}", [(5, n)], "reduce_sum", {"dims": [1]}, lambda x: x.sum(1, keepdims=True))
        yield Case(f"sum-rows-{n}", [(n, 5)], "reduce_sum", {"dims": [0]}, lambda x: x.sum(0, keepdims=True))
        yield Case(f"sum-both-{n}", [(half, half)], "reduce_sum", {"dims": [0, 1]}, lambda x: x.sum((0, 1), keepdims=True))
        yield Case(f"mean-{n}", [(3, n)], "reduce_avg", {"dims": [1]}, lambda x: x.mean(1, keepdims=True))
        if n <= 65536:
            yield product(n)
        if n <= 10007:
            yield Case(f"batch-{n}", [(3, 4, n), (3, n, 5)], "matmul", {}, lambda a, b: a @ b)
        if n <= 4096:
            yield Case(f"softmax-{n}", [(5, n)], "softmax", {"dim": 1}, softmax, by_lines=True)
            yield Case(f"layernorm-{n}", [(5, n)], "layernorm", {}, layernorm, by_lines=True)
            channels = max(1, n // 9)
            yield Case(f"convolution-{n}", [(1, channels, 7, 6), (4, channels, 3, 3)], "conv2d", {}, convolution)
            yield Case(f"global-pool-{n}", [(1, 3, half, half)], "avg_pool2d", {"kernel": [half, half]}, lambda x: x.mean((2, 3), keepdims=True))
        if n <= 1009:
            yield Case(f"slices-{n}", [(n, 4, 6)], "reduce_sum", {"dims": [0]}, lambda x: x.sum(0, keepdims=True))
            yield Case(f"running-{n}", [(3, n)], "cumsum", {"dim": 1}, lambda x: x.cumsum(1))
            yield pool(half, 2, 2)


def odd_cases():
    for n in ODD_INNER:
        yield product(n)
        if n <= 12007:
            yield Case(f"batch-{n}", [(3, 4, n), (3, n, 5)], "matmul", {}, lambda a, b: a @ b)
    for side in ODD_WINDOWS:
        yield pool(side, 2, 2)
        yield pool(side, 5, 3)


class Failures:
    def __init__(self):
        self.count = 0

    def check(self, case, device, mode, got):
        expected = case.expected()
        held, got = case.expected_of_held(), got.astype(numpy.float64).reshape(expected.shape)
        if case.by_lines:
            # What a line is wrong by as a whole is its sum's fault.
            got = (got * held).sum(1, keepdims=True) / (held**2).sum(1, keepdims=True)
            expected = held = numpy.ones_like(got)
        error = got - expected
        single = float(numpy.max(numpy.abs(got / held - 1)))
        mean = float(numpy.sqrt(numpy.mean(error**2) / numpy.mean(expected**2)))
        wrong = mean > LARGEST_ERROR or single > LARGEST_ERROR
        self.count += wrong
        print(f"{case.name:20} {device:5} {mode:5} mean {mean:8.3%} largest {single:8.3%}{'  WRONG' if wrong else ''}", flush=True)


def try_case(case, device, build, work, failures):
    graph, image, outputs = work / "case.graph.json", work / "case.tti", work / "outputs.npz"
    graph.write_text(json.dumps(case.graph()))
    numpy.savez(work / "inputs.npz", **case.inputs)
    run(build / "bin" / "buda", "compile", graph, "-o", image, "--device", device, "-q")
    for mode in ("bits", "exact"):
        run(build / "bin" / "buda", "run", image, "--inputs", work / "inputs.npz", "-o", outputs, "-q", "--set", f"target.golden.mode={mode}")
        with numpy.load(outputs) as archive:
            failures.check(case, device, mode, archive["y"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--device", action="append")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    failures = Failures()
    with tempfile.TemporaryDirectory() as folder:
        for case in itertools.chain(cases(LONG), odd_cases()) if args.long else cases(SHORT):
            for device in args.device or ["n150", "e150"]:
                if not re.search(args.only, case.name):
                    continue
                try:
                    try_case(case, device, args.build, pathlib.Path(folder), failures)
                except Failed as failed:
                    failures.count += 1
                    print(f"{case.name:20} {device:5} {failed}", flush=True)
    print(f"{failures.count} failures")
    return 1 if failures.count else 0


if __name__ == "__main__":
    sys.exit(main())
