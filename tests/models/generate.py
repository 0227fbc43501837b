#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Write the models of this folder with their inputs and expected outputs.

    generate.py [OUT_DIR]        default: the folder of this script

For each model NAME.onnx, NAME.inputs.npz and NAME.outputs.npz; for the netlist NAME.yaml of this folder, the latter two. Weights and inputs come from a fixed seed; the outputs are computed here with NumPy in float64, by the
formulas of the operators and without any of our tools. Needs python3-onnx and NumPy; the tests need neither, for they use what is written.
"""
import io
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

OPSET = 17


class Model:
    """Collects the nodes and weights of a graph."""

    def __init__(self, seed):
        self.nodes, self.weights, self.random = [], {}, np.random.default_rng(seed)

    def weight(self, name, *shape, scale=None):
        scale = 1 / np.sqrt(shape[0]) if scale is None else scale
        return self.constant(name, (self.random.standard_normal(shape) * scale).astype(np.float32))

    def constant(self, name, value):
        self.weights[name] = np.asarray(value)
        return self.weights[name].astype(np.float64)

    def node(self, op, inputs, output, **attributes):
        outputs = [output] if isinstance(output, str) else output
        self.nodes.append(helper.make_node(op, inputs, outputs, name=outputs[0] + "." + op, **attributes))

    def write(self, out, name, inputs, outputs):
        def value(key, array):
            return helper.make_tensor_value_info(key, TensorProto.FLOAT, array.shape)

        inputs = {k: v.astype(np.float32) for k, v in inputs.items()}
        outputs = {k: v.astype(np.float32) for k, v in outputs.items()}
        graph = helper.make_graph(self.nodes, name, [value(*i) for i in inputs.items()], [value(*o) for o in outputs.items()],
                                  [numpy_helper.from_array(w, key) for key, w in self.weights.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8, producer_name="openbuda")
        checker.check_model(model)
        save(model, str(out / f"{name}.onnx"))
        np.savez_compressed(out / f"{name}.inputs.npz", **inputs)
        np.savez_compressed(out / f"{name}.outputs.npz", **outputs)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def erf(x):
    """By its series; arguments here are small."""
    total, term = np.zeros_like(x), x.copy()
    for n in range(120):
        total += term / (2 * n + 1)
        term = -term * x * x / (n + 1)
    return 2 / np.sqrt(np.pi) * total


def mlp(out):
    """Three layers with ReLU, tanh and softmax; sizes that are no multiples of a tile's."""
    m = Model(1)
    x = m.random.standard_normal((8, 20))
    w1, b1 = m.weight("w1", 20, 40), m.weight("b1", 40, scale=0.1)
    w2, b2 = m.weight("w2", 40, 36), m.weight("b2", 36, scale=0.1)
    w3, b3 = m.weight("w3", 36, 5), m.weight("b3", 5, scale=0.1)
    m.node("Gemm", ["x", "w1", "b1"], "h1")
    m.node("Relu", ["h1"], "r1")
    m.node("Gemm", ["r1", "w2", "b2"], "h2")
    m.node("Tanh", ["h2"], "t2")
    m.node("Gemm", ["t2", "w3", "b3"], "h3")
    m.node("Softmax", ["h3"], "y", axis=-1)
    x = x.astype(np.float32).astype(np.float64)
    y = softmax(np.tanh(np.maximum(x @ w1 + b1, 0) @ w2 + b2) @ w3 + b3)
    m.write(out, "mlp", {"x": x}, {"y": y})


