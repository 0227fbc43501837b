#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""onnxruntime's own operators (domain com.microsoft, and norms of the default domain): next to onnxruntime, on target cpu and on golden.

    contrib.py --build BUILD_DIR [--device NAME] [--golden GROUPS] [-v] [GROUP...]
    contrib.py --reference NODE_MODULES

The cases of a group are nodes of one model, each with three shapes or more, one of them odd. Inputs are made here, by a formula; what the operators
should give is in contrib-expected.npz, which --reference writes with the onnxruntime-node that `make conformance-real` installs
(BUILD_DIR/real/node_modules). --golden is a regular expression for the groups that are compiled and run on golden, too. Ends with 1 when a case differs, with 77 when NumPy or ONNX's Python package is missing.
"""
import argparse
import math
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
    from onnx.mapping import NP_TYPE_TO_TENSOR_TYPE
except ImportError:
    print("skipped: no NumPy or no ONNX for Python")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "contrib-expected.npz"
CONTRIB = "com.microsoft"
GROUPS = {}
made = 0


def uniform(*shape):
    """Numbers between 0 and 1 that differ from call to call, and not from machine to machine."""
    global made
    count = int(np.prod(shape))
    at = np.arange(made, made + count, dtype=np.uint64)
    made += count + 7
    mixed = (at * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(11)
    return ((mixed % np.uint64(1 << 20)).astype(np.float64) / (1 << 20)).reshape(shape)


def real(*shape, scale=1.0):
    return ((uniform(*shape) * 2 - 1) * 1.7 * scale).astype(np.float32)


def positive(*shape):
    return (uniform(*shape) + 0.25).astype(np.float32)


def whole(least, most, *shape, dtype=np.int32):
    return (least + np.floor(uniform(*shape) * (most - least + 1))).astype(dtype)


class Known:
    """An initializer; other arrays are inputs of the model."""

    def __init__(self, array):
        self.array = np.asarray(array)


class Case:
    """A node. `inputs`: arrays, Known ones, and None for one that is left out. `results`: which of the results are compared. `expected`: result 0, where
    onnxruntime has no such operator for CPUs."""

    def __init__(self, op, inputs, attributes, domain, results, expected):
        self.expected = expected
        self.op, self.inputs, self.attributes, self.domain, self.results = op, inputs, attributes, domain, results


def case(of_group, op, inputs, domain=CONTRIB, results=(0,), expected=None, **attributes):
    GROUPS.setdefault(of_group, []).append(Case(op, inputs, attributes, domain, results, expected))


def info(name, array):
    return helper.make_tensor_value_info(name, NP_TYPE_TO_TENSOR_TYPE[array.dtype], array.shape)


def model_of(group, cases):
    nodes, inputs, initializers, outputs = [], {}, [], []
    for number, c in enumerate(cases):
        names = []
        for i, value in enumerate(c.inputs):
            name = "" if value is None else f"{c.op}.{number}.{i}"
            names.append(name)
            if isinstance(value, Known):
                initializers.append(numpy_helper.from_array(value.array, name))
            elif value is not None:
                inputs[name] = value
        results = [f"{c.op}.{number}.result{i}" if i in c.results else "" for i in range(max(c.results) + 1)]
        nodes.append(helper.make_node(c.op, names, results, name=f"{c.op}_{number}", domain=c.domain, **c.attributes))
        outputs += [(name, c) for name in results if name]
    graph = helper.make_graph(nodes, group, [info(n, v) for n, v in inputs.items()],
                              [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n, _ in outputs], initializers)
    for value in graph.output:
        value.ClearField("type")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(CONTRIB, 1)])
    model.ir_version = 8
    return model, inputs, outputs


# ---- products

def products():
    for m, k, n in [(4, 8, 16), (3, 5, 7), (33, 17, 40)]:
        case("products", "FusedMatMul", [real(m, k), Known(real(k, n))], alpha=0.5)
        case("products", "FusedMatMul", [real(2, k, m), Known(real(2, n, k))], transA=1, transB=1)
        case("products", "FusedMatMul", [real(m, 3, k), real(n, 3, k)], transBatchA=1, transBatchB=1, transB=1, transA=0, alpha=1.25)
        case("products", "FusedGemm", [real(m, k), Known(real(n, k)), Known(real(n))], transB=1, alpha=0.75, beta=0.5, activation="LeakyRelu", activation_alpha=0.125)
        case("products", "TransposeMatMul", [real(k, m), Known(real(k, n))], transA=1)
    case("products", "FusedGemm", [real(6, 9), Known(real(9, 5))], activation="Relu")
    case("products", "FusedGemm", [real(6, 9), Known(real(9, 5)), Known(real(6, 5))], activation="Tanh")
    for size, channels in [(8, 4), (7, 3), (13, 5)]:
        x, w, b = real(1, channels, size, size), Known(real(6, channels, 3, 3, scale=0.4)), Known(real(6))
        case("products", "FusedConv", [x, w, b], activation="Relu", pads=[1, 1, 1, 1])
        case("products", "FusedConv", [x, w, b], activation="Clip", activation_params=[-0.5, 0.75], strides=[2, 2], kernel_shape=[3, 3])
        case("products", "FusedConv", [x, w, b, real(1, 6, size, size)], activation="LeakyRelu", activation_params=[0.25], pads=[1, 1, 1, 1])
    case("products", "FusedConv", [real(1, 4, 6, 9), Known(real(4, 1, 3, 3)), Known(real(4))], activation="HardSigmoid", activation_params=[0.3, 0.4], group=4)


def activations():
    for shape in [(2, 8), (3, 5, 7), (1, 33, 40)]:
        case("activations", "Gelu", [real(*shape)])
        case("activations", "BiasGelu", [real(*shape), Known(real(shape[-1]))])
        case("activations", "FastGelu", [real(*shape)])
        case("activations", "FastGelu", [real(*shape), Known(real(shape[-1]))])
        case("activations", "QuickGelu", [real(*shape)])
        case("activations", "QuickGelu", [real(*shape)], alpha=1.0)


# ---- norms

def norms():
    for batch, length, width in [(1, 4, 32), (2, 3, 7), (1, 9, 65)]:
        x, gamma, beta, bias = real(batch, length, width), Known(positive(width)), Known(real(width)), Known(real(width))
        case("norms", "SkipLayerNormalization", [x, real(batch, length, width), gamma, beta, bias], results=(0, 3), epsilon=1e-5)
        case("norms", "SkipLayerNormalization", [x, real(length, width), gamma], epsilon=1e-2)
        case("norms", "SkipSimplifiedLayerNormalization", [x, real(batch, length, width), gamma, bias], results=(0, 3), epsilon=1e-5)
        case("norms", "SkipSimplifiedLayerNormalization", [x, real(batch, length, width), gamma], epsilon=1e-3)
        case("norms", "SimplifiedLayerNormalization", [x, gamma], domain="", epsilon=1e-6, axis=-1)
        case("norms", "SimplifiedLayerNormalization", [x, Known(positive(length, width))], domain="", axis=1)
    for batch, length, width, kinds in [(1, 4, 32, 2), (2, 5, 7, 3), (3, 9, 33, 2)]:
        ids, segments = whole(0, 29, batch, length), whole(0, kinds - 1, batch, length)
        tables = [Known(real(30, width)), Known(real(12, width)), Known(real(kinds, width)), Known(positive(width)), Known(real(width))]
        mask = (np.arange(length)[None] < np.arange(1, batch + 1)[:, None] + 1).astype(np.int32)
        case("norms", "EmbedLayerNormalization", [ids, segments, *tables, mask], results=(0, 1), epsilon=1e-5)
        case("norms", "EmbedLayerNormalization", [ids, None, *tables[:2], None, *tables[3:], None, whole(0, 11, batch, length)], results=(0, 1, 2), epsilon=1e-4)


# ---- what onnxruntime has for GPUs alone

def gelu(x):
    return (x * 0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2.0)))).astype(np.float32)


def of_gpus():
    for batch, rows, columns, channels, groups in [(1, 4, 4, 8, 2), (2, 3, 5, 6, 3), (1, 7, 9, 33, 11)]:
        x, bias, skip = real(batch, rows * columns, channels), real(channels), real(batch, rows * columns, channels)
        case("of_gpus", "BiasAdd", [x, Known(bias), skip], expected=x + bias + skip)
        wide = np.concatenate([x, skip], -1)
        moved = wide + np.concatenate([bias, bias])
        case("of_gpus", "BiasSplitGelu", [wide, Known(np.concatenate([bias, bias]))], expected=moved[..., :channels] * gelu(moved[..., channels:]))
        image, gamma, beta = real(batch, rows, columns, channels), positive(channels), real(channels)
        lines = image.transpose(0, 3, 1, 2).reshape(batch, groups, -1)
        normal = (lines - lines.mean(-1, keepdims=True)) / np.sqrt(lines.var(-1, keepdims=True) + 1e-3)
        normal = normal.reshape(batch, channels, rows, columns).transpose(0, 2, 3, 1) * gamma + beta
        case("of_gpus", "GroupNorm", [image, Known(gamma), Known(beta)], groups=groups, activation=1, epsilon=1e-3, expected=normal / (1 + np.exp(-normal)))
        case("of_gpus", "GroupNorm", [image.transpose(0, 3, 1, 2), Known(gamma), Known(beta)], groups=groups, activation=0, channels_last=0, epsilon=1e-3,
             expected=normal.transpose(0, 3, 1, 2))


# ---- attention

def attention():
    for batch, length, width, heads in [(1, 4, 32, 2), (2, 5, 12, 3), (1, 33, 40, 5)]:
        x, w, b = real(batch, length, width), Known(real(width, 3 * width, scale=0.25)), Known(real(3 * width))
        raw = (uniform(batch, length) > 0.3).astype(np.int32)
        raw[:, 0] = 1
        case("attention", "Attention", [x, w, b], num_heads=heads)
        case("attention", "Attention", [x, w, b, raw], num_heads=heads)
        case("attention", "Attention", [x, w, b, np.full(batch, length - 1, np.int32)], num_heads=heads, unidirectional=1)
        case("attention", "Attention", [x, w, b, np.array([length] * batch + [1] * batch, np.int32)], num_heads=heads, mask_filter_value=-5000.0)
        pairs = (uniform(batch, length, length) > 0.3).astype(np.int32)
        pairs[:, :, 1] = 1
        case("attention", "Attention", [x, w, b, pairs, None, real(1, heads, length, length)], num_heads=heads, scale=0.3)
        past = 3
        case("attention", "Attention", [x, w, b, None, real(2, batch, heads, past, width // heads)], num_heads=heads, unidirectional=1, results=(0, 1))
        case("attention", "Attention", [x, Known(real(width, 2 * width + 2 * heads, scale=0.25)), Known(real(2 * width + 2 * heads))], num_heads=heads,
             qkv_hidden_sizes=[width, width, 2 * heads])
    for batch, length, keys, width, heads in [(1, 4, 4, 32, 2), (2, 5, 7, 12, 3), (1, 9, 33, 40, 5)]:
        q, k, v = real(batch, length, width), real(batch, keys, width), real(batch, keys, width)
        bias = Known(real(3 * width))
        mask = (uniform(batch, keys) > 0.3).astype(np.int32)
        mask[:, 0] = 1
        case("attention", "MultiHeadAttention", [q, k, v], num_heads=heads)
        case("attention", "MultiHeadAttention", [q, k, v, bias, mask], num_heads=heads)
        case("attention", "MultiHeadAttention", [q, k, v, bias, None, real(1, heads, length, keys)], num_heads=heads, scale=0.4)
        h = width // heads
        case("attention", "MultiHeadAttention", [q, real(batch, heads, keys, h), real(batch, heads, keys, h), bias], num_heads=heads)
        step = real(batch, length, width)
        case("attention", "MultiHeadAttention", [q, step, real(batch, length, width), bias, None, None, real(batch, heads, 3, h), real(batch, heads, 3, h)],
             num_heads=heads, unidirectional=1, results=(0, 1, 2))
    for batch, length, heads, width, rotated in [(1, 4, 2, 16, 0), (2, 5, 3, 6, 0), (1, 9, 3, 14, 8)]:
        pairs = (rotated or width) // 2
        angles = np.arange(20)[:, None] * (10000.0 ** (-np.arange(pairs) / pairs))[None]
        tables = [Known(np.cos(angles).astype(np.float32)), Known(np.sin(angles).astype(np.float32))]
        positions = whole(0, 19, batch, length, dtype=np.int64)
        more = {"num_heads": heads, "rotary_embedding_dim": rotated} if rotated else {}
        case("attention", "RotaryEmbedding", [real(batch, length, heads * width), positions, *tables], **more)
        case("attention", "RotaryEmbedding", [real(batch, heads, length, width), Known(np.array([3], np.int64)), *tables], interleaved=1, **more)


# ---- quantised numbers

def quantised():
    scale = lambda value: Known(np.float32(value))
    byte, signed = np.uint8, np.int8
    for shape, dtype in [((2, 8), byte), ((3, 5, 7), signed), ((1, 33, 40), byte)]:
        least, most = (0, 255) if dtype == byte else (-128, 127)
        x, y = whole(least, most, *shape, dtype=dtype), whole(least, most, *shape, dtype=dtype)
        zero = Known(np.array((least + most + 1) // 2 + 3, dtype))
        for op in ["QLinearAdd", "QLinearMul"]:
            case("quantised", op, [x, scale(0.02), zero, y, scale(0.03), zero, scale(0.05), zero])
        case("quantised", "QLinearLeakyRelu", [x, scale(0.02), zero, scale(0.015), zero], alpha=0.2)
        case("quantised", "QLinearSigmoid", [x, scale(0.05), zero, scale(1 / 256), Known(np.array(least, dtype))])
        case("quantised", "QLinearSoftmax", [x, scale(0.05), zero, scale(1 / 256), Known(np.array(least, dtype))], axis=-1, opset=13)
        case("quantised", "QLinearConcat", [scale(0.04), zero, x, scale(0.02), zero, y, scale(0.03), zero], axis=1)
        case("quantised", "QLinearWhere", [uniform(*shape) > 0.5, x, scale(0.02), zero, y, scale(0.03), zero, scale(0.03), zero])
        case("quantised", "DequantizeLinear", [x, scale(0.02), zero])
        case("quantised", "QuantizeLinear", [real(*shape), scale(0.02), zero])
    for size, channels in [(8, 4), (7, 3), (9, 5)]:
        x, zero = whole(0, 255, 1, channels, size, size, dtype=byte), Known(np.array(120, byte))
        case("quantised", "QLinearGlobalAveragePool", [x, scale(0.02), zero, scale(0.005), zero], channels_last=0)
        case("quantised", "QLinearAveragePool", [x, scale(0.02), zero, scale(0.015), zero], kernel_shape=[2, 3], pads=[0, 1, 1, 0], strides=[2, 1])
    for m, k, n in [(4, 8, 16), (3, 5, 7), (9, 33, 20)]:
        a, b = whole(0, 255, m, k, dtype=byte), whole(-128, 127, k, n, dtype=signed)
        case("quantised", "MatMulIntegerToFloat", [a, Known(b), scale(0.02), Known(positive(n) * np.float32(0.02)), Known(np.array(117, byte)), Known(np.zeros(n, signed)), Known(real(n))])
        case("quantised", "DynamicQuantizeMatMul", [real(m, k), Known(b), scale(0.02), Known(np.array(3, signed)), Known(real(n))])
        case("quantised", "QGemm", [a, scale(0.02), Known(np.array(117, byte)), Known(b), scale(0.03), Known(np.array(2, signed)), Known(whole(-900, 900, n)), scale(0.2), Known(np.array(100, byte))])
        case("quantised", "QGemm", [a, scale(0.02), Known(np.array(117, byte)), Known(np.ascontiguousarray(b.T)), scale(0.03), Known(np.array(2, signed))], transB=1, alpha=0.5)
    for rows, inputs, outputs, block in [(2, 32, 8, 16), (3, 48, 7, 16), (5, 96, 33, 32)]:
        blocks = inputs // block
        packed, factors = Known(whole(0, 255, outputs, blocks, block // 2, dtype=byte)), Known(positive(outputs * blocks) * np.float32(0.1))
        zeros = Known(whole(0, 255, outputs * ((blocks + 1) // 2), dtype=byte))
        case("quantised", "MatMulNBits", [real(rows, inputs), packed, factors], K=inputs, N=outputs, bits=4, block_size=block)
        case("quantised", "MatMulNBits", [real(1, rows, inputs), packed, factors, zeros], K=inputs, N=outputs, bits=4, block_size=block)


# ---- decoders

def grouped():
    for batch, length, heads, key_heads, width in [(1, 4, 4, 2, 16), (2, 5, 3, 1, 8), (1, 9, 6, 2, 24)]:
        q, k, v = real(batch, length, heads * width), real(batch, length, key_heads * width), real(batch, length, key_heads * width)
        last, total = np.full(batch, length - 1, np.int32), Known(np.array(length, np.int32))
        more = {"num_heads": heads, "kv_num_heads": key_heads}
        case("grouped", "GroupQueryAttention", [q, k, v, None, None, last, total], **more)
        case("grouped", "GroupQueryAttention", [q, k, v, None, None, last, total], softcap=2.0, scale=0.4, local_window_size=2, **more)
        if width % 16 == 0:  # onnxruntime wants this of rotary embeddings
            angles = np.arange(32)[:, None] * (10000.0 ** (-np.arange(width // 2) / (width // 2)))[None]
            tables = [Known(np.cos(angles).astype(np.float32)), Known(np.sin(angles).astype(np.float32))]
            case("grouped", "GroupQueryAttention", [q, k, v, None, None, last, total, *tables], do_rotary=1, **more)
            case("grouped", "GroupQueryAttention", [np.concatenate([q, k, v], 2), None, None, None, None, last, total, *tables], do_rotary=1, rotary_interleaved=1, **more)
        # One more position: behind a cache that grows, and within a buffer that has room.
        past = 7
        one = [real(batch, 1, heads * width), real(batch, 1, key_heads * width), real(batch, 1, key_heads * width)]
        cache = [real(batch, key_heads, past, width), real(batch, key_heads, past, width)]
        case("grouped", "GroupQueryAttention", [*one, *cache, np.full(batch, past, np.int32), Known(np.array(past + 1, np.int32))], results=(0, 1, 2), **more)
        case("grouped", "GroupQueryAttention", [*one, *cache, np.full(batch, past, np.int32), Known(np.array(past + 1, np.int32))], local_window_size=3, results=(0, 1, 2), **more)
        case("grouped", "GroupQueryAttention", [*one, *cache, Known(np.full(batch, past, np.int32)), Known(np.array(past + 1, np.int32))], results=(0, 1, 2), smooth_softmax=1, **more)


def further():
    byte, signed = np.uint8, np.int8
    for batch, length, width, heads in [(1, 4, 32, 2), (2, 5, 12, 3), (1, 9, 40, 5)]:
        x, w = whole(0, 255, batch, length, width, dtype=byte), Known(whole(-60, 60, width, 3 * width, dtype=signed))
        case("further", "QAttention", [x, w, Known(real(3 * width)), Known(np.float32(0.01)), Known(np.float32(0.02)), None, Known(np.array(117, byte)), Known(np.array(1, signed))], num_heads=heads, unidirectional=1)
        case("further", "QAttention", [x, w, Known(real(3 * width)), Known(np.float32(0.01)), Known(positive(3 * width) * np.float32(0.02)), whole(1, length, batch), Known(np.array(117, byte)), Known(np.zeros(3 * width, signed))], num_heads=heads)
    for size, channels, group in [(8, 4, 1), (7, 3, 3), (9, 6, 2)]:
        x, zero, w = whole(0, 255, 1, size, size, channels, dtype=byte), Known(np.array(120, byte)), Known(whole(-100, 100, 6, channels // group, 3, 3, dtype=signed))
        case("further", "QLinearConv", [x, Known(np.float32(0.02)), zero, w, Known(positive(6) * np.float32(0.01)), Known(np.zeros(6, signed)), Known(np.float32(0.1)), zero, Known(whole(-900, 900, 6))],
             channels_last=1, group=group, pads=[1, 1, 1, 1], strides=[2, 1])
        case("further", "GridSample", [real(2, channels, size, size), real(2, 4, 5, 2, scale=0.6)], align_corners=1, mode="bilinear", padding_mode="border")
        case("further", "Trilu", [real(2, size, channels), Known(np.array(1, np.int64))], upper=0)
        case("further", "ExpandDims", [real(size, channels), Known(np.array(-1, np.int32))])
    for rows, columns, block in [(16, 32, 16), (11, 64, 32), (7, 96, 32)]:
        places = whole(0, rows - 1, 2, 3, dtype=np.int64)
        factors, zeros = Known(positive(rows, columns // block)), Known(whole(0, 255, rows, (columns // block + 1) // 2, dtype=byte))
        case("further", "GatherBlockQuantized", [Known(whole(0, 255, rows, columns // 2, dtype=byte)), places, factors, zeros], block_size=block, quantize_axis=1, gather_axis=0, bits=4)
        case("further", "GatherBlockQuantized", [Known(whole(0, 255, rows, columns, dtype=byte)), places, factors], block_size=block, quantize_axis=1, gather_axis=0, bits=8)


# Sums of its input are rounded to integers by onnxruntime and not by us, so that this has steps of its own: the weights that the integers stand for.
def recurrent():
    for length, batch, inputs, hidden in [(4, 1, 8, 6), (3, 2, 7, 5), (5, 1, 16, 11)]:
        x, h, c = real(length, batch, inputs), np.zeros((batch, hidden)), np.zeros((batch, hidden))
        w, r = whole(-127, 127, 1, inputs, 4 * hidden, dtype=np.int8), whole(-127, 127, 1, hidden, 4 * hidden, dtype=np.int8)
        b, scales = real(1, 8 * hidden), [np.float32([0.01]), positive(1, 4 * hidden) * np.float32(0.01)]
        real_w, real_r = w[0] * scales[0].astype(np.float64), (r[0] - 1.0) * scales[1][0]
        y = []
        for step in x.astype(np.float64):
            i, o, f, g = np.split(step @ real_w + h @ real_r + b[0, :4 * hidden] + b[0, 4 * hidden:], 4, -1)
            gate = lambda v: 1 / (1 + np.exp(-v))
            c = gate(f) * c + gate(i) * np.tanh(g)
            h = gate(o) * np.tanh(c)
            y.append(h[None])
        case("recurrent", "DynamicQuantizeLSTM", [x, Known(w), Known(r), Known(b), None, None, None, None, Known(scales[0]), Known(np.zeros(1, np.int8)), Known(scales[1]), Known(np.ones((1, 4 * hidden), np.int8))],
             hidden_size=hidden, expected=np.array(y).astype(np.float32))


def more_of_gpus():
    for batch, rows, columns, channels, groups in [(1, 4, 4, 32, 4), (2, 3, 5, 6, 3), (1, 7, 1, 40, 8)]:
        image, skip, bias, gamma, beta = real(batch, rows, columns, channels), real(batch, channels), real(channels), positive(channels), real(channels)
        whole_sum = image + skip[:, None, None] + bias
        lines = whole_sum.transpose(0, 3, 1, 2).reshape(batch, groups, -1)
        normal = (lines - lines.mean(-1, keepdims=True)) / np.sqrt(lines.var(-1, keepdims=True) + 1e-3)
        normal = normal.reshape(batch, channels, rows, columns).transpose(0, 2, 3, 1) * gamma + beta
        case("more_of_gpus", "SkipGroupNorm", [image, Known(gamma), Known(beta), skip, Known(bias)], groups=groups, activation=0, epsilon=1e-3, expected=normal)
        kernel = real(5, 1, 1, channels, scale=0.3)
        case("more_of_gpus", "NhwcConv", [image, Known(kernel), Known(bias[:5])], kernel_shape=[1, 1], expected=image @ kernel[:, 0, 0].T + bias[:5])
        x, m = image[:, 0], real(channels, 7)
        product = x @ m + beta[:1]
        case("more_of_gpus", "GemmFastGelu", [x, Known(m), Known(np.repeat(beta[:1], 7))], expected=product * 0.5 * (1 + np.tanh(0.7978845608 * (product + 0.044715 * product ** 3))))
    for length, heads, buckets, furthest in [(8, 2, 8, 16), (13, 3, 32, 128), (33, 4, 32, 20)]:
        table, both = real(buckets, heads), int(length % 2)
        own, single = buckets // (1 + both), buckets // (1 + both) // 2
        places = np.zeros((length, length), np.int64)
        for q in range(length):
            for k in range(length):
                n = abs(k - q) if both else max(q - k, 0)
                far = min(single + int(math.log(max(n, 1) / single) / math.log(furthest / single) * (own - single)), own - 1)
                places[q, k] = (own if both and k > q else 0) + (n if n < single else far)
        case("more_of_gpus", "RelativePositionBias", [Known(table), Known(np.array([length], np.int64)), Known(np.array([length], np.int64))], max_distance=furthest, is_bidirectional=both,
             expected=table[places].transpose(2, 0, 1)[None])
        h = 6
        q, bias, positions, w, b, eco = real(1, length, heads * h), real(heads * h), real(1, heads, length, length), real(h, 8), real(8), positive(1, heads, 1, 1)
        gates = (q + bias).reshape(1, length, heads, h).transpose(0, 2, 1, 3) @ w + b
        u, r = np.split(1 / (1 + np.exp(-gates.reshape(1, heads, length, 2, 4).sum(-1))), 2, -1)
        case("more_of_gpus", "GatedRelativePositionBias", [q, Known(bias), positions, Known(w), Known(b), Known(eco)], num_heads=heads, expected=(u * (r * eco - 1) + 2) * positions)


def reference(packages):
    sys.path.insert(0, str(HERE.parent / "real"))
    import reference as runs
    out = {}
    for group, cases in GROUPS.items():
        if cases[0].expected is not None:
            continue
        model, inputs, outputs = model_of(group, cases)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            path.write_bytes(model.SerializeToString())
            out.update(runs.run(packages, path, inputs))
    np.savez_compressed(EXPECTED, **out)
    print(f"{len(out)} results, {EXPECTED.stat().st_size} bytes")


def call(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    return None if done.returncode == 0 else (done.stdout + done.stderr).strip()


def difference(actual, expected, step):
    """The largest difference as a part of the largest element, or of integers the number of steps; None for other shapes or types."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return None
    distance = np.abs(actual.astype(np.float64) - expected.astype(np.float64)).max(initial=0)
    return distance if step else distance / max(np.abs(expected).max(initial=0), 1e-3)


