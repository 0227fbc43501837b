# SPDX-License-Identifier: Apache-2.0
"""Selections and comparisons of special values, on a chip as IEEE 754 says: where, clip, maximum, minimum, comparisons, powers and searches, of inputs and of what the chip computes.

    special_values.py BUILD_DIR

Models are text of StableHLO; what they have to give is computed here, number by number. `chip` asks for a model that the host does not compute, so that the formulas of the chip are what is tested.
"""
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from native_model import npz

INF, NAN = math.inf, math.nan
LARGEST = 3.3895313892515355e38
SPECIAL = [NAN, INF, -INF, -0.0, 0.0, 1.0, -1.0, LARGEST, -LARGEST, 1.5, -2.5, 2.0 ** -120]
ORDINARY = [v for v in SPECIAL if math.isfinite(v)]
MODES = {"n150": ["exact", "bits", "fp32"], "e150": ["exact"]}


def pairs(values):
    return [a for a in values for _ in values], [b for _ in values for b in values]


def padded(values, width=32):
    rows = -(-len(values) // width)
    return values + [1.0] * (rows * width - len(values)), rows


def larger(a, b):
    return NAN if math.isnan(a) or math.isnan(b) else max(a, b)


def smaller(a, b):
    return NAN if math.isnan(a) or math.isnan(b) else min(a, b)


def power(a, b):
    try:
        return math.pow(a, b)
    except OverflowError:
        return -INF if a < 0 and b % 2 == 1 else INF
    except ValueError:
        return NAN if a != 0 else math.copysign(INF, a) if b % 2 == 1 else INF


def logarithm(a):
    return NAN if a < 0 else -INF if a == 0 else math.log(a)


# Of a product with -1 on the diagonal, which no pass moves to the host: beside every number stand 31 times 0.
PRODUCT = "%a = stablehlo.dot_general %x, %eye, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (T, E) -> T"
EYE = "".join(struct.pack("<f", -1.0 if row == column else 0.0).hex().upper() for row in range(32) for column in range(32))

# name, lines of the model with its inputs x and y and its result r, the function, whether the chip computes it
CASES = [
    ("where", ["%c = stablehlo.compare GT, %x, %y : (T, T) -> B", "%r = stablehlo.select %c, %x, %y : B, T"], lambda a, b: a if a > b else b, False),
    ("maximum", ["%r = stablehlo.maximum %x, %y : T"], larger, False),
    ("minimum", ["%r = stablehlo.minimum %x, %y : T"], smaller, False),
    ("power", ["%r = stablehlo.power %x, %y : T"], power, False),
    # What the chip computes: of -x, which is no input.
    ("chip-where", ["%a = stablehlo.negate %x : T", "%c = stablehlo.compare GT, %a, %y : (T, T) -> B", "%r = stablehlo.select %c, %a, %y : B, T"],
     lambda a, b: a if a > b else b, True),
    ("chip-equal", ["%a = stablehlo.negate %x : T", "%c = stablehlo.compare EQ, %a, %y : (T, T) -> B", "%r = stablehlo.select %c, %one, %zero : B, T"],
     lambda a, b: float(a == b), True),
    ("chip-greater-equal", ["%a = stablehlo.negate %x : T", "%c = stablehlo.compare GE, %a, %y : (T, T) -> B", "%r = stablehlo.select %c, %one, %zero : B, T"],
     lambda a, b: float(a >= b), True),
    ("chip-maximum", ["%a = stablehlo.negate %x : T", "%r = stablehlo.maximum %a, %y : T"], larger, True),
    ("chip-minimum", ["%a = stablehlo.negate %x : T", "%r = stablehlo.minimum %a, %y : T"], smaller, True),
    ("chip-clip-wide", [PRODUCT, "%r = stablehlo.clamp %low, %a, %high : (S, T, S) -> T"], lambda a, b: smaller(larger(a, -1e4), 1e4), True),
    ("chip-clip-above", [PRODUCT, "%r = stablehlo.clamp %quarter, %a, %high : (S, T, S) -> T"], lambda a, b: smaller(larger(a, 0.25), 1e4), True),
    ("chip-clip-below", [PRODUCT, "%r = stablehlo.clamp %low, %a, %minus : (S, T, S) -> T"], lambda a, b: smaller(larger(a, -1e4), -0.25), True),
    ("chip-log-guard", ["%a = stablehlo.negate %x : T", "%l = stablehlo.log %a : T", "%c = stablehlo.compare GT, %a, %zero : (T, T) -> B",
                        "%r = stablehlo.select %c, %l, %zero : B, T"], lambda a, b: logarithm(a) if a > 0 else 0.0, True),
]
BOUNDS = ["low", "high", "quarter", "minus"]
CONSTANTS = {"one": 1.0, "zero": 0.0, "low": -1e4, "high": 1e4, "quarter": 0.25, "minus": -0.25}


def typed(line, rows):
    shapes = {"T": "%dx32xf32" % rows, "B": "%dx32xi1" % rows, "S": "f32", "E": "32x32xf32"}
    return re.sub(r"\b[TBSE]\b", lambda found: "tensor<%s>" % shapes[found.group()], line)


def model(lines, rows):
    numbers = "tensor<%dx32xf32>" % rows
    text = "func.func @main(%%x: %s, %%y: %s) -> %s {\n" % (numbers, numbers, numbers)
    for name, value in CONSTANTS.items():
        if any("%" + name in line for line in lines):
            text += "  %%%s = stablehlo.constant dense<%e> : %s\n" % (name, value, "tensor<f32>" if name in BOUNDS else numbers)
    if PRODUCT in lines:
        text += '  %%eye = stablehlo.constant dense<"0x%s"> : tensor<32x32xf32>\n' % EYE
    for line in lines:
        text += "  " + typed(line, rows) + "\n"
    return text + "  return %%r : %s\n}\n" % numbers


def tool(*arguments):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True)


