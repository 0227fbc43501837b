#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What today's exporters write: a transformer block and a convolutional network at opsets 18 to 20, lowered, run, and compared with PyTorch.

    newer_opsets.py --build BUILD_DIR

The models are put together by hand, since Debian's PyTorch exports older opsets only: LayerNormalization, Split with num_outputs, Gelu and
ReduceMean with axes as an input, as torch.onnx writes them from opset 18 on; GroupNormalization, Mish, Resize and Pad of some axes. Each goes
through the importer and is evaluated exactly; then it is lowered, and evaluated in the device's formats. The transformer is compiled whole and
runs on target golden as well; the convolutions' pickers have no place in netlists yet. Skipped (77) without PyTorch or ONNX's Python package.
"""
import argparse
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: no PyTorch, or no ONNX for Python")
    sys.exit(77)

random = np.random.default_rng(11)


class Model:
    """Nodes in order, with the weights that they name."""

    def __init__(self, name, opset, shape):
        self.name, self.opset, self.shape = name, opset, shape
        self.nodes, self.weights = [], {}

    def weight(self, name, *shape, scale=1.0):
        self.weights[name] = (scale * random.standard_normal(shape)).astype(np.float32)
        return torch.tensor(self.weights[name])

    def known(self, name, values):
        self.weights[name] = np.array(values, np.int64)
        return name

    def node(self, op, inputs, outputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs, name=outputs[0], **attributes))

    def proto(self, output_shape):
        info = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, self.name, [info("x", TensorProto.FLOAT, self.shape)], [info("y", TensorProto.FLOAT, output_shape)],
                                  [numpy_helper.from_array(v, n) for n, v in self.weights.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])


def transformer():
    tokens, width, heads = 32, 64, 2
    m = Model("transformer", 20, [1, tokens, width])
    x = torch.tensor(random.standard_normal((1, tokens, width)).astype(np.float32))
    norm1, bias1, norm2, bias2 = (m.weight(n, width, scale=0.5) for n in ("norm1", "bias1", "norm2", "bias2"))
    qkv, out = m.weight("qkv", width, 3 * width, scale=0.1), m.weight("out", width, width, scale=0.1)
    up, down, head = m.weight("up", width, 128, scale=0.1), m.weight("down", 128, width, scale=0.1), m.weight("head", width, 32, scale=0.2)
    m.weights["scale"] = np.float32((width // heads) ** -0.5)
    split, merged, axes = m.known("split", [0, tokens, heads, -1]), m.known("merged", [0, tokens, width]), m.known("axes", [1])

    m.node("LayerNormalization", ["x", "norm1", "bias1"], ["n1"], axis=-1)
    m.node("MatMul", ["n1", "qkv"], ["projected"])
    m.node("Split", ["projected"], ["q", "k", "v"], axis=-1, num_outputs=3)
    for part, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        m.node("Reshape", [part, split], [part + ".heads"], allowzero=0)
        m.node("Transpose", [part + ".heads"], [part + ".t"], perm=order)
    m.node("MatMul", ["q.t", "k.t"], ["scores"])
    m.node("Mul", ["scores", "scale"], ["scaled"])
    m.node("Softmax", ["scaled"], ["attention"], axis=-1)
    m.node("MatMul", ["attention", "v.t"], ["mixed"])
    m.node("Transpose", ["mixed"], ["mixed.t"], perm=[0, 2, 1, 3])
    m.node("Reshape", ["mixed.t", merged], ["joined"])
    m.node("MatMul", ["joined", "out"], ["o"])
    m.node("Add", ["x", "o"], ["r1"])
    m.node("LayerNormalization", ["r1", "norm2", "bias2"], ["n2"], axis=-1)
    m.node("MatMul", ["n2", "up"], ["u"])
    m.node("Gelu", ["u"], ["g"], approximate="tanh")
    m.node("MatMul", ["g", "down"], ["d"])
    m.node("Add", ["r1", "d"], ["r2"])
    m.node("ReduceMean", ["r2", axes], ["pooled"], keepdims=0)
    m.node("MatMul", ["pooled", "head"], ["y"])

    q, k, v = (F.layer_norm(x, (width,), norm1, bias1) @ qkv).split(width, -1)
    q, k, v = (t.reshape(1, tokens, heads, -1).transpose(1, 2) for t in (q, k, v))
    attention = ((q @ k.transpose(2, 3)) * (width // heads) ** -0.5).softmax(-1)
    r1 = x + (attention @ v).transpose(1, 2).reshape(1, tokens, width) @ out
    hidden = F.layer_norm(r1, (width,), norm2, bias2) @ up
    gelu = 0.5 * hidden * (1 + torch.tanh((2 / np.pi) ** 0.5 * (hidden + 0.044715 * hidden**3)))
    return m, x, (r1 + gelu @ down).mean(1) @ head


def convolutional():
    m = Model("convolutional", 18, [1, 3, 16, 16])
    x = torch.tensor(random.standard_normal((1, 3, 16, 16)).astype(np.float32))
    first, second = m.weight("first", 32, 3, 3, 3, scale=0.3), m.weight("second", 32, 32, 3, 3, scale=0.1)
    scale, bias, head, offset = m.weight("scale", 4), m.weight("bias", 4), m.weight("head", 10, 32, scale=0.3), m.weight("offset", 10)
    pads, edge, sizes, axes = m.known("pads", [1, 1, 1, 1]), m.known("edge", [2, -1]), m.known("sizes", [16, 16]), m.known("axes", [-1, -2])

    m.node("Pad", ["x", pads, "", edge], ["padded"])
    m.node("Conv", ["padded", "first"], ["c1"])
    # Opset 18 scales groups.
    m.node("GroupNormalization", ["c1", "scale", "bias"], ["n1"], num_groups=4)
    m.node("Mish", ["n1"], ["a1"])
    m.node("AveragePool", ["a1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2])
    m.node("Resize", ["p1", "", "", sizes], ["up"], axes=[2, 3], mode="linear", coordinate_transformation_mode="half_pixel", keep_aspect_ratio_policy="stretch")
    m.node("Add", ["up", "a1"], ["joined"])
    m.node("Conv", ["joined", "second"], ["c2"], pads=[1, 1, 1, 1], strides=[2, 2])
    m.node("Relu", ["c2"], ["a2"])
    m.node("ReduceMean", ["a2", axes], ["pooled"], keepdims=0)
    m.node("Gemm", ["pooled", "head", "offset"], ["y"], transB=1)

    a1 = F.mish(F.group_norm(F.conv2d(F.pad(x, (1, 1, 1, 1)), first), 4, scale.repeat_interleave(8), bias.repeat_interleave(8)))
    joined = F.interpolate(F.avg_pool2d(a1, 2), (16, 16), mode="bilinear") + a1
    pooled = F.relu(F.conv2d(joined, second, padding=1, stride=2)).mean((2, 3))
    return m, x, F.linear(pooled, head, offset)


def run(tools, *command):
    done = subprocess.run([os.path.join(tools, command[0]), *command[1:]], capture_output=True, text=True)
    if done.returncode:
        print(" ".join(command), done.stdout, done.stderr, sep="\n")
        sys.exit(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    tools = os.path.abspath(os.path.join(parser.parse_args().build, "bin"))
    for model, x, y in (transformer(), convolutional()):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            with open("m.onnx", "wb") as f:
                f.write(model.proto(list(y.shape)).SerializeToString())
            np.savez("in.npz", x=x.numpy())
            np.savez("expected.npz", y=y.numpy())
            run(tools, "importer", "m.onnx")
            run(tools, "runner", "m.graph.json", "--inputs", "in.npz", "--expect", "expected.npz", "--rtol", "1e-4", "--atol", "1e-5")
            run(tools, "optimizer", "m.graph.json", "-q")
            run(tools, "runner", "m.device.graph.json", "--formats", "exact", "--inputs", "in.npz", "--expect", "expected.npz", "--pcc", "0.999")
            if model.name == "transformer":
                run(tools, "buda", "compile", "m.onnx", "-q")
                run(tools, "buda", "run", "m.tti", "--inputs", "in.npz", "--expect", "expected.npz", "--pcc", "0.999")
            print(f"{model.name}: as expected")
            os.chdir("/")


if __name__ == "__main__":
    main()