def attention(out):
    """A transformer block: attention of 2 heads, GELU, two layer normalizations, residuals."""
    m = Model(2)
    s, d, heads = 24, 64, 2
    x = m.random.standard_normal((1, s, d)).astype(np.float32).astype(np.float64)
    heads_shape = m.constant("heads", np.array([1, s, heads, d // heads], np.int64)).astype(int)
    m.constant("joined", np.array([1, s, d], np.int64))
    parts = {}
    for key in ("q", "k", "v"):
        w, b = m.weight(f"w{key}", d, d), m.weight(f"b{key}", d, scale=0.1)
        m.node("MatMul", ["x", f"w{key}"], f"{key}0")
        m.node("Add", [f"{key}0", f"b{key}"], f"{key}1")
        m.node("Reshape", [f"{key}1", "heads"], f"{key}2")
        m.node("Transpose", [f"{key}2"], key, perm=[0, 2, 3, 1] if key == "k" else [0, 2, 1, 3])
        parts[key] = (x @ w + b).reshape(heads_shape).transpose([0, 2, 3, 1] if key == "k" else [0, 2, 1, 3])
    scale = m.constant("scale", np.float32(1 / np.sqrt(d // heads)))
    m.node("MatMul", ["q", "k"], "scores0")
    m.node("Mul", ["scores0", "scale"], "scores")
    m.node("Softmax", ["scores"], "p", axis=-1)
    m.node("MatMul", ["p", "v"], "mixed0")
    m.node("Transpose", ["mixed0"], "mixed1", perm=[0, 2, 1, 3])
    m.node("Reshape", ["mixed1", "joined"], "mixed")
    mixed = (softmax(parts["q"] @ parts["k"] * scale) @ parts["v"]).transpose(0, 2, 1, 3).reshape(1, s, d)
    wo = m.weight("wo", d, d)
    m.node("MatMul", ["mixed", "wo"], "o")
    m.node("Add", ["x", "o"], "res1")

    def normalized(key, value):
        gain, bias = 1 + m.weight(f"{key}_gain", d, scale=0.1), m.weight(f"{key}_bias", d, scale=0.1)
        m.weights[f"{key}_gain"] = gain.astype(np.float32)
        m.node("LayerNormalization", [key, f"{key}_gain", f"{key}_bias"], f"{key}n", axis=-1, epsilon=1e-5)
        centered = value - value.mean(-1, keepdims=True)
        return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5) * gain + bias

    n1 = normalized("res1", x + mixed @ wo)
    up, down = m.weight("up", d, 96), m.weight("down", 96, d)
    half, one, root = (m.constant(k, np.float32(v)) for k, v in (("half", 0.5), ("one", 1), ("root", np.sqrt(2))))
    m.node("MatMul", ["res1n", "up"], "u")
    m.node("Div", ["u", "root"], "u1")
    m.node("Erf", ["u1"], "u2")
    m.node("Add", ["u2", "one"], "u3")
    m.node("Mul", ["u", "u3"], "u4")
    m.node("Mul", ["u4", "half"], "g")
    m.node("MatMul", ["g", "down"], "f")
    m.node("Add", ["res1n", "f"], "res2")
    u = n1 @ up
    n2 = normalized("res2", n1 + (u * (erf(u / root) + one) * half) @ down)
    m.write(out, "attention", {"x": x}, {"res2n": n2})


def convolution(x, w, b, stride, pad):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwij,ocij->nohw", windows, w) + b[:, None, None]


def cnn(out):
    """Convolution with batch normalization, maximum pooling, a strided convolution, average pooling, a classifier."""
    m = Model(3)
    x = m.random.standard_normal((2, 3, 12, 12)).astype(np.float32).astype(np.float64)
    w1, b1 = m.weight("w1", 8, 3, 3, 3, scale=0.25), m.weight("b1", 8, scale=0.1)
    gain, bias, mean = (m.weight(k, 8, scale=0.3) for k in ("gain", "bias", "mean"))
    variance = m.constant("variance", m.random.uniform(0.5, 2, 8).astype(np.float32))
    m.node("Conv", ["x", "w1", "b1"], "c1", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    m.node("BatchNormalization", ["c1", "gain", "bias", "mean", "variance"], "n1", epsilon=1e-5)
    m.node("Relu", ["n1"], "r1")
    m.node("MaxPool", ["r1"], "p1", kernel_shape=[2, 2], strides=[2, 2])
    channels = (slice(None), None, None)
    n1 = (convolution(x, w1, b1, 1, 1) - mean[channels]) / np.sqrt(variance[channels] + 1e-5) * gain[channels] + bias[channels]
    p1 = np.maximum(n1, 0).reshape(2, 8, 6, 2, 6, 2).max((3, 5))
    w2, b2 = m.weight("w2", 16, 8, 3, 3, scale=0.15), m.weight("b2", 16, scale=0.1)
    m.node("Conv", ["p1", "w2", "b2"], "c2", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    m.node("Relu", ["c2"], "r2")
    m.node("GlobalAveragePool", ["r2"], "a")
    m.node("Flatten", ["a"], "f")
    w3, b3 = m.weight("w3", 16, 6), m.weight("b3", 6, scale=0.1)
    m.node("Gemm", ["f", "w3", "b3"], "y")
    y = np.maximum(convolution(p1, w2, b2, 2, 1), 0).mean((2, 3)) @ w3 + b3
    m.write(out, "cnn", {"x": x}, {"y": y})


def quantised(out):
    """Values that are quantised and dequantised: a convolution with a scale for each channel, a residual, average pooling, a classifier."""
    m = Model(7)
    x = m.random.standard_normal((2, 3, 12, 12)).astype(np.float32).astype(np.float64)

    def stored(key, value, scale, zero):
        """Rounds a value to multiples of scale, as ONNX does; zero is of the type that it is stored in."""
        limits, scale = np.iinfo(zero.dtype), np.float32(scale)
        m.constant(f"{key}_scale", scale)
        m.constant(f"{key}_zero", zero)
        m.node("QuantizeLinear", [key, f"{key}_scale", f"{key}_zero"], f"{key}_q")
        m.node("DequantizeLinear", [f"{key}_q", f"{key}_scale", f"{key}_zero"], f"{key}_dq")
        steps = np.rint(value.astype(np.float32) / scale).astype(np.float64) + float(zero)
        return (np.clip(steps, limits.min, limits.max) - float(zero)) * float(scale)

    def weights(key, *shape):
        q = m.random.integers(-127, 128, shape).astype(np.int8)
        scale = m.random.uniform(0.002, 0.005, shape[0]).astype(np.float32)
        m.constant(f"{key}_q", q)
        m.constant(f"{key}_scale", scale)
        m.constant(f"{key}_zero", np.zeros(shape[0], np.int8))
        m.node("DequantizeLinear", [f"{key}_q", f"{key}_scale", f"{key}_zero"], f"{key}_dq", axis=0)
        return q.astype(np.float64) * scale.astype(np.float64).reshape(-1, *[1] * (len(shape) - 1))

    w1, b1, w2, b2 = weights("w1", 8, 3, 3, 3), m.weight("b1", 8, scale=0.1), weights("w2", 8, 8, 3, 3), m.weight("b2", 8, scale=0.1)
    x0 = stored("x", x, 0.025, np.uint8(128))
    m.node("Conv", ["x_dq", "w1_dq", "b1"], "c1", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    m.node("Relu", ["c1"], "r1")
    r1 = stored("r1", np.maximum(convolution(x0, w1, b1, 1, 1), 0), 0.02, np.int8(-128))
    m.node("Conv", ["r1_dq", "w2_dq", "b2"], "c2", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    c2 = stored("c2", convolution(r1, w2, b2, 1, 1), 0.1, np.int8(5))
    m.node("Add", ["c2_dq", "r1_dq"], "s")
    s = stored("s", c2 + r1, 0.1, np.int8(0))
    m.node("GlobalAveragePool", ["s_dq"], "a")
    a = stored("a", s.mean((2, 3), keepdims=True), 0.03, np.int8(-10))
    m.node("Flatten", ["a_dq"], "f")
    w3, b3 = weights("w3", 6, 8), m.weight("b3", 6, scale=0.1)
    m.node("Gemm", ["f", "w3_dq", "b3"], "y0", transB=1)
    y = stored("y0", a.reshape(2, 8) @ w3.T + b3, 0.05, np.uint8(120))
    m.write(out, "quantised", {"x": x}, {"y0_dq": y})


def lstm(out):
    """A recurrent layer over 4 steps and a classifier of its last state."""
    m = Model(4)
    steps, batch, size, hidden = 4, 2, 12, 16
    x = m.random.standard_normal((steps, batch, size)).astype(np.float32).astype(np.float64)
    w, r = m.weight("w", 1, 4 * hidden, size, scale=0.3), m.weight("r", 1, 4 * hidden, hidden, scale=0.3)
    b = m.weight("b", 1, 8 * hidden, scale=0.1)
    m.node("LSTM", ["x", "w", "r", "b"], ["all", "last"], hidden_size=hidden)
    axis = m.constant("axis", np.array([0], np.int64)).astype(int)
    m.node("Squeeze", ["last", "axis"], "state")
    wy, by = m.weight("wy", hidden, 3), m.weight("by", 3, scale=0.1)
    m.node("Gemm", ["state", "wy", "by"], "y")
    h = c = np.zeros((batch, hidden))
    for t in range(steps):
        gates = x[t] @ w[0].T + h @ r[0].T + b[0, : 4 * hidden] + b[0, 4 * hidden :]
        i, o, f, g = (gates[:, k * hidden : (k + 1) * hidden] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    assert axis[0] == 0
    m.write(out, "lstm", {"x": x}, {"y": h @ wy + by})


def elementwise(out):
    """Broadcasts, reductions and functions, with two inputs and two outputs."""
    m = Model(5)
    a, b = (m.random.standard_normal(shape).astype(np.float32).astype(np.float64) for shape in ((3, 40, 50), (40, 1)))
    c = m.weight("c", 50, scale=1)
    axes = m.constant("axes", np.array([-1], np.int64)).astype(int)
    m.node("Mul", ["a", "b"], "ab")
    m.node("Add", ["ab", "c"], "abc")
    m.node("ReduceMax", ["abc"], "most", axes=[-1], keepdims=1)
    m.node("Sub", ["abc", "most"], "low")
    m.node("Exp", ["low"], "e")
    m.node("ReduceSum", ["e", "axes"], "total", keepdims=1)
    m.node("Log", ["total"], "y1")
    m.node("Sigmoid", ["abc"], "s")
    m.node("LeakyRelu", ["abc"], "l", alpha=0.1)
    m.node("Max", ["s", "l"], "y2")
    abc = a * b + c
    y1 = np.log(np.exp(abc - abc.max(-1, keepdims=True)).sum(axes[0], keepdims=True))
    m.write(out, "elementwise", {"a": a, "b": b}, {"y1": y1, "y2": np.maximum(sigmoid(abc), np.where(abc < 0, 0.1 * abc, abc))})


def blocks(out):
    """Of the netlist blocks.yaml, which is written by hand."""
    random = np.random.default_rng(6)

    def steps(shape, size):  # few different numbers, so that files are small
        return (np.round(random.standard_normal(shape) * 8) / 8 * size).astype(np.float32)

    x, w = steps((2, 1, 64, 128), 1), steps((1, 1, 128, 128), 0.125)
    b = np.broadcast_to(steps((1, 1, 1, 128), 0.125), (1, 1, 64, 128))
    s = sigmoid(np.maximum(x.astype(np.float64) @ w[0, 0] + b[0, 0], 0))
    np.savez_compressed(out / "blocks.inputs.npz", x=x, w=w, b=b)
    np.savez_compressed(out / "blocks.outputs.npz", y=(s @ s.transpose(0, 1, 3, 2)).astype(np.float32))


def small_tflite(_):
    """A TensorFlow Lite model, written by hand as JSON: the sample of its frontend. Needs flatbuffers-compiler."""
    here = pathlib.Path(__file__).resolve().parent
    frontend = here.parents[1] / "plugins" / "frontends" / "tflite"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "small.json"
        source.write_text((here / "small.tflite.json").read_text())
        subprocess.run(["flatc", "-b", "-o", frontend / "samples", frontend / "schema.fbs", source], check=True)


def small_torchscript(_):
    """An archive that needs no shapes, since it computes with a buffer: the sample of its frontend. Needs Debian's PyTorch."""
    try:
        import torch
    except ImportError:
        print("no PyTorch: pooled.pt stays")
        return
    torch.manual_seed(0)

    class Pooled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(4, 3)
            self.register_buffer("image", torch.rand(1, 4, 6, 6))

        def forward(self, scale: float = 2.0):
            x = torch.relu(self.image - 0.5).mean((2, 3))
            return {"logits": self.head(x) * scale, "features": x}

    saved = io.BytesIO()
    torch.jit.save(torch.jit.script(Pooled().eval()), saved)
    # Without what serves debuggers only, which names the folders of this machine.
    path = pathlib.Path(__file__).resolve().parents[2] / "plugins" / "frontends" / "torchscript" / "samples" / "pooled.pt"
    with zipfile.ZipFile(saved) as source, zipfile.ZipFile(path, "w") as target:
        for member in source.infolist():
            if not member.filename.endswith(".debug_pkl"):
                target.writestr(zipfile.ZipInfo(member.filename.replace("archive/", "pooled/", 1)), source.read(member))


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    for make in (mlp, attention, cnn, quantised, lstm, elementwise, blocks, small_tflite, small_torchscript):
        make(folder)