class Failed(Exception):
    pass


def demand(result, what):
    if result.returncode != 0:
        raise Failed("%s: %s%s" % (what, result.stdout, result.stderr))
    return result


def try_case(buda, work, case, device):
    name, lines, function, on_chip = case
    # A NaN and an infinity that the chip makes are beyond what a 16-bit value can say; what comes from outside is not.
    a, b = pairs([v for v in SPECIAL if not on_chip or not math.isnan(v)])
    if name == "power":
        a, b = pairs([v for v in ORDINARY if abs(v) < 100 and v != 2.0 ** -120] + [0.5, 3.0, -3.0, INF])
    x, rows = padded(a)
    y, _ = padded(b)
    expected = [function(-p if on_chip else p, q) for p, q in zip(x, y)]
    path, image = work / (name + ".mlir"), work / ("%s.%s.tti" % (name, device))
    path.write_text(model(lines, rows))
    shape = [rows, 32]
    npz(work / "inputs.npz", x=("<f4", "f", shape, x), y=("<f4", "f", shape, y))
    npz(work / "outputs.npz", result=("<f4", "f", shape, expected))
    compiled = demand(tool(buda, "compile", path, "-o", image, "--device", device), name)
    if on_chip and "on the host" in compiled.stderr:
        raise Failed("%s: the host computes what the chip should:\n%s" % (name, compiled.stderr))
    for mode in MODES[device]:
        # Within the numbers of 16 bits; infinities and NaN must be where they belong.
        demand(tool(buda, "run", image, "--inputs", work / "inputs.npz", "--expect", work / "outputs.npz", "--rtol", "0.02", "--atol", "1e-30",
                    "--set", "target.golden.mode=" + mode), "%s on %s, %s" % (name, device, mode))


def main():
    buda = pathlib.Path(sys.argv[1]) / "bin" / "buda"
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for device in MODES:
            for case in CASES:
                try:
                    try_case(buda, pathlib.Path(folder), case, device)
                except Failed as failure:
                    failures.append(str(failure))
    print("\n".join(failures) or "%d models on two devices as expected" % len(CASES))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
