#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that compute angles and coordinates from positions that are known when they run, next to numpy in float64.

    precise_positions.py --build BUILD_DIR [--keep DIR]

In default formats, on n150 and e150, in golden's modes exact and bits. In bfloat16 the angles are wrong by radians, which emulated bfloat16 shows, and so the host computes
them; the device still runs in one segment. A network of sines, whose angles are products, stays on the device. Exit code 77 without numpy or onnx.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save
except ImportError as missing:
    sys.exit(print(f"skipped: {missing}") or 77)

RNG = np.random.default_rng(45)
NODE = helper.make_node


def float32(*shape, scale=1.0):
    return (RNG.normal(size=shape) * scale).astype(np.float32)


class Case:
    """Nodes, inputs, weights, and what comes out in float64; whether bfloat16 is too little, and the host has a part."""

    def __init__(self, nodes, inputs, weights, expected, leaves=True):
        self.nodes, self.inputs, self.weights, self.expected, self.leaves = nodes, inputs, weights, expected, leaves

    def write(self, folder):
        def info(name, array):
            kind = TensorProto.INT64 if array.dtype == np.int64 else TensorProto.FLOAT
            return helper.make_tensor_value_info(name, kind, array.shape)

        expected = {name: value.astype(np.float32) for name, value in self.expected.items()}
        graph = helper.make_graph(self.nodes, "positions", [info(*i) for i in self.inputs.items()], [info(*o) for o in expected.items()],
                                  [numpy_helper.from_array(np.asarray(w), name) for name, w in self.weights.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        save(model, folder / "model.onnx")
        np.savez(folder / "inputs.npz", **self.inputs)
        np.savez(folder / "expected.npz", **expected)


def angles():
    positions = np.arange(1999, 2127)[None]
    table = (1 / 10000 ** (np.arange(32) / 32)).astype(np.float32)
    angle = positions[..., None] * table.astype(np.float64)
    nodes = [NODE("Cast", ["p"], ["f"], to=TensorProto.FLOAT), NODE("Unsqueeze", ["f", "axis"], ["u"]), NODE("Mul", ["u", "table"], ["a"]), NODE("Cos", ["a"], ["c"]),
             NODE("Sin", ["a"], ["s"])]
    return Case(nodes, {"p": positions}, {"axis": np.array([2]), "table": table}, {"c": np.cos(angle), "s": np.sin(angle)})


def rotary_attention():
    """The scores of one head as in LLaMA: positions by a product with one column, half of the features rotated."""
    rows, width, first = 64, 64, 3001
    x, w = float32(1, rows, width), {name: float32(width, width, scale=width**-0.5) for name in ("wq", "wk")}
    positions = np.arange(first, first + rows)[None]
    table = (1 / 10000 ** (np.arange(0, width, 2) / width)).astype(np.float32)
    angle = (table[None, :, None].astype(np.float64) @ positions[:, None]).transpose(0, 2, 1)
    angle = np.concatenate([angle, angle], -1)
    turn = np.block([[np.zeros((width // 2,) * 2), np.eye(width // 2)], [-np.eye(width // 2), np.zeros((width // 2,) * 2)]]).astype(np.float32)
    q, k = (x.astype(np.float64) @ w[name] for name in ("wq", "wk"))
    q, k = (t * np.cos(angle) + t @ turn * np.sin(angle) for t in (q, k))
    nodes = [NODE("Unsqueeze", ["p", "axis"], ["u"]), NODE("Cast", ["u"], ["f"], to=TensorProto.FLOAT), NODE("MatMul", ["table", "f"], ["a0"]),
             NODE("Transpose", ["a0"], ["a1"], perm=[0, 2, 1]), NODE("Concat", ["a1", "a1"], ["a"], axis=-1), NODE("Cos", ["a"], ["c"]), NODE("Sin", ["a"], ["s"])]
    for t in "qk":
        nodes += [NODE("MatMul", ["x", "w" + t], [t]), NODE("MatMul", [t, "turn"], [t + "t"]), NODE("Mul", [t, "c"], [t + "c"]), NODE("Mul", [t + "t", "s"], [t + "s"]),
                  NODE("Add", [t + "c", t + "s"], [t + "r"])]
    nodes += [NODE("Transpose", ["kr"], ["krt"], perm=[0, 2, 1]), NODE("MatMul", ["qr", "krt"], ["y"])]
    return Case(nodes, {"x": x, "p": positions}, dict(w, table=table[None, :, None], axis=np.array([1]), turn=turn), {"y": q @ k.transpose(0, 2, 1)})


def time_steps(dtype):
    steps, half = RNG.integers(0, 1000, 13).astype(dtype), 48
    table = np.exp(-np.log(10000) * np.arange(half) / half).astype(np.float32)
    weights = {"w1": float32(2 * half, 96, scale=0.2), "w2": float32(96, 32, scale=0.2)}
    angle = steps[:, None] * table.astype(np.float64)
    hidden = np.concatenate([np.cos(angle), np.sin(angle)], -1) @ weights["w1"]
    nodes = [NODE("Cast", ["t"], ["f"], to=TensorProto.FLOAT), NODE("Unsqueeze", ["f", "axis"], ["u"]), NODE("Mul", ["u", "table"], ["a"]), NODE("Cos", ["a"], ["c"]),
             NODE("Sin", ["a"], ["s"]), NODE("Concat", ["c", "s"], ["e"], axis=-1), NODE("MatMul", ["e", "w1"], ["h"]), NODE("Sigmoid", ["h"], ["g"]),
             NODE("Mul", ["h", "g"], ["hg"]), NODE("MatMul", ["hg", "w2"], ["y"])]
    return Case(nodes, {"t": steps}, dict(weights, axis=np.array([1]), table=table[None]), {"y": hidden / (1 + np.exp(-hidden)) @ weights["w2"]})


def samples():
    """Bilinear samples of an image of 1,021 columns at places that an affine map makes of a grid."""
    rows, columns, image = 6, 16, float32(1, 1, 31, 1021)
    base = np.stack(np.meshgrid((np.arange(columns) * 2 + 1) / columns - 1, (np.arange(rows) * 2 + 1) / rows - 1), -1).reshape(1, -1, 2)
    base = np.concatenate([base, np.ones((1, rows * columns, 1))], -1).astype(np.float32)
    theta = np.array([[[0.4, 0.05, 0.1], [-0.03, 0.6, 0.05]]], np.float32)
    grid = (base.astype(np.float64) @ theta.transpose(0, 2, 1)).reshape(rows, columns, 2)
    x, y = ((grid[..., i] + 1) * image.shape[3 - i] / 2 - 0.5 for i in (0, 1))
    weights = [np.maximum(0, 1 - np.abs(at[..., None] - np.arange(size))) for at, size in ((y, image.shape[2]), (x, image.shape[3]))]
    nodes = [NODE("Transpose", ["theta"], ["t"], perm=[0, 2, 1]), NODE("MatMul", ["base", "t"], ["g"]), NODE("Reshape", ["g", "shape"], ["grid"]),
             NODE("GridSample", ["image", "grid"], ["y"], align_corners=0, mode="bilinear", padding_mode="zeros")]
    return Case(nodes, {"image": image, "theta": theta}, {"base": base, "shape": np.array([1, rows, columns, 2])},
                {"y": np.einsum("rch,hw,rcw->rc", weights[0], image[0, 0].astype(np.float64), weights[1])[None, None]})


def network_of_sines():
    x, nodes, last = RNG.uniform(-1, 1, (64, 2)).astype(np.float32), [], "x"
    weights = {"w0": RNG.uniform(-0.5, 0.5, (2, 64)), "w1": RNG.uniform(-1, 1, (64, 64)) * (6 / 64) ** 0.5 / 30, "w2": RNG.uniform(-1, 1, (64, 32)) / 8}
    weights = {name: w.astype(np.float32) for name, w in weights.items()}
    y = x.astype(np.float64)
    for i in (0, 1):
        nodes += [NODE("MatMul", [last, f"w{i}"], [f"h{i}"]), NODE("Mul", [f"h{i}", "factor"], [f"a{i}"]), NODE("Sin", [f"a{i}"], [f"s{i}"])]
        y, last = np.sin(30 * (y @ weights[f"w{i}"])), f"s{i}"
    nodes.append(NODE("MatMul", [last, "w2"], ["y"]))
    return Case(nodes, {"x": x}, dict(weights, factor=np.float32(30)), {"y": y @ weights["w2"]}, leaves=False)


CASES = {"angles": angles, "rotary_attention": rotary_attention, "time_steps_int64": lambda: time_steps(np.int64), "time_steps_float32": lambda: time_steps(np.float32),
         "samples": samples, "network_of_sines": network_of_sines}


def check(name, case, tools, folder):
    def run(tool, *arguments):
        return subprocess.run([str(tools / tool), *arguments], cwd=folder, capture_output=True, text=True, check=False)

    case.write(folder)
    problems = []
    done = run("importer", "model.onnx", "-o", "model.graph.json")
    assert done.returncode == 0, done.stderr
    compare = ["--inputs", "inputs.npz", "--expect", "expected.npz", "--pcc", "0.99"]
    emulated = run("runner", "model.graph.json", "--formats", "bfloat16", *compare).returncode
    if emulated != (4 if case.leaves else 0):
        problems.append(f"{name} in emulated bfloat16: exit {emulated}")
    for device in ("n150", "e150"):
        done = run("buda", "compile", "model.onnx", "-o", f"{device}.tti", "--device", device, "-v")
        if done.returncode != 0:
            problems.append(f"{name} on {device}: {done.stderr[-800:]}")
            continue
        if ("PA090" in done.stderr) != case.leaves:
            problems.append(f"{name} on {device}: {'nothing goes' if case.leaves else 'something goes'} to the host")
        if " segments" in done.stderr:
            problems.append(f"{name} on {device}: the device runs in several segments")
        for mode in ("exact", "bits"):
            done = run("buda", "run", f"{device}.tti", *compare, "--set", f"target.golden.mode={mode}")
            if done.returncode != 0:
                problems.append(f"{name} on {device}, {mode}: {done.stderr[-800:]}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        problems = []
        for name, make in CASES.items():
            folder = (args.keep or pathlib.Path(temporary)) / name
            folder.mkdir(parents=True, exist_ok=True)
            found = check(name, make(), (args.build / "bin").resolve(), folder)
            print(f"{name}: {'as expected' if not found else 'wrong'}")
            problems += found
    sys.exit("\n".join(problems) or 0)


main()
