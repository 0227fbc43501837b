# SPDX-License-Identifier: Apache-2.0
"""An attention block and a network of two layers as Jax prints them, from text to a device: what golden computes against numbers from here.

    stablehlo.py BUILD_DIR
"""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

from native_model import npz

ROWS, WIDTH, HIDDEN, CLASSES = 16, 32, 64, 10


def matrix(rows, columns, most):
    return [[random.uniform(-most, most) for _ in range(columns)] for _ in range(rows)]


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def softmax(row):
    most = max(row)
    exps = [math.exp(v - most) for v in row]
    return [v / sum(exps) for v in exps]


def expected(x, w):
    q, k, v = (product(x, w[name]) for name in ("q", "k", "v"))
    scores = product(q, [list(column) for column in zip(*k)])
    weights = [softmax([s / math.sqrt(WIDTH) for s in row]) for row in scores]
    mixed = [[a + b for a, b in zip(*rows)] for rows in zip(x, product(weights, v))]
    hidden = [[max(0.0, a + b) for a, b in zip(row, w["b"][0])] for row in product(mixed, w["w"])]
    return [softmax(row) for row in product(hidden, w["u"])]


def constant(name, rows):
    values = sum(rows, [])
    blob = struct.pack("<%df" % len(values), *values).hex().upper()
    return '    %%%s = stablehlo.constant dense<"0x%s"> : %s\n' % (name, blob, matrix_type(len(rows), len(rows[0])))


def matrix_type(rows, columns):
    return "tensor<%dx%dxf32>" % (rows, columns)


def dot(name, a, a_shape, b, b_shape, contracted=0):
    result = (a_shape[0], b_shape[1 - contracted])
    return "    %%%s = stablehlo.dot_general %%%s, %%%s, contracting_dims = [1] x [%d], precision = [DEFAULT, DEFAULT] : (%s, %s) -> %s\n" % (
        name, a, b, contracted, matrix_type(*a_shape), matrix_type(*b_shape), matrix_type(*result))


def softmax_text(name, x, rows, columns):
    whole, column = matrix_type(rows, columns), "tensor<%dxf32>" % rows
    return f"""    %{name}_low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %{name}_max = stablehlo.reduce(%{x} init: %{name}_low) applies stablehlo.maximum across dimensions = [1] : ({whole}, tensor<f32>) -> {column}
    %{name}_max_all = stablehlo.broadcast_in_dim %{name}_max, dims = [0] : ({column}) -> {whole}
    %{name}_moved = stablehlo.subtract %{x}, %{name}_max_all : {whole}
    %{name}_exp = stablehlo.exponential %{name}_moved : {whole}
    %{name}_zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %{name}_sum = stablehlo.reduce(%{name}_exp init: %{name}_zero) applies stablehlo.add across dimensions = [1] : ({whole}, tensor<f32>) -> {column}
    %{name}_sum_all = stablehlo.broadcast_in_dim %{name}_sum, dims = [0] : ({column}) -> {whole}
    %{name} = stablehlo.divide %{name}_exp, %{name}_sum_all : {whole}
"""


def text(w):
    rows, square = (ROWS, WIDTH), (WIDTH, WIDTH)
    out = "module @jit_block attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n"
    out += '  func.func public @main(%%arg0: %s {jax.arg_info = "x", mhlo.sharding = "{replicated}"}) -> (%s {jax.result_info = ""}) {\n' % (
        matrix_type(*rows), matrix_type(ROWS, CLASSES))
    for name, values in w.items():
        out += constant(name, values)
    for name in ("q", "k", "v"):
        out += dot(name + "x", "arg0", rows, name, square)
    out += dot("scores", "qx", rows, "kx", rows, contracted=1)
    out += "    %%factor = stablehlo.constant dense<%e> : %s\n" % (1 / math.sqrt(WIDTH), matrix_type(ROWS, ROWS))
    out += "    %%scaled = stablehlo.multiply %%scores, %%factor : %s\n" % matrix_type(ROWS, ROWS)
    out += softmax_text("weights", "scaled", ROWS, ROWS)
    out += dot("mixed", "weights", (ROWS, ROWS), "vx", rows)
    out += "    %%sum = stablehlo.add %%arg0, %%mixed : %s\n" % matrix_type(*rows)
    out += dot("wide", "sum", rows, "w", (WIDTH, HIDDEN))
    hidden = matrix_type(ROWS, HIDDEN)
    out += "    %%bias = stablehlo.broadcast_in_dim %%b, dims = [0, 1] : (%s) -> %s\n" % (matrix_type(1, HIDDEN), hidden)
    out += "    %%biased = stablehlo.add %%wide, %%bias : %s\n" % hidden
    out += "    %%hidden = func.call @relu(%%biased) : (%s) -> %s\n" % (hidden, hidden)
    out += dot("last", "hidden", (ROWS, HIDDEN), "u", (HIDDEN, CLASSES))
    out += softmax_text("classes", "last", ROWS, CLASSES)
    out += "    return %%classes : %s\n  }\n" % matrix_type(ROWS, CLASSES)
    out += f"""  func.func private @relu(%arg0: {hidden}) -> {hidden} {{
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> {hidden}
    %above = stablehlo.maximum %arg0, %zeros : {hidden}
    return %above : {hidden}
  }}
"""
    return out + "}\n"


def run(build, *command):
    subprocess.run([os.path.join(build, "bin", command[0]), *command[1:]], check=True)


def main():
    build = os.path.abspath(sys.argv[1])
    random.seed(11)
    w = {"q": matrix(WIDTH, WIDTH, 0.3), "k": matrix(WIDTH, WIDTH, 0.3), "v": matrix(WIDTH, WIDTH, 0.3), "w": matrix(WIDTH, HIDDEN, 0.3),
         "b": matrix(1, HIDDEN, 0.5), "u": matrix(HIDDEN, CLASSES, 0.3)}
    x = matrix(ROWS, WIDTH, 1)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        with open("block.mlir", "w") as file:
            file.write(text(w))
        run(build, "importer", "block.mlir", "-o", "block.graph.json", "-q")
        with open("block.graph.json") as file:
            graph = json.load(file)
        npz("x.npz", **{graph["inputs"][0]: ("<f4", "f", (ROWS, WIDTH), sum(x, []))})
        npz("y.npz", **{graph["outputs"][0]: ("<f4", "f", (ROWS, CLASSES), sum(expected(x, w), []))})
        run(build, "runner", "block.graph.json", "--target", "cpu", "--inputs", "x.npz", "--expect", "y.npz", "--max-error", "0.00001", "-q")
        for device in ("n150", "e150"):
            run(build, "buda", "compile", "block.mlir", "-o", device + ".tti", "--device", device, "-q")
            run(build, "runner", device + ".tti", "--target", "golden", "--inputs", "x.npz", "--expect", "y.npz", "--pcc", "0.999", "-q")
            print(device + ": as computed here")


if __name__ == "__main__":
    main()
