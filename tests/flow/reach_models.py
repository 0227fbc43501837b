#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small models of kinds that public files have and that were refused once: compiled with default formats, run on target golden, and compared with PyTorch or NumPy.

    reach_models.py --build BUILD_DIR --source SOURCE_DIR [--device NAME] [-v] [NAME...]

Each kind has three models of different sizes, one of them odd. For PyTorch's kinds the expectation is what PyTorch gives; those of ONNX and TensorFlow are made from
the same weights by PyTorch or NumPy. What runs on the host is listed with -v; convolutions and products never do. Skipped (77) without PyTorch or ONNX's Python package.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx
    import torch
    import torch.nn.functional as F
    from onnx import TensorProto, helper, numpy_helper
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
except ImportError:
    print("skipped: no PyTorch or no ONNX for Python")
    sys.exit(77)

try:
    import torchvision
except ImportError:
    torchvision = None

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import slices  # noqa: E402
import tensorflow_graphs as tf  # noqa: E402

warnings.filterwarnings("ignore")
CONTRIB = "com.microsoft"
TYPES = {torch.float32: "F32", torch.int64: "I64"}
# Three sizes: whole tiles, small ones, and odd ones.
SIZES = [0, 1, 2]
# What the host never computes.
HEAVY = {"matmul", "gemm", "conv1d", "conv2d", "conv3d", "conv1d_transpose", "conv2d_transpose", "conv3d_transpose", "lstm", "gru", "rnn"}
KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


# ---- ONNX

class Onnx:
    """A model node by node: values are names, arrays become initializers."""

    def __init__(self):
        self.nodes, self.inputs, self.initializers, self.count = [], {}, [], 0

    def input(self, name, value):
        self.inputs[name] = value.numpy() if isinstance(value, torch.Tensor) else value
        return name

    def named(self, value):
        if value is None or isinstance(value, str):
            return value or ""
        array = value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
        self.count += 1
        self.initializers.append(numpy_helper.from_array(np.array(array, order="C"), f"w{self.count}"))
        return f"w{self.count}"

    def op(self, op, *inputs, outputs=1, domain="", **attributes):
        self.count += 1
        names = [f"{op}_{self.count}"] if outputs == 1 else [f"{op}_{self.count}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, [self.named(v) for v in inputs], names, name=f"{op}_{self.count}", domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def finish(self, results, order=None):
        expected = {}
        for i, (name, value) in enumerate(results):
            self.nodes.append(helper.make_node("Identity", [name], [f"y{i}"], name=f"out{i}"))
            expected[f"y{i}"] = value.detach().numpy() if isinstance(value, torch.Tensor) else value
        info = lambda n, a: helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype) if hasattr(helper, "np_dtype_to_tensor_dtype") else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[a.dtype], a.shape)
        nodes = self.nodes if order is None else [self.nodes[i] for i in order(len(self.nodes))]
        graph = helper.make_graph(nodes, "g", [info(n, a) for n, a in self.inputs.items()], [info(n, a) for n, a in expected.items()], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(CONTRIB, 1)])
        model.ir_version = 8
        onnx.save(model, "m.onnx")
        return ["m.onnx"], self.inputs, expected


def linear(width, to):
    return torch.randn(width, to) / width ** 0.5, torch.randn(to) * 0.1


@kind
def unsorted_nodes(size):
    g, (n, c, h, w) = Onnx(), [(1, 4, 16, 16), (2, 3, 8, 8), (1, 5, 13, 11)][size]
    x, k, b = torch.randn(n, c, h, w), torch.randn(8, c, 3, 3) * 0.3, torch.randn(8)
    m = torch.randn(8, 5) * 0.3
    y = g.op("Relu", g.op("Conv", g.input("x", x), k, b, pads=[1, 1, 1, 1]))
    y = g.op("MatMul", g.op("Flatten", g.op("GlobalAveragePool", y)), m)
    return g.finish([(y, F.relu(F.conv2d(x, k, b, padding=1)).mean((2, 3)) @ m)], order=lambda n: list(range(n))[::-1])


