# SPDX-License-Identifier: Apache-2.0
"""Writes TensorFlow graphs: nodes by hand, and PyTorch modules layer by layer, with the schema of the frontend.

    graph = Graph()
    x = graph.placeholder("x", (1, 8, 8, 3))
    graph.node("Relu", "y", [x])
    open("m.pb", "wb").write(graph.definition.SerializeToString())

`load_schema` has protoc make the messages' Python of the frontend's schema, so that nothing of TensorFlow is needed. Images of PyTorch have
channels first, those written here last; `Translation` keeps both in step.
"""
import importlib.util
import operator
import os
import subprocess
import sys

import numpy as np

schema = None
TYPES = {np.dtype(np.float32): 1, np.dtype(np.float64): 2, np.dtype(np.int32): 3, np.dtype(np.int64): 9, np.dtype(np.bool_): 10, np.dtype(np.complex64): 8}


def load_schema(source, folder):
    global schema
    proto = os.path.join(source, "plugins/frontends/tensorflow/buda_tensorflow.proto")
    subprocess.run(["protoc", "--python_out", folder, "-I", os.path.dirname(proto), proto], check=True)
    spec = importlib.util.spec_from_file_location("tensorflow_schema", os.path.join(folder, "buda_tensorflow_pb2.py"))
    schema = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(schema)
    return schema


def set_attr(target, value):
    """An attribute of a Python value: a type is a NumPy dtype, a tensor an array, a shape a tuple, a function a call's name in a 1-tuple."""
    if isinstance(value, bool):
        target.b = value
    elif isinstance(value, int):
        target.i = value
    elif isinstance(value, float):
        target.f = value
    elif isinstance(value, str):
        target.s = value.encode()
    elif isinstance(value, np.dtype):
        target.type = TYPES[value]
    elif isinstance(value, np.ndarray):
        target.tensor.CopyFrom(tensor(value))
    elif isinstance(value, schema.NameAttrList):
        target.func.CopyFrom(value)
    elif isinstance(value, tuple):
        target.shape.CopyFrom(shape(value))
    elif isinstance(value, list):
        target.list.SetInParent()
        for item in value:
            if isinstance(item, str):
                target.list.s.append(item.encode())
                continue
            if isinstance(item, float):
                target.list.f.append(item)
                continue
            (target.list.i if isinstance(item, int) else target.list.type).append(item if isinstance(item, int) else TYPES[item])
    else:
        raise TypeError(f"an attribute of {type(value)}")


def shape(sizes):
    out = schema.TensorShapeProto()
    for size in sizes:
        out.dim.add().size = size
    return out


def tensor(array):
    out = schema.TensorProto(dtype=TYPES[array.dtype], tensor_shape=shape(array.shape))
    # Single numbers stand in lists, as TensorFlow writes them; OpenCV finds axes nowhere else.
    lists = {1: out.float_val, 2: out.double_val, 3: out.int_val, 9: out.int64_val, 10: out.bool_val}
    if array.size == 1:
        lists[out.dtype].append(array.item())
    else:
        out.tensor_content = np.ascontiguousarray(array).tobytes()
    return out


class Graph:
    def __init__(self, nodes=None):
        self.definition = schema.GraphDef()
        self.definition.versions.producer = 1087
        self.nodes = self.definition.node if nodes is None else nodes
        self.count = 0

    def fresh(self, name):
        self.count += 1
        return f"{name}_{self.count}"

    def node(self, op, name, inputs=(), of=np.float32, **attrs):
        node = self.nodes.add(name=name, op=op)
        node.input.extend(inputs)
        if of is not None:
            node.attr["T"].type = TYPES[np.dtype(of)]
        for key, value in attrs.items():
            set_attr(node.attr[key], value)
        return name

    def placeholder(self, name, sizes, dtype=np.float32):
        return self.node("Placeholder", name, of=None, shape=tuple(sizes), dtype=np.dtype(dtype))

    def constant(self, value, name=None):
        value = np.asarray(value)
        if value.dtype == np.float64:
            value = value.astype(np.float32)
        return self.node("Const", name or self.fresh("const"), of=None, value=value, dtype=value.dtype)

    def integers(self, values):
        return self.constant(np.array(values, np.int32))