def judge(what, results, outputs, expected, real_limit, step_limit, verbose):
    wrong = 0
    for name, c in outputs:
        integers = expected[name].dtype.kind in "iu"
        found = difference(results[name], expected[name], integers)
        bad = found is None or not found <= (step_limit if integers else real_limit)
        wrong += bad
        if bad or verbose:
            shapes = f"{results[name].dtype} {results[name].shape}, expected {expected[name].dtype} {expected[name].shape}"
            print(f"{what}: {name}: {'WRONG' if bad else 'right'}, {shapes}, differs by {found}")
    return wrong


def run(build, group, device, golden, verbose):
    tools, wrong = build / "bin", 0
    model, inputs, outputs = model_of(group, GROUPS[group])
    with np.load(EXPECTED) as stored:
        expected = {name: stored[name] if c.expected is None else c.expected for name, c in outputs}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "m.onnx").write_bytes(model.SerializeToString())
        np.savez(folder / "in.npz", **inputs)
        for what, commands, limits in [
            ("cpu", [[tools / "importer", folder / "m.onnx", "-o", folder / "m.graph.json"],
                     [tools / "runner", folder / "m.graph.json", "--target", "cpu", "--inputs", folder / "in.npz", "-o", folder / "out.npz"]], (3e-5, 1)),
            ("golden", [[tools / "buda", "compile", folder / "m.onnx", "-o", folder / "m.tti", "--device", device],
                        [tools / "buda", "run", folder / "m.tti", "--inputs", folder / "in.npz", "-o", folder / "out.npz"]], (0.05, 4))]:
            if what == "golden" and not re.fullmatch(golden, group):
                continue
            message = next(filter(None, (call(*command) for command in commands)), None)
            if message:
                print(f"{what}: {group}: {message}")
                wrong += 1
                continue
            with np.load(folder / "out.npz") as results:
                wrong += judge(what, results, outputs, expected, *limits, verbose)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--reference", type=pathlib.Path)
    parser.add_argument("--device", default="n150")
    parser.add_argument("--golden", default=".*")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("groups", nargs="*")
    options = parser.parse_args()
    for make in [products, activations, norms, attention, quantised, of_gpus, grouped, further, recurrent, more_of_gpus]:
        make()
    if options.reference:
        reference(options.reference.resolve())
        return 0
    chosen = options.groups or list(GROUPS)
    wrong = sum(run(options.build.resolve(), group, options.device, options.golden, options.v) for group in chosen)
    print(f"{sum(len(GROUPS[g]) for g in chosen)} nodes of {len(chosen)} groups, {wrong} results wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
