#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The emulated bfloat16 of target cpu, next to PyTorch's tensors of type bfloat16.

    bfloat16.py --build BUILD_DIR

A small network, op by op as the model has it. Between two ops PyTorch has rounded to bfloat16 and summed in fp32, so nearly all numbers are equal; where a sum in
another order falls on the other side of a tie, they are one step of bfloat16 apart. Exit code 77 without PyTorch.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import torch
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    sys.exit(print(f"skipped: {missing}") or 77)

ROWS, WIDTH, HIDDEN = 24, 96, 160


def model(weights):
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["h1"]), helper.make_node("Add", ["h1", "b1"], ["h2"]), helper.make_node("Tanh", ["h2"], ["h3"]),
             helper.make_node("MatMul", ["h3", "w2"], ["h4"]), helper.make_node("Mul", ["h4", "h4"], ["h5"]), helper.make_node("Add", ["h5", "x"], ["h6"]),
             helper.make_node("Softmax", ["h6"], ["y"], axis=-1), helper.make_node("Add", ["i", "i"], ["j"])]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "small", [value("x", TensorProto.FLOAT, [ROWS, WIDTH]), value("i", TensorProto.INT64, [3])],
                              [value("y", TensorProto.FLOAT, [ROWS, WIDTH]), value("h6", TensorProto.FLOAT, [ROWS, WIDTH]), value("j", TensorProto.INT64, [3])],
                              [numpy_helper.from_array(w, name) for name, w in weights.items()])
    out = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    out.ir_version = 8
    return out


def in_torch(x, weights):
    w = {name: torch.from_numpy(value).bfloat16() for name, value in weights.items()}
    x = torch.from_numpy(x).bfloat16()
    h = torch.tanh(x @ w["w1"] + w["b1"]) @ w["w2"]
    h = h * h + x
    return {"h6": h.float().numpy(), "y": torch.softmax(h, -1).float().numpy()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    bin_dir = (parser.parse_args().build / "bin").resolve()
    rng = numpy.random.default_rng(45)
    weights = {"w1": rng.normal(size=(WIDTH, HIDDEN)) / WIDTH**0.5, "b1": rng.normal(size=HIDDEN), "w2": rng.normal(size=(HIDDEN, WIDTH)) / HIDDEN**0.5}
    weights = {name: w.astype(numpy.float32) for name, w in weights.items()}
    x, i = rng.normal(size=(ROWS, WIDTH)).astype(numpy.float32), numpy.array([257, 100001, 2**40 + 1])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx.save(model(weights), folder / "small.onnx")
        numpy.savez(folder / "in.npz", x=x, i=i)
        for command in (["importer", "small.onnx", "-o", "small.graph.json", "-q"],
                        ["runner", "small.graph.json", "--formats", "bfloat16", "--inputs", "in.npz", "-o", "bf16.npz", "-q"],
                        ["runner", "small.graph.json", "--inputs", "in.npz", "-o", "fp32.npz", "-q"]):
            subprocess.run([str(bin_dir / command[0]), *command[1:]], cwd=folder, check=True)
        ours, exact = numpy.load(folder / "bf16.npz"), numpy.load(folder / "fp32.npz")
    assert (ours["j"] == 2 * i).all(), ours["j"]
    for name, theirs in in_torch(x, weights).items():
        step = 2.0 ** (numpy.floor(numpy.log2(numpy.maximum(numpy.abs(theirs), 2.0**-100))) - 7)
        apart = numpy.abs(ours[name] - theirs) / step
        equal, in_fp32 = (apart == 0).mean(), (exact[name] == theirs).mean()
        print(f"{name}: {equal:.1%} equal, at most {apart.max():.0f} steps of bfloat16 apart; of numbers in fp32 {in_fp32:.1%}")
        # A tie decided otherwise goes on through the ops after it, where differences cancel.
        assert equal >= 0.95 and numpy.quantile(apart, 0.99) <= 1, name
        assert in_fp32 < 0.05, name


main()