class Translation:
    """A module of PyTorch, traced by torch.fx, as a graph with channels last."""

    def __init__(self, module, example, data_format="NHWC"):
        import torch
        from torch.fx import symbolic_trace
        from torch.fx.passes.shape_prop import ShapeProp
        self.torch, self.F = torch, torch.nn.functional
        self.graph = Graph()
        self.first = data_format == "NCHW"
        self.data_format = data_format
        traced = symbolic_trace(module)
        ShapeProp(traced).propagate(example)
        self.modules = dict(traced.named_modules())
        self.names, self.flattened = {}, {}
        for node in traced.graph.nodes:
            self.translate(node)

    def sizes(self, node):
        return tuple(node.meta["tensor_meta"].shape)

    def in_order(self, sizes):
        return tuple(sizes[i] for i in (0, 2, 3, 1)) if len(sizes) == 4 and not self.first else tuple(sizes)

    def axis(self, axis, rank):
        axis = axis % rank
        return {1: 3, 2: 1, 3: 2}.get(axis, axis) if rank == 4 and not self.first else axis

    def spatial(self, pair):
        pair = (pair, pair) if isinstance(pair, int) else tuple(pair)
        return [1, 1, *pair] if self.first else [1, *pair, 1]

    def op(self, op, inputs, name=None, **attrs):
        return self.graph.node(op, name or self.graph.fresh(op), inputs, **attrs)

    def translate(self, node):
        if node.op == "placeholder":
            self.names[node] = self.graph.placeholder(node.name, self.in_order(self.sizes(node)))
        elif node.op == "get_attr":
            value = self.modules[""]
            for part in node.target.split("."):
                value = getattr(value, part)
            self.names[node] = self.graph.constant(value.detach().numpy(), node.name)
        elif node.op == "output":
            pass
        else:
            target = type(self.modules[node.target]) if node.op == "call_module" else node.target
            module = self.modules[node.target] if node.op == "call_module" else None
            name = target if isinstance(target, str) else target.__name__
            method = getattr(self, "to_" + name.lower(), None)
            if method is None:
                raise NotImplementedError(f"{node.op} {name}")
            before = len(self.graph.nodes)
            result = method(node, module)
            if node.args and isinstance(node.args[0], self.torch.fx.Node) and result == self.names.get(node.args[0]):
                self.flattened.setdefault(node, self.flattened.get(node.args[0]))
            self.names[node] = result
            assert before <= len(self.graph.nodes)

    def inputs(self, node, count=1):
        return [self.names[a] if isinstance(a, self.torch.fx.Node) else self.graph.constant(np.float32(a)) for a in node.args[:count]]

    # ---- convolutions and pools

    def padded(self, x, padding):
        pads = [[0, 0], [padding[0]] * 2, [padding[1]] * 2, [0, 0]]
        if self.first:
            pads = [pads[0], pads[3], pads[1], pads[2]]
        return self.op("Pad", [x, self.graph.integers(pads)])

    def to_conv2d(self, node, m):
        x = self.names[node.args[0]]
        channels, w = self.sizes(node.args[0])[1], m.weight.detach().numpy()
        if m.dilation != (1, 1):
            return self.dilated(x, w, m)
        same = all(s == 1 and 2 * p == k - 1 for s, p, k in zip(m.stride, m.padding, m.kernel_size))
        if not same and any(m.padding):
            x = self.padded(x, m.padding)
        attrs = dict(strides=self.spatial(m.stride), dilations=self.spatial(m.dilation), padding="SAME" if same and any(m.padding) else "VALID",
                     data_format=self.data_format)
        if m.groups == 1 or m.groups != channels:
            y = self.op("Conv2D", [x, self.graph.constant(w.transpose(2, 3, 1, 0))], **attrs)
        else:
            multiplier = w.shape[0] // channels
            kernel = w.reshape(channels, multiplier, *w.shape[2:]).transpose(2, 3, 0, 1)
            y = self.op("DepthwiseConv2dNative", [x, self.graph.constant(kernel)], **attrs)
        return self.bias(y, m)

    def dilated(self, x, w, m):
        """As TensorFlow 1 writes it, and OpenCV reads it: every second row and column becomes an image of its own."""
        block, pads = self.graph.integers(m.dilation), self.graph.integers([[p, p] for p in m.padding])
        x = self.op("SpaceToBatchND", [x, block, pads])
        y = self.op("Conv2D", [x, self.graph.constant(w.transpose(2, 3, 1, 0))], strides=[1, 1, 1, 1], padding="VALID", data_format=self.data_format)
        return self.bias(self.op("BatchToSpaceND", [y, block, self.graph.integers([[0, 0], [0, 0]])]), m)

    def bias(self, y, m):
        return y if m.bias is None else self.op("BiasAdd", [y, self.graph.constant(m.bias.detach().numpy())], data_format=self.data_format)

    def to_convtranspose2d(self, node, m):
        rows = self.graph.integers(self.in_order(self.sizes(node)))
        kernel = self.graph.constant(m.weight.detach().numpy().transpose(2, 3, 1, 0))
        padding = "VALID" if not any(m.padding) else "SAME"
        y = self.op("Conv2DBackpropInput", [rows, kernel, self.names[node.args[0]]], strides=self.spatial(m.stride), padding=padding, data_format=self.data_format)
        return self.bias(y, m)

    def pool(self, node, op, kernel, stride, padding=0):
        x = self.names[node.args[0]]
        if padding:
            x = self.padded(x, (padding, padding))  # of what is not negative
        return self.op(op, [x], ksize=self.spatial(kernel), strides=self.spatial(stride if stride else kernel), padding="VALID", data_format=self.data_format)

    def to_maxpool2d(self, node, m):
        same = m.ceil_mode and not m.padding
        x = self.names[node.args[0]]
        if same and any((n - m.kernel_size) % m.stride for n in self.sizes(node.args[0])[2:]):
            return self.op("MaxPool", [self.op("Pad", [x, self.graph.integers([[0, 0], [0, 1], [0, 1], [0, 0]])])], ksize=self.spatial(m.kernel_size),
                           strides=self.spatial(m.stride), padding="VALID", data_format=self.data_format)
        return self.pool(node, "MaxPool", m.kernel_size, m.stride, m.padding)

    def to_avgpool2d(self, node, m):
        return self.pool(node, "AvgPool", m.kernel_size, m.stride)

    def to_avg_pool2d(self, node, m):
        return self.pool(node, "AvgPool", *self.window(node))

    def to_max_pool2d(self, node, m):
        return self.pool(node, "MaxPool", *self.window(node))

    @staticmethod
    def window(node):
        """Kernel, stride and padding of a function's call."""
        given = dict(zip(("kernel_size", "stride", "padding"), node.args[1:]))
        given.update({k: v for k, v in node.kwargs.items() if k in ("kernel_size", "stride", "padding")})
        return given["kernel_size"], given.get("stride"), given.get("padding", 0)

    def mean_of_image(self, node, keep):
        axes = (2, 3) if self.first else (1, 2)
        return self.op("Mean", [self.names[node.args[0]], self.graph.integers(axes)], keep_dims=keep)

    def to_adaptiveavgpool2d(self, node, m):
        assert self.sizes(node)[2:] == (1, 1)
        return self.mean_of_image(node, True)

    to_adaptive_avg_pool2d = to_adaptiveavgpool2d

    def to_mean(self, node, m):
        return self.mean_of_image(node, node.kwargs.get("keepdim", False))

    # ---- norms

    def to_batchnorm2d(self, node, m):
        values = [self.graph.constant(v.detach().numpy()) for v in (m.weight, m.bias, m.running_mean, m.running_var)]
        return self.op("FusedBatchNormV3", [self.names[node.args[0]], *values], epsilon=float(m.eps), is_training=False, data_format=self.data_format)

    def to_localresponsenorm(self, node, m):
        return self.op("LRN", self.inputs(node), depth_radius=m.size // 2, alpha=m.alpha / m.size, beta=float(m.beta), bias=float(m.k))

    # ---- matrices

    def to_flatten(self, node, m):
        source = node.args[0]
        sizes = self.sizes(source)
        self.flattened[node] = sizes[1:] if len(sizes) == 4 and not self.first else None
        return self.op("Reshape", [self.names[source], self.graph.integers([sizes[0], int(np.prod(sizes[1:]))])])

    def to_reshape(self, node, m):
        assert len(self.sizes(node)) == 2
        return self.to_flatten(node, m)

    to_view = to_reshape

    def to_linear(self, node, m):
        w = m.weight.detach().numpy()
        image = self.flattened.get(node.args[0])
        if image:  # columns in the order in which an image with channels last is flattened
            w = w.reshape(w.shape[0], *image).transpose(0, 2, 3, 1).reshape(w.shape)
        y = self.op("MatMul", [self.names[node.args[0]], self.graph.constant(w.T)], transpose_a=False, transpose_b=False)
        return self.bias(y, m)

    # ---- elements

    def unary(self, op, **attrs):
        return lambda node, m: self.op(op, self.inputs(node), **attrs)

    def __getattr__(self, name):
        unary = {"to_relu": "Relu", "to_relu6": "Relu6", "to_sigmoid": "Sigmoid", "to_tanh": "Tanh", "to_elu": "Elu", "to_abs": "Abs", "to_softplus": "Softplus", "to_exp": "Exp",
                 "to_square": "Square", "to_softmax": "Softmax", "to_log_softmax": "LogSoftmax", "to_sqrt": "Sqrt", "to_neg": "Neg"}
        if name in unary:
            return self.unary(unary[name])
        raise AttributeError(name)

    def to_leakyrelu(self, node, m):
        return self.op("LeakyRelu", self.inputs(node), alpha=float(m.negative_slope))

    def to_dropout(self, node, m):
        return self.op("Identity", self.inputs(node))

    to_identity = to_dropout
    to_stochasticdepth = to_dropout
    to_stochastic_depth = to_dropout

    def binary(self, op, node):
        return self.op(op, self.inputs(node, 2))

    def to_add(self, node, m):
        return self.binary("AddV2", node)

    to_iadd = to_add

    def to_mul(self, node, m):
        return self.binary("Mul", node)

    def to_sub(self, node, m):
        return self.binary("Sub", node)

    def to_truediv(self, node, m):
        return self.binary("RealDiv", node)

    def to_maximum(self, node, m):
        return self.binary("Maximum", node)

    def to_silu(self, node, m):
        x = self.names[node.args[0]]
        return self.op("Mul", [x, self.op("Sigmoid", [x])])

    def gate(self, x):
        more = self.op("AddV2", [x, self.graph.constant(np.float32(3))])
        return self.op("Mul", [self.op("Relu6", [more]), self.graph.constant(np.float32(1 / 6))])

    def to_hardsigmoid(self, node, m):
        return self.gate(self.names[node.args[0]])

    def to_hardswish(self, node, m):
        x = self.names[node.args[0]]
        return self.op("Mul", [x, self.gate(x)])

    # ---- places

    def to_cat(self, node, m):
        parts = [self.names[p] for p in node.args[0]]
        dim = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)
        return self.op("ConcatV2", [*parts, self.graph.integers(self.axis(dim, len(self.sizes(node))))], N=len(parts))

    def to_chunk(self, node, m):
        source = node.args[0]
        dim = node.kwargs.get("dim", node.args[2] if len(node.args) > 2 else 0)
        return self.op("Split", [self.graph.integers(self.axis(dim, len(self.sizes(source)))), self.names[source]], num_split=node.args[1])

    def to_getitem(self, node, m):
        return f"{self.names[node.args[0]]}:{node.args[1]}" if node.args[1] else self.names[node.args[0]]

    def to_interpolate(self, node, m):
        op = "ResizeBilinear" if node.kwargs.get("mode") == "bilinear" else "ResizeNearestNeighbor"
        corners = bool(node.kwargs.get("align_corners"))
        return self.op(op, [self.names[node.args[0]], self.graph.integers(self.sizes(node)[2:])], align_corners=corners,
                       half_pixel_centers=op == "ResizeBilinear" and not corners)

    def to_pad(self, node, m):
        left, right, top, bottom = node.args[1]
        mode = node.kwargs.get("mode", "constant")
        pads = self.graph.integers([[0, 0], [top, bottom], [left, right], [0, 0]])
        x = self.names[node.args[0]]
        return self.op("Pad", [x, pads]) if mode == "constant" else self.op("MirrorPad", [x, pads], mode="REFLECT")
