#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Powers with exponents that are known when they run, on the chip where their ranges are promised: of numbers that are never negative, and of any with small integers.

    powers.py BUILD_DIR

Next to numpy in float64, on n150 and e150, in golden's modes exact and bits. Bases have 8 significant bits, as the chip's numbers; a result may be off by what the exponent makes of
the rounding of a logarithm. Exit code 77 without numpy or onnx.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from onnx import TensorProto, helper, save
except ImportError as missing:
    sys.exit(print(f"skipped: {missing}") or 77)

RNG = np.random.default_rng(45)
SHAPE = (3, 37)
KINDS = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "int64": TensorProto.INT64, "uint8": TensorProto.UINT8}


def bases(least, most):
    x = RNG.uniform(least, most, SHAPE).astype(np.float32)
    x = (x.view(np.uint32) & 0xFFFF0000).view(np.float32)
    x[0, :4] = [0, 1, max(least, -1), 2]
    return x


def integers(least, most, dtype):
    n = RNG.integers(least, most + 1, SHAPE).astype(dtype)
    n[0, :2] = [0, most]
    return n


# name: bases, exponents, promised ranges
CASES = {
    "positive": (bases(0, 4), RNG.uniform(-2, 2, SHAPE).astype(np.float32), ["x=0:4"]),
    "positive_integers": (bases(0, 4), integers(-3, 4, np.int64), ["x=0:4", "n=-3:4"]),
    "any_small": (bases(-2, 2), integers(-4, 5, np.int32), ["n=-4:5"]),
    "any_of_16": (bases(-2, 2), integers(-16, 16, np.int64), ["n=-16:16"]),
    "any_unsigned": (bases(-2, 2), integers(0, 9, np.uint8), ["n=0:9"]),
}


def model(exponents, path):
    def info(name, kind):
        return helper.make_tensor_value_info(name, kind, SHAPE)

    graph = helper.make_graph([helper.make_node("Pow", ["x", "n"], ["y"])], "powers", [info("x", TensorProto.FLOAT), info("n", KINDS[str(exponents.dtype)])],
                              [info("y", TensorProto.FLOAT)])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
    made.ir_version = 8
    save(made, path)


def wrong(x, n, got):
    """What is not within the error of a logarithm with 8 bits, or has the wrong sign."""
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), n.astype(np.float64))
        size = np.abs(n * np.log(np.abs(np.where(x == 0, 1, x)))) + 1
        off = np.abs(got - expected) > np.abs(expected) * 2 ** -7 * size
    finite = np.isfinite(expected)
    return np.argwhere((finite & (off | (np.sign(got) != np.sign(expected)))) | (np.isinf(expected) & (got != expected)))


def check(name, tools, folder):
    x, n, promises = CASES[name]
    model(n, folder / "model.onnx")
    np.savez(folder / "inputs.npz", x=x, n=n)
    problems = []
    for device in ("n150", "e150"):
        ranges = [word for promise in promises for word in ("--value-range", promise)]
        done = subprocess.run([tools / "buda", "compile", folder / "model.onnx", "-o", folder / "model.tti", "--device", device, *ranges], capture_output=True, text=True, check=False)
        if done.returncode != 0 or " on the host" in done.stderr:
            problems.append(f"{name} on {device}: {done.stderr[-800:]}")
            continue
        for mode in ("exact", "bits"):
            subprocess.run([tools / "buda", "run", folder / "model.tti", "--inputs", folder / "inputs.npz", "-o", folder / "outputs.npz", "-q", "--set", f"target.golden.mode={mode}"], check=True)
            with np.load(folder / "outputs.npz") as outputs:
                got = outputs["y"].astype(np.float64)
            problems += [f"{name} on {device}, {mode}: {x[tuple(i)]} to the power of {n[tuple(i)]} is {got[tuple(i)]}" for i in wrong(x, n, got)]
    return problems


def main():
    tools = pathlib.Path(sys.argv[1]).resolve() / "bin"
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            problems += check(name, tools, pathlib.Path(folder))
    print("\n".join(problems) or f"{len(CASES)} models on two devices as expected")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