@kind
def if_on_data(size):
    g, (n, w, to) = Onnx(), [(4, 32, 16), (1, 16, 8), (3, 37, 11)][size]
    x, (a, p), (b, q) = torch.randn(n, w), linear(w, to), linear(w, to)
    g.input("x", x)
    out = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [n, to])
    branch = lambda name, weight, bias, more: helper.make_graph(
        [helper.make_node("Gemm", ["x", g.named(weight), g.named(bias)], [name + "g"]), helper.make_node(more, [name + "g"], [name + "y"])], name, [], [out(name + "y")])
    then, other = branch("t", a, p, "Relu"), branch("e", b, q, "Tanh")
    condition = g.op("Greater", g.op("ReduceMean", "x", keepdims=0), np.float32(0))
    y = g.op("If", condition, then_branch=then, else_branch=other)
    return g.finish([(y, F.relu(x @ a + p) if x.mean() > 0 else torch.tanh(x @ b + q))])


@kind
def sequences(size):
    g, (n, parts, w) = Onnx(), [(4, 2, 32), (2, 3, 8), (3, 4, 15)][size]
    x, m = torch.randn(n, parts, w), torch.randn(w, w) / w ** 0.5
    sequence = g.op("SplitToSequence", g.input("x", x), np.int64(1), axis=1)
    body = helper.make_graph([helper.make_node("MatMul", ["item", "m"], ["product"]), helper.make_node("Relu", ["product"], ["mapped"])], "body",
                             [helper.make_tensor_value_info("item", TensorProto.FLOAT, [n, 1, w])], [helper.make_tensor_value_info("mapped", TensorProto.FLOAT, [n, 1, w])])
    g.initializers.append(numpy_helper.from_array(m.numpy(), "m"))
    mapped = g.op("SequenceMap", sequence, body=body)
    first = g.op("SequenceAt", mapped, np.int64(0))
    more = g.op("SequenceInsert", mapped, g.op("SequenceAt", sequence, np.int64(-1)), np.int64(1))
    y = F.relu(x @ m)
    return g.finish([(g.op("ConcatFromSequence", more, axis=1), torch.cat([y[:, :1], x[:, -1:], y[:, 1:]], 1)), (first, y[:, :1])])


@kind
def slice_at_run_time(size):
    g, (rows, take, w, start) = Onnx(), [(64, 32, 32, 7), (8, 3, 16, 5), (29, 13, 37, 11)][size]
    x, (m, b) = torch.randn(rows, w), linear(w, w)
    g.input("x", x)
    g.input("start", np.array([start], np.int64))
    y = g.op("Slice", "x", "start", g.op("Add", "start", np.array([take], np.int64)), np.array([0], np.int64))
    return g.finish([(g.op("Gemm", y, m, b), x[start:start + take] @ m + b)])


