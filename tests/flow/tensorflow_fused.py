# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow's optimiser (Grappler) makes of convolutions, products and normalisations with what follows them, as TensorFlow.js has it in most of its models; with
what PyTorch gives. Each function returns (options of the importer, inputs, expected outputs), after it wrote m.pb."""
import numpy as np
import torch
import torch.nn.functional as F

import tensorflow_graphs as tf
from tensorflow_by_hand import write

ACTIVATIONS = {"Relu": F.relu, "Relu6": F.relu6, "Elu": F.elu, "Tanh": torch.tanh, "Sigmoid": torch.sigmoid, "GeluExact": F.gelu,
               "GeluApproximate": lambda x: 0.5 * x * (1 + torch.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))}
IMAGES = [(1, 8, 8, 3), (2, 7, 5, 4), (1, 13, 9, 6)]


def same(x, weights, stride, groups=1):
    """With TensorFlow's padding SAME, channels first."""
    pads = []
    for size, kernel in zip(x.shape[:1:-1], weights.shape[:1:-1]):
        total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        pads += [total // 2, total - total // 2]
    return F.conv2d(F.pad(x, pads), weights, stride=stride, groups=groups)


def channels_first(x):
    return x.permute(0, 3, 1, 2)


def column(x):
    return x.reshape(-1, 1, 1)


def constant(g, tensor):
    return g.constant(tensor.numpy())


def finish(g, outputs, expected):
    """One graph with many outputs, which it lists by name."""
    inputs = {n.name: g.inputs[n.name] for n in g.definition.node if n.op == "Placeholder"}
    return [write(g), "--set", "frontend.tensorflow.outputs=" + ",".join(outputs)], inputs, dict(zip(outputs, expected))


class Graph(tf.Graph):
    def __init__(self):
        super().__init__()
        self.inputs, self.outputs, self.expected = {}, [], []

    def input(self, *shape):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = torch.randn(*shape)
        self.placeholder(name, shape)
        return name, self.inputs[name]

    def result(self, op, inputs, expected, last=True, **attributes):
        name = f"y{len(self.outputs)}"
        self.node(op, name, inputs, **attributes)
        self.outputs.append(name)
        self.expected.append(expected.permute(0, 2, 3, 1) if last else expected)


def convolutions():
    g = Graph()
    names = iter(list(ACTIVATIONS) * 5)
    for shape in IMAGES:
        for stride in (1, 2):
            x, value = g.input(*shape)
            weights, bias, more = torch.randn(3, 3, shape[3], 5) * 0.3, torch.randn(5), torch.rand(5) + 0.5
            y = same(channels_first(value), weights.permute(3, 2, 0, 1), stride)
            attributes = {"strides": [1, stride, stride, 1], "padding": "SAME", "data_format": "NHWC", "dilations": [1, 1, 1, 1]}
            kernel, vector = constant(g, weights), constant(g, bias)
            activation = next(names)
            g.result("_FusedConv2D", [x, kernel, vector], y + column(bias), fused_ops=["BiasAdd"], num_args=1, **attributes)
            g.result("_FusedConv2D", [x, kernel, vector], ACTIVATIONS[activation](y + column(bias)), fused_ops=["BiasAdd", activation], num_args=1, **attributes)
            g.result("_FusedConv2D", [x, kernel, vector], F.leaky_relu(y + column(bias), 0.3), fused_ops=["BiasAdd", "LeakyRelu"], leakyrelu_alpha=0.3, **attributes)
            g.result("_FusedConv2D", [x, kernel, vector, constant(g, more)], F.prelu(y + column(bias), more), fused_ops=["BiasAdd", "Prelu"], **attributes)
            statistics = [constant(g, t) for t in (more, bias, bias * 0.5, more)]
            g.result("_FusedConv2D", [x, kernel, *statistics], F.relu(F.batch_norm(y, bias * 0.5, more, more, bias, eps=1e-3)), fused_ops=["FusedBatchNorm", "Relu"], epsilon=1e-3,
                     **attributes)
            beside, other = g.input(*y.permute(0, 2, 3, 1).shape)
            g.result("_FusedConv2D", [x, kernel, vector, beside], F.relu(y + column(bias) + channels_first(other)), fused_ops=["BiasAdd", "Add", "Relu"], **attributes)
    return finish(g, g.outputs, g.expected)


def depthwise():
    g = Graph()
    for shape in IMAGES:
        for op in ("FusedDepthwiseConv2dNative", "_FusedDepthwiseConv2dNative"):
            x, value = g.input(*shape)
            channels, each = shape[3], 2
            weights, bias = torch.randn(3, 3, channels, each) * 0.3, torch.randn(channels * each)
            y = same(channels_first(value), weights.permute(2, 3, 0, 1).reshape(channels * each, 1, 3, 3), 2, channels)
            g.result(op, [x, constant(g, weights), constant(g, bias)], F.relu6(y + column(bias)), fused_ops=["BiasAdd", "Relu6"], strides=[1, 2, 2, 1], padding="SAME",
                     data_format="NHWC", num_args=1)
    return finish(g, g.outputs, g.expected)


def products():
    g = Graph()
    for (m, k, n), activation in zip([(4, 8, 16), (3, 5, 7), (33, 17, 40)], ["Relu", "Tanh", "GeluApproximate"]):
        x, value = g.input(m, k)
        weights, bias = torch.randn(k, n), torch.randn(n)
        y = value @ weights + bias
        g.result("_FusedMatMul", [x, constant(g, weights), constant(g, bias)], y, last=False, fused_ops=["BiasAdd"], num_args=1)
        g.result("_FusedMatMul", [x, constant(g, weights.T), constant(g, bias)], ACTIVATIONS[activation](y), last=False, fused_ops=["BiasAdd", activation], transpose_b=True)
        left, a = g.input(2, m, k)
        right, b = g.input(2, n, k)
        scale, (beside, c) = torch.tensor(k**-0.5), g.input(2, m, n)
        g.result("_FusedBatchMatMulV2", [left, right, constant(g, scale), beside], a @ b.transpose(1, 2) * scale + c, last=False, fused_ops=["Mul", "Add"], num_args=2, adj_x=False, adj_y=True)
        g.result("_FusedBatchMatMulV2", [left, right], torch.relu(a @ b.transpose(1, 2)), last=False, fused_ops=["Relu"], num_args=0, adj_y=True)
        slope = torch.rand(n)
        g.result("_FusedMatMul", [x, constant(g, weights), constant(g, bias), constant(g, slope)], F.prelu(y, slope), last=False, fused_ops=["BiasAdd", "Prelu"])
    return finish(g, g.outputs, g.expected)


def norms():
    g = Graph()
    for shape in IMAGES:
        x, value = g.input(*shape)
        beside, other = g.input(*shape)
        scale, offset, mean, variance = torch.rand(shape[3]) + 0.5, torch.randn(shape[3]), torch.randn(shape[3]), torch.rand(shape[3]) + 0.5
        y = F.batch_norm(channels_first(value), mean, variance, scale, offset, eps=1e-3)
        inputs = [x, *(constant(g, t) for t in (scale, offset, mean, variance))]
        g.result("_FusedBatchNormEx", inputs, F.relu(y), is_training=False, epsilon=1e-3, activation_mode="Relu", num_side_inputs=0)
        g.result("_FusedBatchNormEx", [*inputs, beside], F.relu(y + channels_first(other)), is_training=False, epsilon=1e-3, activation_mode="Relu", num_side_inputs=1)
        slope = torch.rand(shape[3])
        g.result("Prelu", [x, constant(g, slope)], F.prelu(channels_first(value), slope))
    return finish(g, g.outputs, g.expected)


GRAPHS = {f"fused_{f.__name__}": f for f in (convolutions, depthwise, products, norms)}
