#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators that opsets 18 to 25 of ONNX brought or changed: models of one node each, through importer and runner, against NumPy and PyTorch.

    newer_opsets.py --build BUILD_DIR [-v] [NAME...]

ONNX's own node tests end at opset 17 where Debian has them, so these were written from the operators' documents. Cases whose expectation
needs PyTorch are left out where it is missing. Ends with 1 when a case differs, with 77 when NumPy or ONNX's Python package is missing.
"""
import argparse
import math
import os
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
try:
    import torch
    import torch.nn.functional as F
except ImportError:
    torch = None

# Newer than Debian's ONNX for Python (onnx.proto, TensorProto.DataType).
E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, UINT4, INT4 = 17, 18, 19, 20, 21, 22
random = np.random.default_rng(7)
CASES = []


def real(*shape, dtype=np.float32):
    return random.standard_normal(shape).astype(dtype)


def ints(values, dtype=np.int64):
    return np.array(values, dtype=dtype)


class Case:
    """A model of one node. `inputs`: arrays that are pushed. `constants`: the node's inputs after those, which are initializers: arrays, tensors,
    or None for one that is left out."""

    def __init__(self, name, opset, op, inputs, expected, constants=(), attributes=None, tolerance=1e-5):
        self.name, self.opset, self.op = name, opset, op
        self.inputs, self.constants = list(inputs), list(constants)
        self.expected = expected if isinstance(expected, list) else [expected]
        self.attributes, self.tolerance = attributes or {}, tolerance

    def model(self):
        constants = list(self.constants)
        names, values, initializers = [], [], []
        places = self.inputs + [None] * len(constants)
        for i, value in enumerate(places):
            name = f"x{i}"
            if value is not None:
                values.append((name, value))
            else:
                value = constants.pop(0)
                if value is None:
                    name = ""
                elif isinstance(value, TensorProto):
                    value.name = name
                    initializers.append(value)
                else:
                    initializers.append(numpy_helper.from_array(np.asarray(value), name))
            names.append(name)
        outputs = [f"y{i}" for i in range(len(self.expected))]
        node = helper.make_node(self.op, names, outputs, name="node", **self.attributes)
        info = lambda name, a: helper.make_tensor_value_info(name, NP_TYPE_TO_TENSOR_TYPE[a.dtype], a.shape)
        graph = helper.make_graph([node], "g", [info(n, v) for n, v in values],
                                  [info(n, np.asarray(v)) for n, v in zip(outputs, self.expected)], initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)]), dict(values)


def case(*args, **kwargs):
    CASES.append(Case(*args, **kwargs))


def narrow_tensor(onnx_type, shape, raw):
    t = TensorProto()
    t.data_type, t.raw_data = onnx_type, bytes(raw)
    t.dims.extend(shape)
    return t


def int4_tensor(array, onnx_type=INT4):
    flat = [int(v) & 15 for v in array.ravel()]
    flat += [0] * (len(flat) % 2)
    return narrow_tensor(onnx_type, array.shape, [a | b << 4 for a, b in zip(flat[::2], flat[1::2])])


# ---- 8-bit floats, by the definition of their bits

FLOAT8 = {E4M3FN: (4, 3, 7), E4M3FNUZ: (4, 3, 8), E5M2: (5, 2, 15), E5M2FNUZ: (5, 2, 16)}


def float8_value(onnx_type, bits):
    exponent_bits, mantissa_bits, bias = FLOAT8[onnx_type]
    exponent, mantissa = bits >> mantissa_bits & (1 << exponent_bits) - 1, bits & (1 << mantissa_bits) - 1
    if onnx_type in (E4M3FNUZ, E5M2FNUZ) and bits == 0x80 or onnx_type == E4M3FN and bits & 0x7F == 0x7F:
        return math.nan
    if onnx_type == E5M2 and exponent == 31:
        return math.nan if mantissa else math.copysign(math.inf, -1 if bits & 0x80 else 1)
    value = mantissa * 2.0 ** (1 - bias - mantissa_bits) if exponent == 0 else (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
    return -value if bits & 0x80 else value


def to_float8(onnx_type, x, saturate=True):
    """The nearest of all values of the format, of two the one with the even mantissa."""
    table = sorted((float8_value(onnx_type, b), b & 1) for b in range(256) if math.isfinite(float8_value(onnx_type, b)))
    largest = table[-1][0]
    out = []
    for v in np.asarray(x, np.float64).ravel():
        if math.isnan(v) or math.isinf(v) and onnx_type in (E4M3FNUZ, E5M2FNUZ):
            out.append(math.nan)
            continue
        # Out of range is what rounds to the number that would come after the largest; halfway goes to the even one of both.
        limit = largest + (largest - table[-2][0]) / 2
        if abs(v) > limit or abs(v) == limit and table[-1][1]:
            beyond = largest if saturate else math.inf if onnx_type == E5M2 else math.nan
            out.append(math.copysign(beyond, v))
            continue
        distance = min(abs(t - v) for t, _ in table)
        nearest = [t for t in table if abs(t[0] - v) == distance]
        out.append(min(nearest, key=lambda t: t[1])[0])
    return np.array(out, np.float32).reshape(np.shape(x))


# ---- opset 18

def opset18():
    a, b = random.integers(0, 255, (3, 4), dtype=np.uint8), random.integers(0, 255, (4,), dtype=np.uint8)
    case("bitwise_and", 18, "BitwiseAnd", [a, b], a & b)
    case("bitwise_or", 18, "BitwiseOr", [a, b], a | b)
    case("bitwise_xor", 18, "BitwiseXor", [a.astype(np.int32) - 99, b.astype(np.int32)], a.astype(np.int32) - 99 ^ b)
    case("bitwise_not", 18, "BitwiseNot", [a], ~a)

    x = real(5, 6, 7)
    case("center_crop_pad", 18, "CenterCropPad", [x], np.pad(x[1:4, :, 1:6], ((0, 0), (1, 2), (0, 0))), [ints([3, 9, 5])])
    case("center_crop_pad_axes", 18, "CenterCropPad", [x], np.pad(x[:, :, 1:5], ((1, 2), (0, 0), (0, 0))), [ints([4, 8])],
         {"axes": [-1, 0]})

    x = real(2, 6, 4, 4)
    scale, bias = real(3), real(3)
    groups = x.reshape(2, 3, -1)
    normal = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-2)
    case("group_norm_18", 18, "GroupNormalization", [x, scale, bias], (normal * scale[:, None] + bias[:, None]).reshape(x.shape),
         attributes={"num_groups": 3, "epsilon": 1e-2})

    x = real(2, 3, 9)
    windows = np.stack([x[..., o * 2:o * 2 + 5:2] for o in range(3)], 2)
    case("lp_pool_dilations", 18, "LpPool", [x], (np.abs(windows) ** 3).sum(-1) ** (1 / 3),
         attributes={"kernel_shape": [3], "dilations": [2], "strides": [2], "p": 3})
    tail = np.stack([np.sqrt((x[..., o * 3:o * 3 + 4] ** 2).sum(-1)) for o in range(3)], -1)
    case("lp_pool_ceil", 18, "LpPool", [x], tail, attributes={"kernel_shape": [4], "strides": [3], "ceil_mode": 1})
    case("mish", 18, "Mish", [x], x * np.tanh(np.log1p(np.exp(x))))

    case("optional_has_element", 18, "OptionalHasElement", [x], np.array(True))
    case("optional_has_no_element", 18, "OptionalHasElement", [], np.array(False))
    case("optional_get_element", 18, "OptionalGetElement", [x], x)

    x = real(3, 4, 5)
    case("pad_axes", 18, "Pad", [x], np.pad(x, ((3, 0), (0, 0), (1, 2)), constant_values=2.5),
         [ints([1, 3, 2, 0]), np.float32(2.5), ints([-1, 0])])
    case("pad_axes_reflect", 18, "Pad", [x], np.pad(x, ((0, 0), (2, 1), (0, 0)), "reflect"), [ints([2, 1]), None, ints([1])], {"mode": "reflect"})
    case("pad_axes_crops", 18, "Pad", [x], np.pad(x[:, 1:], ((0, 0), (0, 0), (0, 1))), [ints([-1, 0, 0, 1]), None, ints([1, 2], np.int32)])
    case("pad_wrap", 19, "Pad", [x], np.pad(x, ((0, 0), (1, 3), (2, 2)), "wrap"), [ints([0, 1, 2, 0, 3, 2])], {"mode": "wrap"})

    x = np.abs(real(3, 4, 5)) + 0.5
    axes = (0, 2)
    reductions = {
        "ReduceL1": lambda v, **k: np.abs(v).sum(**k), "ReduceL2": lambda v, **k: np.sqrt((v * v).sum(**k)),
        "ReduceLogSum": lambda v, **k: np.log(v.sum(**k)), "ReduceLogSumExp": lambda v, **k: np.log(np.exp(v).sum(**k)),
        "ReduceMax": lambda v, **k: v.max(**k), "ReduceMean": lambda v, **k: v.mean(**k), "ReduceMin": lambda v, **k: v.min(**k),
        "ReduceProd": lambda v, **k: v.prod(**k), "ReduceSumSquare": lambda v, **k: (v * v).sum(**k), "ReduceSum": lambda v, **k: v.sum(**k)}
    steps = {"ReduceL1": np.abs, "ReduceL2": np.abs, "ReduceLogSum": np.log, "ReduceSumSquare": np.square}
    for op, f in reductions.items():
        case(op + "_axes_input", 18, op, [x], f(x, axis=axes, keepdims=True), [ints([0, -1])])
        case(op + "_no_axes", 18, op, [x], np.asarray(f(x)), attributes={"keepdims": 0})
        case(op + "_empty_axes", 18, op, [x], np.asarray(f(x, keepdims=True)), [ints([])])
        case(op + "_noop", 18, op, [x], steps.get(op, lambda v: v)(x), [ints([])], {"noop_with_empty_axes": 1})
    flags = x > 1
    case("reduce_max_bool", 20, "ReduceMax", [flags], flags.max(1, keepdims=True), [ints([1])])
    case("reduce_min_bool", 20, "ReduceMin", [flags], flags.min((0, 1)), [ints([0, 1])], {"keepdims": 0})

    data, at, new = real(4, 5), ints([[0, 3, 0, 1], [2, 2, 2, 2]]), real(2, 4)
    for reduction, f in (("max", np.maximum), ("min", np.minimum)):
        expected = data.copy()
        for i in np.ndindex(*at.shape):
            expected[at[i], i[1]] = f(expected[at[i], i[1]], new[i])
        case(f"scatter_elements_{reduction}", 18, "ScatterElements", [data, at, new], expected, attributes={"reduction": reduction})
        expected, rows = data.copy(), ints([[1], [3], [1]])
        new_rows = real(3, 5)
        for i, r in enumerate(rows[:, 0]):
            expected[r] = f(expected[r], new_rows[i])
        case(f"scatter_nd_{reduction}", 18, "ScatterND", [data, rows, new_rows], expected, attributes={"reduction": reduction})

    x = real(7, 6)
    case("split_num_outputs", 18, "Split", [x], [x[:2], x[2:4], x[4:6], x[6:]], attributes={"num_outputs": 4})
    case("split_num_outputs_even", 18, "Split", [x], [x[:, :3], x[:, 3:]], attributes={"num_outputs": 2, "axis": -1})
    case("split_sizes", 18, "Split", [x], [x[:5], x[5:]], [ints([5, 2])])


def resizes():
    x = real(1, 2, 4, 6)
    case("resize_axes", 18, "Resize", [x], x.repeat(2, 3), [None, np.float32([2]), None], {"axes": [3]})
    case("resize_axes_order", 18, "Resize", [x], x.repeat(3, 2).repeat(2, 3), [None, np.float32([2, 3])], {"axes": [3, -2]})
    case("resize_not_larger", 18, "Resize", [x], x.repeat(2, 2).repeat(2, 3), [None, None, ints([9, 12])],
         {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"})
    case("resize_not_smaller", 18, "Resize", [x], x.repeat(3, 2).repeat(3, 3), [None, None, ints([12, 7])],
         {"axes": [2, 3], "keep_aspect_ratio_policy": "not_smaller"})
    # Halves are rounded up: 4 * 5 / 8 = 2.5 becomes 3.
    tall = real(1, 1, 4, 8)
    rows = [int(math.ceil((o + 0.5) * 8 / 5 - 0.5 - 0.5)) for o in range(3)]
    columns = [int(math.ceil((o + 0.5) * 8 / 5 - 0.5 - 0.5)) for o in range(5)]
    case("resize_rounds_half_up", 18, "Resize", [tall], tall[:, :, rows][..., columns], [None, None, ints([5, 5])],
         {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"})
    line = real(1, 1, 9)
    # 9 * 0.5 is 4.5: four elements, with an eighth of the input's missing half element at each end.
    offset = 4.5 * (1 - 4 / 4.5)
    places = [offset + (o + 0.5) / 0.5 - 0.5 for o in range(4)]
    expected = np.float32([[[line[0, 0, int(p)] * (1 - p % 1) + line[0, 0, min(int(p) + 1, 8)] * (p % 1) for p in places]]])
    case("resize_half_pixel_symmetric", 19, "Resize", [line], expected, [None, np.float32([1, 1, 0.5])],
         {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"})
    # The document's filter: a tent (or Keys' cubic) stretched by 1 / scale, normalised; borders repeated.
    for mode, size in (("linear", 3), ("linear", 8), ("cubic", 4)):
        scale = size / 9
        stretch, support = max(1, 1 / scale), 1 if mode == "linear" else 2
        out = []
        for o in range(size):
            centre = (o + 0.5) / scale - 0.5
            taps = np.arange(math.floor(centre - support * stretch) - 1, math.ceil(centre + support * stretch) + 2)
            d = np.abs(taps - centre) / stretch
            w = np.maximum(0, 1 - d) if mode == "linear" else np.where(d <= 1, 1.25 * d**3 - 2.25 * d**2 + 1,
                                                                      np.where(d < 2, -0.75 * d**3 + 3.75 * d**2 - 6 * d + 3, 0))
            out.append((w * line[0, 0, np.clip(taps, 0, 8)]).sum() / w.sum())
        case(f"resize_antialias_{mode}_{size}", 18, "Resize", [line], np.float32(out).reshape(1, 1, size), [None, None, ints([1, 1, size])],
             {"mode": mode, "antialias": 1})
    if torch:
        x = real(1, 2, 9, 11)
        for mode, name, extra in (("linear", "bilinear", {}), ("cubic", "bicubic", {"cubic_coeff_a": -0.5})):
            expected = F.interpolate(torch.tensor(x), (4, 6), mode=name, antialias=True).numpy()
            case(f"resize_torch_antialias_{mode}", 18, "Resize", [x], expected, [None, None, ints([4, 6])],
                 dict(extra, mode=mode, antialias=1, exclude_outside=1, axes=[2, 3]))


def columns_to_images():
    if not torch:
        return
    x = real(2, 3 * 6, 10)
    case("col2im", 18, "Col2Im", [x], F.fold(torch.tensor(x), (4, 6), (3, 2), padding=(1, 0), stride=(2, 1)).numpy(), [ints([4, 6]), ints([3, 2])],
         {"pads": [1, 0, 1, 0], "strides": [2, 1]})
    y = random.integers(-9, 9, (1, 8, 9)).astype(np.int32)
    case("col2im_dilated_ints", 18, "Col2Im", [y], F.fold(torch.tensor(y).double(), (5, 6), (2, 2), dilation=(2, 3)).numpy().astype(np.int32),
         [ints([5, 6]), ints([2, 2])], {"dilations": [2, 3]})


# ---- opset 19

def opset19():
    x = real(1, 2, 7)
    means = np.stack([x[..., o:o + 5:2].mean(-1) for o in range(3)], -1)
    case("average_pool_dilations", 19, "AveragePool", [x], means, attributes={"kernel_shape": [3], "dilations": [2]})
    padded = np.stack([x[..., [1, 3]].mean(-1), x[..., [0, 2, 4]].mean(-1), x[..., [1, 3, 5]].mean(-1), x[..., [2, 4, 6]].mean(-1), x[..., [3, 5]].mean(-1)], -1)
    case("average_pool_dilations_pads", 19, "AveragePool", [x], padded, attributes={"kernel_shape": [3], "dilations": [2], "pads": [1, 1]})
    x = real(2, 3, 4)
    case("reshape_19", 19, "Reshape", [x], x.reshape(6, 4), [ints([-1, 4])])
    case("equal_19", 19, "Equal", [ints([1, 2]), ints([1, 3])], np.array([True, False]))
    case("shape_19", 19, "Shape", [x], ints([3, 4]), attributes={"start": 1})
    case("size_19", 19, "Size", [x], np.array(24, np.int64))
    case("identity_19", 19, "Identity", [x], x)
    case("cast_19", 19, "Cast", [x], x.astype(np.float16), attributes={"to": TensorProto.FLOAT16, "saturate": 1})
    case("cast_like_19", 19, "CastLike", [x], x.astype(np.int8), [ints([0], np.int8)], {"saturate": 0})
    case("quantize_19", 19, "QuantizeLinear", [x], np.clip(np.rint(x / np.float32(0.02)) + 3, -128, 127).astype(np.int8),
         [np.float32(0.02), np.int8(3)])
    for groups, offset_groups, mask in ((1, 1, False), (2, 1, True), (1, 3, True)):
        x, w, bias = real(2, 6, 5, 6), real(4, 6 // groups, 3, 2), real(4)
        offset = 2 * real(2, offset_groups * 12, 2, 5)
        factors = np.abs(real(2, offset_groups * 6, 2, 5)) if mask else None
        attributes = {"pads": [1, 0, 0, 1], "strides": [2, 1], "dilations": [1, 2], "group": groups, "offset_group": offset_groups}
        inputs = [x, w, offset, bias] + ([factors] if mask else [])
        case(f"deform_conv_{groups}_{offset_groups}", 19, "DeformConv", inputs, deform_conv(x, w, offset, bias, factors, attributes),
             attributes=attributes, tolerance=1e-4)
    x, w, offset = real(1, 2, 9), real(3, 2, 3), real(1, 3, 7)
    case("deform_conv_1d", 19, "DeformConv", [x, w, offset], deform_conv_1d(x, w, offset), tolerance=1e-4)


def at_place(image, y, x):
    total, rows, columns = 0.0, *image.shape
    for dy in (0, 1):
        for dx in (0, 1):
            r, c = math.floor(y) + dy, math.floor(x) + dx
            if 0 <= r < rows and 0 <= c < columns:
                total += image[r, c] * (1 - abs(y - r)) * (1 - abs(x - c))
    return total


def deform_conv(x, w, offset, bias, mask, a):
    n, oc = x.shape[0], w.shape[0]
    kh, kw = w.shape[2:]
    out = np.zeros((n, oc) + offset.shape[2:])
    per_offset, per_group = x.shape[1] // a["offset_group"], x.shape[1] // a["group"]
    for b, o, i, j in np.ndindex(*out.shape):
        total = float(bias[o])
        for ic, u, v in np.ndindex(per_group, kh, kw):
            c = o // (oc // a["group"]) * per_group + ic
            tap = (c // per_offset * kh + u) * kw + v
            y = i * a["strides"][0] - a["pads"][0] + u * a["dilations"][0] + offset[b, 2 * tap, i, j]
            z = j * a["strides"][1] - a["pads"][1] + v * a["dilations"][1] + offset[b, 2 * tap + 1, i, j]
            total += w[o, ic, u, v] * at_place(x[b, c], y, z) * (1 if mask is None else mask[b, tap, i, j])
        out[b, o, i, j] = total
    return out.astype(np.float32)


def deform_conv_1d(x, w, offset):
    out = np.zeros((1, 3, 7))
    for o, i in np.ndindex(3, 7):
        for c, k in np.ndindex(2, 3):
            out[0, o, i] += w[o, c, k] * at_place(x[0, c][None], 0, i + k + offset[0, k, i])
    return out.astype(np.float32)


# ---- opset 20

def opset20():
    theta2, theta3 = real(2, 2, 3), real(2, 3, 4)
    for corners in (0, 1):
        if torch:
            case(f"affine_grid_2d_{corners}", 20, "AffineGrid", [theta2], F.affine_grid(torch.tensor(theta2), (2, 3, 4, 5), align_corners=bool(corners)).numpy(),
                 [ints([2, 3, 4, 5])], {"align_corners": corners})
            case(f"affine_grid_3d_{corners}", 20, "AffineGrid", [theta3], F.affine_grid(torch.tensor(theta3), (2, 1, 3, 4, 1), align_corners=bool(corners)).numpy(),
                 [ints([2, 1, 3, 4, 1])], {"align_corners": corners})
    case("constant_of_shape_20", 20, "ConstantOfShape", [], np.full((2, 3), 7, np.float16), [ints([2, 3])],
         {"value": numpy_helper.from_array(np.array([7], np.float16))})

    signal = real(2, 6, 5)
    as_parts = lambda c: np.stack([c.real, c.imag], -1).astype(np.float32)
    case("dft_default_axis", 20, "DFT", [signal[..., None]], as_parts(np.fft.fft(signal)))
    case("dft_axis", 20, "DFT", [signal[..., None]], as_parts(np.fft.fft(signal, axis=1)), [None, np.int64(1)])
    case("dft_length_axis", 20, "DFT", [signal[..., None]], as_parts(np.fft.fft(signal, 8, axis=-2)), [np.int64(8), np.int64(-3)])
    case("dft_onesided", 20, "DFT", [signal[..., None]], as_parts(np.fft.rfft(signal, axis=1)), [None, np.int64(1)], {"onesided": 1})
    both = real(2, 6, 5, 2)
    case("dft_inverse", 20, "DFT", [both], as_parts(np.fft.ifft(both[..., 0] + 1j * both[..., 1], axis=1)), [None, np.int64(1)], {"inverse": 1})
    half = both[..., 0] + 1j * both[..., 1]
    for length in (None, 7, 9, 14, 1):
        expected = np.fft.irfft(half, length, axis=1)[..., None].astype(np.float32)
        case(f"dft_real_inverse_{length}", 20, "DFT", [both], expected, [np.int64(length) if length else None, np.int64(1)], {"inverse": 1, "onesided": 1})

    x = real(3, 4)
    phi = np.vectorize(math.erf)(x / math.sqrt(2))
    case("gelu", 20, "Gelu", [x], (0.5 * x * (1 + phi)).astype(np.float32))
    case("gelu_tanh", 20, "Gelu", [x], 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), attributes={"approximate": "tanh"})

    if torch:
        image, volume = real(2, 3, 4, 5), real(2, 2, 3, 4, 5)
        places2, places3 = 0.8 * real(2, 6, 3, 2), 0.8 * real(2, 2, 3, 4, 3)
        names = {"linear": "bilinear", "nearest": "nearest", "cubic": "bicubic"}
        for mode, name in names.items():
            for padding in ("zeros", "border", "reflection"):
                for corners in (0, 1):
                    attributes = {"mode": mode, "padding_mode": padding, "align_corners": corners}
                    case(f"grid_sample_{mode}_{padding}_{corners}", 20, "GridSample", [image, places2],
                         F.grid_sample(torch.tensor(image), torch.tensor(places2), name, padding, bool(corners)).numpy(), attributes=attributes, tolerance=1e-4)
                    if mode != "cubic":
                        case(f"grid_sample_3d_{mode}_{padding}_{corners}", 20, "GridSample", [volume, places3],
                             F.grid_sample(torch.tensor(volume), torch.tensor(places3), name, padding, bool(corners)).numpy(), attributes=attributes, tolerance=1e-4)
        case("grid_sample_default", 20, "GridSample", [image, places2], F.grid_sample(torch.tensor(image), torch.tensor(places2), align_corners=False).numpy(), tolerance=1e-4)
        whole = random.integers(-50, 50, (2, 3, 4, 5)).astype(np.int32)
        case("grid_sample_integers", 20, "GridSample", [whole, places2], np.trunc(F.grid_sample(torch.tensor(whole).double(), torch.tensor(places2).double(), align_corners=False).numpy()).astype(np.int32))
        case("grid_sample_16", 16, "GridSample", [image, places2], F.grid_sample(torch.tensor(image), torch.tensor(places2), "bicubic", align_corners=False).numpy(),
             attributes={"mode": "bicubic"}, tolerance=1e-4)

    odd = np.array([1, np.inf, -np.inf, np.nan], np.float16)
    case("is_inf_20", 20, "IsInf", [odd], np.isposinf(odd), attributes={"detect_negative": 0})
    case("is_nan_20", 20, "IsNaN", [odd], np.isnan(odd))


# ---- opset 21

def opset21():
    x = real(2, 6, 4)
    scale, bias = real(6), real(6)
    groups = x.reshape(2, 2, -1)
    normal = ((groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-5)).reshape(x.shape)
    case("group_norm_21", 21, "GroupNormalization", [x, scale, bias], normal * scale[:, None] + bias[:, None], attributes={"num_groups": 2, "stash_type": 1})
    for op, expected, constants, attributes in (
            ("Flatten", x.reshape(2, 24), [], {}), ("Transpose", x.T, [], {}), ("Identity", x, [], {}), ("Unsqueeze", x[:, None], [ints([1])], {}),
            ("Squeeze", x, [ints([0])], {}), ("Reshape", x.reshape(3, 16), [ints([3, 16])], {"allowzero": 1}), ("Pad", np.pad(x, ((1, 1), (0, 0), (0, 0))), [ints([1, 0, 0, 1, 0, 0])], {})):
        case(f"{op.lower()}_21", 21, op, [x[None] if op == "Squeeze" else x], expected, constants, attributes)

    s16, z16 = np.float32(0.001), np.int16(-7)
    q16 = np.clip(np.rint(x / s16) + z16, -32768, 32767).astype(np.int16)
    case("quantize_int16", 21, "QuantizeLinear", [x], q16, [s16, z16])
    case("dequantize_int16", 21, "DequantizeLinear", [q16], (q16.astype(np.float32) - z16) * s16, [s16, z16])
    case("quantize_uint16", 21, "QuantizeLinear", [x], np.clip(np.rint(x / s16), 0, 65535).astype(np.uint16), [s16], {"output_dtype": TensorProto.UINT16})

    q4 = random.integers(-8, 8, (3, 5)).astype(np.int8)
    u4 = random.integers(0, 16, (3, 5)).astype(np.uint8)
    case("int4_initializer", 21, "DequantizeLinear", [], q4 * np.float32(0.5), [int4_tensor(q4), np.float32(0.5)])
    case("uint4_per_axis", 21, "DequantizeLinear", [], (u4 - np.float32([[1], [2], [3]])) * np.float32([[0.5], [1], [2]]),
         [int4_tensor(u4, UINT4), np.float32([0.5, 1, 2]), int4_tensor(np.uint8([1, 2, 3]), UINT4)], {"axis": 0})
    y = 3 * real(3, 5)
    case("quantize_int4_dequantized", 21, "QuantizeLinear", [y], np.clip(np.rint(y / np.float32(0.5)) + 1, -8, 7).astype(np.int8),
         [np.float32(0.5), int4_tensor(np.int8(1))])
    case("quantize_uint4_dtype", 21, "QuantizeLinear", [y], np.clip(np.rint(y / np.float32(0.5)), 0, 15).astype(np.uint8), [np.float32(0.5)], {"output_dtype": UINT4})
    case("cast_int4_to_float", 21, "Cast", [], q4.astype(np.float32), [int4_tensor(q4)], {"to": TensorProto.FLOAT})
    case("cast_int_to_int4", 21, "Cast", [ints([5, 8, -9, 200], np.int16)], ints([5, -8, 7, -8], np.int8), attributes={"to": INT4})
    case("cast_int_to_uint4", 21, "Cast", [ints([5, 16, -1, 200], np.int16)], ints([5, 0, 15, 8], np.uint8), attributes={"to": UINT4})
    case("cast_float_to_int4", 21, "Cast", [np.float32([1.9, -1.9, 3])], ints([1, -1, 3], np.int8), attributes={"to": INT4})

    for axis, block, shape in ((1, 4, (2, 6, 3)), (0, 2, (5, 3)), (-1, 3, (2, 7))):
        a = axis % len(shape)
        count = -(-shape[a] // block)
        small = shape[:a] + (count,) + shape[a + 1:]
        scales, zeros = np.abs(real(*small)) + 0.1, random.integers(-4, 4, small).astype(np.int8)
        values = random.integers(-128, 128, shape).astype(np.int8)
        wide = lambda t: np.take(t.repeat(block, a), range(shape[a]), a)
        case(f"dequantize_blocked_{axis}", 21, "DequantizeLinear", [values], (values - wide(zeros).astype(np.float32)) * wide(scales), [scales, zeros],
             {"axis": axis, "block_size": block})
        reals = 4 * real(*shape)
        case(f"quantize_blocked_{axis}", 21, "QuantizeLinear", [reals], np.clip(np.rint(reals / wide(scales)) + wide(zeros), -128, 127).astype(np.int8), [scales, zeros],
             {"axis": axis, "block_size": block})
        four = random.integers(-8, 8, shape).astype(np.int8)
        case(f"dequantize_blocked_int4_{axis}", 21, "DequantizeLinear", [], four * wide(scales), [int4_tensor(four), scales], {"axis": axis, "block_size": block})

    every = list(range(256))
    odd = np.float32([0, -0.0, 1, 1.0625, 1.1875, 0.00390625, 0.0029296875, 448, 464, 465, 240, 248, 249, 57344, 61440, 1e9, -1e9, 3e-5, 7e-6, 1e-9, np.inf, -np.inf, np.nan])
    for onnx_type, name in ((E4M3FN, "e4m3fn"), (E4M3FNUZ, "e4m3fnuz"), (E5M2, "e5m2"), (E5M2FNUZ, "e5m2fnuz")):
        values = np.float32([float8_value(onnx_type, b) for b in every])
        case(f"{name}_initializer", 19, "Cast", [], values, [narrow_tensor(onnx_type, [256], every)], {"to": TensorProto.FLOAT})
        case(f"{name}_dequantize", 19, "DequantizeLinear", [], values * np.float32(0.25), [narrow_tensor(onnx_type, [256], every), np.float32(0.25)])
        for saturate in (0, 1):
            expected = to_float8(onnx_type, odd, saturate)
            if saturate and onnx_type in (E4M3FN, E5M2):
                largest = {E4M3FN: 448, E5M2: 57344}[onnx_type]
                expected[20], expected[21] = largest, -largest
            elif not saturate:
                expected[20], expected[21] = (np.inf, -np.inf) if onnx_type == E5M2 else (np.nan, np.nan)
            case(f"cast_{name}_{saturate}", 19, "Cast", [odd], expected, attributes={"to": onnx_type, "saturate": saturate})
        many = 10 * real(64)
        case(f"quantize_{name}", 19, "QuantizeLinear", [many], to_float8(onnx_type, many / np.float32(0.125)), [np.float32(0.125), narrow_tensor(onnx_type, [], [0])])


# ---- opsets 22 to 25

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def heads_last(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def opset23():
    x = real(2, 3, 8)
    case("relu_22", 22, "Relu", [x], np.maximum(x, 0))
    scale = real(8)
    case("rms_norm_23", 23, "RMSNormalization", [x, scale], x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale)
    case("rms_norm_23_axis", 23, "RMSNormalization", [x, real(3, 8) * 0 + 2], x / np.sqrt((x * x).mean((1, 2), keepdims=True) + 1e-2) * 2, attributes={"axis": 1, "epsilon": 1e-2})
    case("swish_24", 24, "Swish", [x], x / (1 + np.exp(-1.5 * x)), attributes={"alpha": 1.5}, tolerance=1e-4)
    case("tile_25", 25, "Tile", [x], np.tile(x, (1, 2, 1)), [ints([1, 2, 1])])
    for batch, heads, key_heads, queries, keys, width in [(1, 2, 2, 4, 4, 8), (2, 4, 2, 3, 5, 6), (1, 6, 2, 7, 7, 5)]:
        q, k, v = real(batch, heads, queries, width), real(batch, key_heads, keys, width), real(batch, key_heads, keys, width + 1)
        every_k, every_v = np.repeat(k, heads // key_heads, 1), np.repeat(v, heads // key_heads, 1)
        scores = q @ every_k.transpose(0, 1, 3, 2) / np.sqrt(width)
        name = f"attention_23_{queries}"
        case(name, 23, "Attention", [q, k, v], softmax(scores) @ every_v, tolerance=1e-4)
        later = np.where(np.arange(keys)[None] > np.arange(queries)[:, None], np.float32(-1e30), np.float32(0))
        case(name + "_causal", 23, "Attention", [q, k, v], softmax(scores + later) @ every_v, attributes={"is_causal": 1}, tolerance=1e-4)
        mask = np.tile(np.arange(keys) % 3 != 1, (queries, 1))
        case(name + "_mask", 23, "Attention", [q, k, v, mask], softmax(np.where(mask, scores, -1e30)) @ every_v, tolerance=1e-4)
        case(name + "_flat", 23, "Attention", [heads_last(q), heads_last(k), heads_last(v)], heads_last(softmax(scores * 2) @ every_v), tolerance=1e-4,
             attributes={"q_num_heads": heads, "kv_num_heads": key_heads, "scale": float(2 / np.sqrt(width))})
        case(name + "_softcap", 23, "Attention", [q, k, v], softmax(2 * np.tanh(scores / 2)) @ every_v, attributes={"softcap": 2.0}, tolerance=1e-4)
        past_k, past_v = real(batch, key_heads, 3, width), real(batch, key_heads, 3, width + 1)
        all_k, all_v = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
        wide_scores = q @ np.repeat(all_k, heads // key_heads, 1).transpose(0, 1, 3, 2) / np.sqrt(width)
        bias = real(queries, keys + 3)
        case(name + "_past", 23, "Attention", [q, k, v, bias, past_k, past_v], [softmax(wide_scores + bias) @ np.repeat(all_v, heads // key_heads, 1), all_k, all_v], tolerance=1e-4)
        lengths = ints([keys - 1] * batch)
        case(name + "_lengths", 24, "Attention", [q, k, v], softmax(np.where(np.arange(keys) < keys - 1, scores, -1e30)) @ every_v, [None, None, None, lengths], tolerance=1e-4)
        angles = np.arange(12)[:, None] * (10000.0 ** (-np.arange(width // 2) / (width // 2)))[None]
        cosine, sine = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        places = ints(np.arange(batch * queries).reshape(batch, queries) % 12)
        c, s, half = cosine[places][:, None], sine[places][:, None], width // 2
        first, second, rest = q[..., :half], q[..., half:2 * half], q[..., 2 * half:]
        whole = np.concatenate([first * c - second * s, first * s + second * c], -1)
        if width % 2 == 0:
            case(f"rotary_23_{queries}", 23, "RotaryEmbedding", [q, cosine, sine, places], whole, tolerance=1e-4)
            case(f"rotary_23_{queries}_rows", 23, "RotaryEmbedding", [heads_last(q), cosine[places], sine[places]], heads_last(whole), attributes={"num_heads": heads}, tolerance=1e-4)


REFUSED = [
    # name, opset, op, inputs, attributes, what the message must say
    ("string_concat", 20, "StringConcat", 2, {}, "strings are not supported"),
    ("string_split", 20, "StringSplit", 1, {}, "strings are not supported"),
    ("regex", 20, "RegexFullMatch", 1, {"pattern": "a"}, "strings are not supported"),
    ("image_decoder", 20, "ImageDecoder", 1, {}, "image file formats are not supported"),
    ("unknown_attribute", 18, "Split", 1, {"num_output": 2}, "Unrecognized attribute: num_output for operator Split"),
    ("too_many_inputs", 18, "ReduceMean", 3, {}, "input size 3 not in range [min=1, max=2]"),
    ("no_attribute_any_more", 18, "ReduceMean", 1, {"axes": [0]}, "Unrecognized attribute: axes"),
    ("required_attribute", 21, "GroupNormalization", 3, {}, "Required attribute 'num_groups' is missing"),
    ("newer_attention", 22, "Attention", 3, {}, "ONNX has it from opset 23 on"),
    ("newer_than_the_model", 19, "Gelu", 1, {}, "ONNX has it from opset 20 on"),
]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def same(actual, expected, tolerance):
    expected = np.asarray(expected)
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"is {actual.dtype}{actual.shape}, expected {expected.dtype}{expected.shape}"
    if expected.dtype.kind != "f":
        return "" if np.array_equal(actual, expected) else f"is {actual.ravel()[:8]}, expected {expected.ravel()[:8]}"
    if np.allclose(actual, expected, rtol=tolerance, atol=tolerance, equal_nan=True):
        return ""
    with np.errstate(invalid="ignore"):
        worst = np.argmax(np.nan_to_num(np.abs(actual - expected), nan=np.inf).ravel())
    return f"element {worst} is {actual.ravel()[worst]}, expected {expected.ravel()[worst]}"


def judge(c, tools, folder):
    model, inputs = c.model()
    path = os.path.join(folder, "m")
    with open(path + ".onnx", "wb") as f:
        f.write(model.SerializeToString())
    imported = run([tools + "importer", path + ".onnx", "-o", path + ".graph.json", "-q"])
    if imported.returncode:
        return imported.stderr.strip()
    np.savez(path + ".in.npz", **inputs)
    given = ["--inputs", path + ".in.npz"] if inputs else []
    done = run([tools + "runner", path + ".graph.json", "-o", path + ".out.npz", "-q"] + given)
    if done.returncode:
        return done.stderr.strip()
    outputs = np.load(path + ".out.npz")
    found = []
    for i, expected in enumerate(c.expected):
        difference = same(outputs[f"y{i}"], expected, c.tolerance)
        if difference:
            found.append(f"y{i} {difference}")
    return "; ".join(found)


def judge_refusal(op, opset, count, attributes, message, tools, folder):
    names = [f"x{i}" for i in range(count)]
    info = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [4])
    graph = helper.make_graph([helper.make_node(op, names, ["y0"], name="node", **attributes)], "g", [info(n) for n in names], [info("y0")])
    path = os.path.join(folder, "m.onnx")
    with open(path, "wb") as f:
        f.write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]).SerializeToString())
    done = run([tools + "importer", path, "-o", os.path.join(folder, "m.graph.json")])
    if done.returncode != 1 or message not in done.stderr:
        return f"ended with {done.returncode}, and says: {done.stderr.strip()}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("names", nargs="*")
    o = parser.parse_args()
    with np.errstate(all="ignore"):
        for make in (opset18, resizes, columns_to_images, opset19, opset20, opset21, opset23):
            make()
    tools = os.path.join(o.build, "bin", "")
    wrong = count = 0
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(c.name, lambda c=c: judge(c, tools, folder)) for c in CASES]
        jobs += [("bad_" + r[0], lambda r=r: judge_refusal(r[2], r[1], *r[3:], tools, folder)) for r in REFUSED]
        for name, job in jobs:
            if o.names and name not in o.names:
                continue
            difference = job()
            count += 1
            wrong += bool(difference)
            if difference or o.v:
                print(f"{name}: {difference or 'as expected'}")
    print(f"{count - wrong} of {count} as expected" + ("" if torch else "; without PyTorch, cases that need it were left out"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