@kind
def fused_encoder(size):
    g, (n, t, w, heads) = Onnx(), [(1, 32, 64, 4), (2, 8, 16, 2), (1, 13, 30, 3)][size]
    x, (qkv, qkv_bias), (out, out_bias), (up, up_bias), (down, down_bias) = torch.randn(n, t, w), linear(w, 3 * w), linear(w, w), linear(w, 2 * w), linear(2 * w, w)
    gamma, beta = torch.rand(w) + 0.5, torch.randn(w) * 0.1
    g.input("x", x)
    a = g.op("Attention", "x", qkv, qkv_bias, domain=CONTRIB, num_heads=heads)
    h = g.op("SkipLayerNormalization", g.op("MatMul", a, out), "x", gamma, beta, out_bias, domain=CONTRIB, epsilon=1e-5)
    f = g.op("BiasGelu", g.op("FusedMatMul", h, up.T, domain=CONTRIB, transB=1, alpha=1.0), up_bias, domain=CONTRIB)
    y = g.op("SkipLayerNormalization", g.op("MatMul", f, down), h, gamma, beta, down_bias, domain=CONTRIB, epsilon=1e-5)
    q, k, v = (s.view(n, t, heads, w // heads).transpose(1, 2) for s in (x @ qkv + qkv_bias).split(w, 2))
    attended = (F.softmax(q @ k.transpose(2, 3) / (w // heads) ** 0.5, -1) @ v).transpose(1, 2).reshape(n, t, w)
    h2 = F.layer_norm(attended @ out + x + out_bias, (w,), gamma, beta, 1e-5)
    return g.finish([(y, F.layer_norm(F.gelu(h2 @ up + up_bias) @ down + h2 + down_bias, (w,), gamma, beta, 1e-5))])


@kind
def embedded_encoder(size):
    g, (n, t, w) = Onnx(), [(1, 32, 64), (2, 8, 16), (3, 7, 33)][size]
    ids, segments = torch.randint(0, 41, (n, t)), torch.randint(0, 2, (n, t))
    words, places, kinds, gamma, beta, (m, b) = torch.randn(41, w), torch.randn(t, w), torch.randn(2, w), torch.rand(w) + 0.5, torch.randn(w), linear(w, w)
    e, _ = g.op("EmbedLayerNormalization", g.input("ids", ids.int()), g.input("segments", segments.int()), words, places, kinds, gamma, beta, outputs=2, domain=CONTRIB, epsilon=1e-5)
    y = g.op("FastGelu", g.op("MatMul", e, m), b, domain=CONTRIB)
    x = F.layer_norm(words[ids] + places[None] + kinds[segments], (w,), gamma, beta, 1e-5)
    return g.finish([(y, F.gelu(x @ m + b, approximate="tanh"))])


@kind
def rotary_attention(size):
    g, (n, t, heads, w) = Onnx(), [(1, 32, 2, 32), (2, 8, 2, 8), (1, 11, 3, 14)][size]
    width = heads * w
    q, k, v = (torch.randn(n, t, width) for _ in range(3))
    angles = torch.outer(torch.arange(t).float(), 1 / 10000 ** (torch.arange(0, w, 2).float() / w))
    cos, sin = angles.cos(), angles.sin()
    places = np.tile(np.arange(t, dtype=np.int64), (n, 1))
    turned = [g.op("RotaryEmbedding", g.input(name, value), g.named(places), cos, sin, domain=CONTRIB, num_heads=heads) for name, value in (("q", q), ("k", k))]
    y = g.op("MultiHeadAttention", *turned, g.input("v", v), domain=CONTRIB, num_heads=heads)

    def turn(x):
        a, b = x.view(n, t, heads, w).transpose(1, 2).chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)

    attended = F.softmax(turn(q) @ turn(k).transpose(2, 3) / w ** 0.5, -1) @ v.view(n, t, heads, w).transpose(1, 2)
    return g.finish([(y, attended.transpose(1, 2).reshape(n, t, width))])


@kind
def quantized_chain(size):
    g, (n, c, h, w) = Onnx(), [(1, 4, 16, 16), (2, 3, 8, 8), (1, 5, 11, 7)][size]
    x, k = torch.rand(n, c, h, w), np.random.default_rng(size).integers(-100, 100, (6, c, 3, 3)).astype(np.int8)
    one, two, zero, small = np.float32(1 / 255), np.float32(0.1), np.uint8(0), np.float32(0.01)
    q = g.op("QuantizeLinear", g.input("x", x), one, zero)
    y = g.op("QLinearConv", q, one, zero, k, small, np.int8(0), two, np.uint8(128), pads=[1, 1, 1, 1])
    y = g.op("QLinearAdd", y, two, np.uint8(128), y, two, np.uint8(128), two, np.uint8(128), domain=CONTRIB)
    y = g.op("DequantizeLinear", g.op("QLinearLeakyRelu", y, two, np.uint8(128), two, np.uint8(128), domain=CONTRIB, alpha=0.5), two, np.uint8(128))
    held = lambda value: torch.clamp(torch.round(value / float(two)) + 128, 0, 255)
    real = lambda value: (value - 128) * float(two)
    levels = torch.clamp(torch.round(x / float(one)), 0, 255)
    sums = F.conv2d(levels.double(), torch.tensor(k).double(), padding=1).float() * float(one) * float(small)
    added = held(2 * real(held(sums)))
    return g.finish([(y, real(held(F.leaky_relu(real(added), 0.5))).float())])


@kind
def odd_resizes(size):
    g, (n, c, h, w, to) = Onnx(), [(1, 3, 32, 32, (72, 56)), (2, 4, 8, 12, (20, 31)), (1, 3, 13, 17, (41, 29))][size]
    x, k = torch.randn(n, c, h, w), torch.randn(6, c, 3, 3) * 0.3
    y = g.op("Conv", g.input("x", x), k, pads=[1, 1, 1, 1])
    conv = F.conv2d(x, k, padding=1)
    sizes = np.array([n, 6, *to], np.int64)
    linear_to = g.op("Resize", y, None, None, sizes, mode="linear", coordinate_transformation_mode="half_pixel")
    corners = g.op("Resize", y, None, None, sizes, mode="linear", coordinate_transformation_mode="align_corners")
    cubic = g.op("Resize", y, None, None, sizes, mode="cubic", coordinate_transformation_mode="half_pixel", cubic_coeff_a=-0.75)
    nearest = g.op("Resize", y, None, None, sizes, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    return g.finish([(linear_to, F.interpolate(conv, to, mode="bilinear")), (corners, F.interpolate(conv, to, mode="bilinear", align_corners=True)),
                     (cubic, F.interpolate(conv, to, mode="bicubic")), (nearest, F.interpolate(conv, to, mode="nearest"))])


# ---- PyTorch

def traced(module, *inputs):
    module = module.eval()
    with torch.no_grad():
        program = torch.jit.trace(module, inputs, check_trace=False, strict=False)
        program.save("m.pt")
        result = module(*inputs)
    names = [a.name for a in torch.jit.load("m.pt").forward.schema.arguments if a.name != "self"]
    results = [result] if isinstance(result, torch.Tensor) else list(result)
    options = [o for name, value in zip(names, inputs) for o in ("--input-shape", f"{name}={','.join(map(str, value.shape))}:{TYPES[value.dtype]}")]
    return ["m.pt", *options], {n: v.numpy() for n, v in zip(names, inputs)}, {f"output_{i}": v.numpy() for i, v in enumerate(results)}


class Of(nn.Module):
    """A module of parts, by a function of them and of the inputs."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, nn.Module):
                setattr(self, name, part)
            else:
                self.register_buffer(name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


@kind
def complex_rotary(size):
    n, t, heads, w = [(1, 32, 2, 32), (2, 8, 2, 8), (1, 11, 3, 14)][size]
    angles = torch.outer(torch.arange(2 * t).float(), 1 / 10000 ** (torch.arange(0, w, 2).float() / w))

    def forward(m, x):
        q, k, v = (s.view(n, t, heads, w) for s in m.qkv(x).split(heads * w, 2))
        q, k = (torch.view_as_real(torch.view_as_complex(s.reshape(n, t, heads, -1, 2)) * m.angles[:t, None]).flatten(3) for s in (q, k))
        q, k, v = (s.transpose(1, 2) for s in (q, k, v))
        return (F.softmax(q @ k.transpose(2, 3) / w ** 0.5, -1) @ v).transpose(1, 2).reshape(n, t, heads * w)

    return traced(Of(forward, qkv=nn.Linear(heads * w, 3 * heads * w), angles=torch.polar(torch.ones_like(angles), angles)), torch.randn(n, t, heads * w))


@kind
def vocoder(size):
    n, c, t = [(1, 16, 64), (2, 4, 24), (1, 5, 37)][size]
    up, after = nn.utils.weight_norm(nn.ConvTranspose1d(c, 8, 4, 2, 1)), nn.utils.weight_norm(nn.Conv1d(8, 8, 3, padding=3, dilation=3))
    return traced(Of(lambda m, x: torch.tanh(m.after(F.leaky_relu(m.up(x), 0.1))), up=up, after=after), torch.randn(n, c, t))


@kind
def spatial_transformer(size):
    n, h, w = [(1, 16, 16), (2, 8, 8), (1, 13, 11)][size]
    net = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 6))
    bias = torch.tensor([1.0, 0, 0, 0, 1, 0])
    return traced(Of(lambda m, x: F.grid_sample(x, F.affine_grid((m.net(x) * 0.1 + m.bias).view(n, 2, 3), (n, 1, h, w), align_corners=False), align_corners=False), net=net, bias=bias),
                  torch.randn(n, 1, h, w))


@kind
def mel_spectrum(size):
    n, samples, points, hop, mels = [(1, 512, 64, 16, 32), (2, 96, 16, 8, 6), (1, 301, 30, 13, 11)][size]
    window, bank = torch.hann_window(points), torch.rand(mels, points // 2 + 1)
    return traced(Of(lambda m, x: torch.log(m.bank @ torch.stft(x, points, hop, window=m.window, return_complex=True).abs() ** 2 + 1e-2), window=window, bank=bank), torch.randn(n, samples))


@kind
def spectral_mask(size):
    n, samples, points, hop = [(1, 512, 64, 16), (2, 96, 16, 4), (1, 300, 30, 10)][size]
    mask, window = nn.Linear(points // 2 + 1, points // 2 + 1), torch.hann_window(points)

    def forward(m, x):
        z = torch.stft(x, points, hop, window=m.window, return_complex=True)
        return torch.istft(z * torch.sigmoid(m.mask(z.abs().transpose(1, 2))).transpose(1, 2), points, hop, window=m.window, length=samples)

    return traced(Of(forward, mask=mask, window=window), torch.randn(n, samples))


@kind
def folded_patches(size):
    n, c, h, w, patch = [(1, 4, 16, 16, 4), (2, 3, 8, 8, 2), (1, 2, 15, 9, 3)][size]
    mix = nn.Linear(c * patch * patch, c * patch * patch)
    return traced(Of(lambda m, x: F.fold(m.mix(F.unfold(x, patch, stride=patch).transpose(1, 2)).transpose(1, 2), (h, w), patch, stride=patch), mix=mix), torch.randn(n, c, h, w))


@kind
def prototypes(size):
    n, w, count = [(32, 32, 32), (4, 8, 5), (13, 19, 7)][size]
    return traced(Of(lambda m, x: F.softmax(-torch.cdist(m.net(x), m.points), -1), net=nn.Linear(w, w), points=torch.randn(count, w)), torch.randn(n, w))


@kind
def recommender(size):
    n, bag, w = [(8, 4, 32), (2, 3, 8), (5, 7, 13)][size]
    tables = {f"t{i}": nn.EmbeddingBag(31, w, mode=mode) for i, mode in enumerate(("sum", "mean"))}
    top = nn.Sequential(nn.Linear(3 * w, 16), nn.ReLU(), nn.Linear(16, 1))
    return traced(Of(lambda m, a, b, x: torch.sigmoid(m.top(torch.cat([m.t0(a), m.t1(b), x], 1))), top=top, **tables), torch.randint(0, 31, (n, bag)), torch.randint(0, 31, (n, bag)), torch.randn(n, w))


@kind
def put_along_axes(size):
    n, t, w = [(2, 32, 32), (1, 8, 6), (3, 11, 13)][size]

    def forward(m, x, v):
        y = m.net(x).clone()
        y[:, torch.tensor([3, 0, 5])] = v
        y[..., torch.tensor([1, 4])] = 0.5
        return y

    return traced(Of(forward, net=nn.Linear(w, w)), torch.randn(n, t, w), torch.randn(n, 3, w))


@kind
def packed_recurrence(size):
    n, t, w = [(2, 8, 32), (1, 5, 6), (3, 7, 13)][size]
    layer, lengths = nn.LSTM(w, 12, batch_first=True), torch.arange(t, t - n, -1)

    def forward(m, x, lengths):
        y, _ = m.layer(pack_padded_sequence(x, lengths, batch_first=True))
        return pad_packed_sequence(y, batch_first=True, total_length=t)[0]

    return traced(Of(forward, layer=layer), torch.randn(n, t, w), lengths)


@kind
def projected_recurrence(size):
    n, t, w = [(2, 8, 32), (1, 5, 6), (3, 7, 13)][size]
    return traced(Of(lambda m, x: m.head(m.layer(x)[0]), layer=nn.LSTM(w, 12, proj_size=5, batch_first=True, bidirectional=True), head=nn.Linear(10, 4)), torch.randn(n, t, w))


@kind
def ranked_bins(size):
    n, w = [(32, 32), (3, 8), (7, 19)][size]
    edges, table = torch.tensor([-1.0, -0.25, 0.5, 1.5]), nn.Embedding(5, 6)
    return traced(Of(lambda m, x: (m.table(torch.bucketize(torch.round(x * 4) / 4, m.edges)), m.net(x - x.median(1, keepdim=True)[0])), edges=edges, table=table, net=nn.Linear(w, 4)), torch.randn(n, w))


@kind
def detection_head(size):
    n, c, h, w = [(1, 8, 16, 16), (2, 4, 8, 8), (1, 5, 13, 11)][size]
    corners = torch.rand(3, 2) * torch.tensor([w / 2, h / 2])
    boxes = torch.cat([torch.arange(3)[:, None].float() % n, corners, corners + torch.rand(3, 2) * torch.tensor([w / 2, h / 2]) + 1], 1)
    net, head = nn.Conv2d(c, 6, 3, padding=1), nn.Linear(6 * 9, 5)
    model, inputs, expected = traced(Of(lambda m, x, b: m.head(torchvision.ops.roi_align(F.relu(m.net(x)), b, (3, 3), 1.0, 2, True).flatten(1)), net=net, head=head), torch.randn(n, c, h, w), boxes)
    # Numbers of the program are taken as of size 1 unless a range tells that they are places in an image (decision 0029).
    return [*model, "--value-range", f"{list(inputs)[1]}=0:32"], inputs, expected


@kind
def deformable(size):
    n, c, h, w, groups, parts = [(1, 4, 16, 16, 1, 1), (2, 4, 8, 8, 2, 2), (1, 6, 9, 11, 1, 3)][size]
    offset, mask = nn.Conv2d(c, 2 * parts * 9, 3, 2, 1), nn.Conv2d(c, parts * 9, 3, 2, 1)
    weight, bias = torch.randn(8, c // groups, 3, 3) * 0.3, torch.randn(8)
    call = lambda m, x, k=None: torchvision.ops.deform_conv2d(x, m.offset(x), m.weight, m.bias, stride=2, padding=1, mask=k)
    return traced(Of(lambda m, x: (call(m, x, torch.sigmoid(m.mask(x))), call(m, x)), offset=offset, mask=mask, weight=weight, bias=bias), torch.randn(n, c, h, w))


# ---- TensorFlow

@kind
def grappler(size):
    n, h, w, c = [(1, 16, 16, 4), (2, 8, 8, 3), (1, 11, 7, 5)][size]
    g, x = tf.Graph(), torch.randn(n, h, w, c)
    k, b, scale, mean, variance = torch.randn(3, 3, c, 6) * 0.3, torch.randn(6), torch.rand(6) + 0.5, torch.randn(6) * 0.1, torch.rand(6) + 0.5
    constant = lambda t: g.constant(t.numpy())
    g.placeholder("x", tuple(x.shape))
    g.node("_FusedConv2D", "conv", ["x", constant(k), constant(b)], fused_ops=["BiasAdd", "Relu6"], num_args=1, strides=[1, 1, 1, 1], padding="SAME", data_format="NHWC", dilations=[1, 1, 1, 1])
    g.node("_FusedBatchNormEx", "norm", ["conv", *map(constant, (scale, b, mean, variance))], is_training=False, epsilon=1e-3, activation_mode="Relu", num_side_inputs=0)
    g.node("Reshape", "rows", ["norm", g.integers([n, h * w, 6])])
    g.node("_FusedBatchMatMulV2", "scores", ["rows", "rows", constant(torch.tensor(6.0) ** -0.5)], fused_ops=["Mul"], num_args=1, adj_x=False, adj_y=True)
    g.node("Softmax", "softmax", ["scores"])
    g.node("BatchMatMulV2", "y", ["softmax", "rows"], adj_x=False, adj_y=False)
    with open("m.pb", "wb") as file:
        file.write(g.definition.SerializeToString())
    y = F.relu6(F.conv2d(x.permute(0, 3, 1, 2), k.permute(3, 2, 0, 1), b, padding=1))
    rows = F.relu(F.batch_norm(y, mean, variance, scale, b, eps=1e-3)).permute(0, 2, 3, 1).reshape(n, h * w, 6)
    expected = F.softmax(rows @ rows.transpose(1, 2) * 6.0 ** -0.5, -1) @ rows
    return ["m.pb"], {"x": x.numpy()}, {"y": expected.numpy()}


@kind
def spectrogram(size):
    """As models of sounds begin: overlapping frames, their spectra, a filter bank and a logarithm."""
    samples, width, step, length, bands = [(320, 64, 32, 64, 8), (400, 100, 50, 128, 16), (517, 75, 34, 75, 11)][size]
    x, filters = torch.randn(1, samples), torch.rand(length // 2 + 1, bands)
    count = (samples - width) // step + 1
    g = tf.Graph()
    g.placeholder("x", tuple(x.shape))
    places = np.arange(count, dtype=np.int32)[:, None] * step + np.arange(width, dtype=np.int32)
    g.node("GatherV2", "frames", ["x", g.constant(places), g.constant(np.int32(1))], of=None)
    g.node("Mul", "windowed", ["frames", g.constant(torch.hann_window(width).numpy())])
    g.node("RFFT", "spectra", ["windowed", g.integers([length])], of=None)
    g.node("ComplexAbs", "magnitudes", ["spectra"], of=None)
    g.node("Reshape", "rows", ["magnitudes", g.integers([count, length // 2 + 1])])
    g.node("MatMul", "bands", ["rows", g.constant(filters.numpy())])
    g.node("Log", "y", [g.node("AddV2", "more", ["bands", g.constant(np.float32(0.1))])])
    with open("m.pb", "wb") as file:
        file.write(g.definition.SerializeToString())
    spectra = torch.fft.rfft(x[0][torch.from_numpy(places).long()] * torch.hann_window(width), length).abs()
    return ["m.pb"], {"x": x.numpy()}, {"y": torch.log(spectra @ filters + 0.1).numpy()}


def run(tools, *command):
    done = subprocess.run([os.path.join(tools, command[0]), *map(str, command[1:])], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def host_ops(plan):
    """Ops of the plan's segments on the host."""
    graphs = [plan.parent / segment["file"] for segment in json.loads(plan.read_text())["segments"] if segment["kind"] == "host"]
    return {node["op"] for graph in graphs for node in json.loads(graph.read_text())["nodes"]} - {"input", "output", "parameter", "constant"}


def judge(tools, name, size, device):
    """Why a model does not compile, or is wrong; nothing if it is right. And what is said of the host."""
    torch.manual_seed(7 + size)
    model, inputs, expected = KINDS[name](size)
    np.savez("in.npz", **inputs)
    np.savez("expected.npz", **expected)
    code, text = run(tools, "buda", "compile", *model, "-o", "m.tti", "--device", device, "--build-dir", "built", "-q")
    if code != 0:
        return text, ""
    host = host_ops(next(pathlib.Path("built").glob("*.plan.json")))
    if host & HEAVY:
        return f"the host computes {sorted(host & HEAVY)}", ""
    code, text = run(tools, "buda", "run", "m.tti", "--inputs", "in.npz", "--expect", "expected.npz")
    return (text if code != 0 else None), ", ".join(sorted(host))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--device", default="n150")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    tools, count, wrong = os.path.abspath(os.path.join(arguments.build, "bin")), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        tf.load_schema(os.path.abspath(arguments.source), folder)
        kinds = [name for name in KINDS if torchvision is not None or name not in ("detection_head", "deformable")]
        for name, size in slices.of_turn((name, size) for name in arguments.names or kinds for size in SIZES):
            with tempfile.TemporaryDirectory() as own:
                os.chdir(own)
                reason, host = judge(tools, name, size, arguments.device)
                os.chdir("/")
            count += 1
            wrong += reason is not None
            if reason:
                print(f"{name}.{size}: {reason.strip()[-1500:]}", flush=True)
            elif arguments.v:
                print(f"{name}.{size}: right" + (f"; on the host: {host}" if host else ""), flush=True)
    print(f"{count} models on {arguments.device}, {wrong} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
