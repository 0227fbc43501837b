#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Import self-checking StableHLO tests, evaluate them on target cpu, and compare with the values that they expect.

    judge.py BIN_DIR FOLDER [--only PART] [--jobs N] [--list]

FOLDER holds the .mlir files of stablehlo/testdata, or of its folder quantized, of the public repository openxla/stablehlo, which is not part of
this one. Such a file calls check.expect_eq, check.expect_close, check.expect_almost_eq or check.eq with a computed and an expected value; here both
become outputs of the model. Of a file with several modules, the one with such a main function is taken.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import numpy

CHECK = re.compile(r"^\s*(?:%\w+ = )?stablehlo\.custom_call @check\.(expect_\w+|eq)\((%[\w#]+), (%[\w#]+)\).* : \((tensor<.*>), (tensor<.*>)\) -> .*\n", re.M)
MAIN = re.compile(r"func\.func (?:public )?@main\(\)( -> .*?)? \{\n")
MOST_ULPS = 3  # of expect_close
TOLERANCE = 1e-4  # of expect_almost_eq, and of eq, which is about multiples of a scale
TIMEOUT = 120


def with_outputs(text):
    """The checked values as results of @main, and how each pair is compared."""
    text = next((part for part in text.split("// -----") if MAIN.search(part) and CHECK.search(part)), text)
    checks = CHECK.findall(text)
    text = CHECK.sub("", text)
    if not checks or "@check." in text:
        return None, []
    head = MAIN.search(text)
    types = ", ".join(t for check in checks for t in check[3:])
    values = ", ".join(v for check in checks for v in check[1:3])
    start = head.start()
    end = re.compile(r"^    return\b.*\n", re.M).search(text, start)
    text = (text[:start] + f"func.func public @main() -> ({types}) {{\n" + text[head.end():end.start()]
            + f"    return {values} : {types}\n" + text[end.end():])
    return text, [(check[0], check[3].endswith(">>")) for check in checks]


NUMPY_TYPES = {"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4", "U64": "<u8", "I64": "<i8",
               "F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8"}


def read_safetensors(path):
    """Tensors by name, with the name of their type; bfloat16 as its bits."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    out = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            values = numpy.frombuffer(data[8 + length + begin:8 + length + end], NUMPY_TYPES[entry["dtype"]])
            out[name] = entry["dtype"], values.reshape(entry["shape"])
    return out


def ordered(values, dtype):
    """Floating-point numbers as integers whose differences count units of the last place; and which of them are NaN."""
    if dtype == "BF16":
        bits, nan = values.astype(numpy.int64), (values & 0x7FFF) > 0x7F80
        negative, magnitude = bits >> 15, bits & 0x7FFF
    else:
        width = values.dtype.itemsize * 8
        bits = values.view(f"<i{width // 8}").astype(numpy.int64)
        nan, negative = numpy.isnan(values), bits < 0
        magnitude = bits & ((1 << (width - 1)) - 1)
    return numpy.where(negative, -magnitude, magnitude), nan


def as_numbers(values, dtype):
    return (values.astype(numpy.uint32) << 16).view(numpy.float32) if dtype == "BF16" else values


def difference(kind, dtype, actual, expected):
    """What is wrong with a result; empty where it is as expected."""
    if actual.shape != expected.shape:
        return f"shape {actual.shape}, expected {expected.shape}"
    if not dtype.endswith(("F16", "F32", "F64")):
        wrong = actual != expected
    else:
        a, a_nan = ordered(actual, dtype)
        b, b_nan = ordered(expected, dtype)
        same = (a == b) | (a_nan & b_nan)
        if kind == "expect_eq":
            wrong = ~same
        elif kind == "expect_close":
            both_sides = (a < 0) != (b < 0)  # of zero: their difference may not fit in 64 bits
            apart = numpy.where(both_sides, numpy.maximum(numpy.abs(a), numpy.abs(b)), numpy.abs(a - numpy.where(both_sides, a, b)))
            near = (apart <= MOST_ULPS) & ~a_nan & ~b_nan
            wrong = ~(same | near)
        else:
            x, y = as_numbers(actual, dtype).astype(float), as_numbers(expected, dtype).astype(float)
            with numpy.errstate(invalid="ignore"):
                near = numpy.abs(x - y) <= TOLERANCE * numpy.maximum(1, numpy.abs(y))
            wrong = ~(same | near)
    if not wrong.any():
        return ""
    at = tuple(int(i[0]) for i in numpy.nonzero(wrong)) if wrong.ndim else ()
    x, y = as_numbers(actual, dtype)[at], as_numbers(expected, dtype)[at]
    return f"{int(wrong.sum())} of {wrong.size} differ: {x} at {at}, expected {y}"


def judge(bin_dir, path):
    """passed, refused, different or failed, and why."""
    text, checks = with_outputs(path.read_text())
    if text is None:
        return "failed", "has checks of another form"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "m.mlir").write_text(text)
        graph, outputs = folder / "m.graph.json", folder / "out.safetensors"
        try:
            done = subprocess.run([bin_dir / "importer", folder / "m.mlir", "-o", graph], capture_output=True, text=True, timeout=TIMEOUT)
            if done.returncode not in (0, 1, 2):
                return "failed", f"the importer ends with {done.returncode}: {done.stderr[-300:]}"
            if done.returncode != 0:
                return "refused", done.stderr.replace(str(folder / "m.mlir"), "m.mlir").strip().split("\n")[0]
            done = subprocess.run([bin_dir / "runner", graph, "-o", outputs], capture_output=True, text=True, timeout=TIMEOUT)
            if done.returncode != 0:
                return "failed", f"the runner: {done.stderr.strip()[:300]}"
        except subprocess.TimeoutExpired:
            return "failed", f"takes more than {TIMEOUT} s"
        tensors = read_safetensors(outputs)
    for i, (kind, is_complex) in enumerate(checks):
        for part in (".real", ".imag") if is_complex else ("",):
            dtype, actual = tensors[f"result{2 * i}{part}"]
            wrong = difference(kind, dtype, actual, tensors[f"result{2 * i + 1}{part}"][1])
            if wrong:
                return "different", f"{kind}{part}: {wrong}"
    return "passed", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="what does not pass, file by file")
    options = parser.parse_args()
    files = sorted(p for p in options.folder.glob("*.mlir") if options.only in p.name)
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, (verdict, why) in zip(files, pool.map(lambda p: judge(options.bin_dir, p), files)):
            counts[verdict] += 1
            if options.list and verdict != "passed":
                print(f"{verdict}\t{path.name}\t{why}", flush=True)
    print(f"{len(files)} files: {', '.join(f'{counts[v]} {v}' for v in ('passed', 'refused', 'different', 'failed'))}")
    return 0 if counts["passed"] == len(files) else 1


if __name__ == "__main__":
    sys.exit(main())
