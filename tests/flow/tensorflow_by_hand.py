# SPDX-License-Identifier: Apache-2.0
"""Graphs as TensorFlow and Keras write them, with what PyTorch gives for the same weights: recurrent layers in loops of both kinds, transformers, and a SavedModel
with a checkpoint. Each function returns (options of the importer, inputs, expected outputs), after it wrote m.pb or a folder."""
import os
import struct

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import tensorflow_graphs as tf


def write(graph, path="m.pb"):
    with open(path, "wb") as file:
        file.write(graph.definition.SerializeToString())
    return path


def function(graph, name, arguments, results):
    """A function of the library: its nodes; `results` maps names to values."""
    made = graph.definition.library.function.add()
    made.signature.name = name
    for argument in arguments:
        made.signature.input_arg.add(name=argument)
    for result, value in results.items():
        made.signature.output_arg.add(name=result)
        made.ret[result] = value
    return tf.Graph(made.node_def)


def call(name):
    return tf.schema.NameAttrList(name=name)


def arrays(module):
    return {name: value.detach().numpy() for name, value in module.named_parameters()}


def lstm():
    """As Keras exports an LSTM: a While with lists of tensors."""
    steps, batch, width, hidden = 5, 2, 6, 4
    layer, x = nn.LSTM(width, hidden), torch.randn(steps, batch, width)
    expected, (h, c) = layer(x)
    weights = arrays(layer)
    g = tf.Graph()
    g.placeholder("x", (batch, steps, width))
    g.node("Transpose", "lstm/transpose", ["x", g.integers([1, 0, 2])])
    g.node("Shape", "lstm/Shape", ["lstm/transpose"])
    g.node("StridedSlice", "lstm/steps", ["lstm/Shape", g.integers([0]), g.integers([1]), g.integers([1])], of=np.int32, shrink_axis_mask=1)
    g.node("TensorListFromTensor", "lstm/list", ["lstm/transpose", g.constant(np.array([-1, width], np.int32))], of=None)
    g.node("TensorListReserve", "lstm/results", [g.constant(np.array([-1, hidden], np.int32)), "lstm/steps"], of=None)
    g.node("Fill", "lstm/zeros", [g.integers([batch, hidden]), g.constant(np.float32(0))])
    kernel, recurrent = g.constant(weights["weight_ih_l0"].T, "lstm/kernel"), g.constant(weights["weight_hh_l0"].T, "lstm/recurrent_kernel")
    bias = g.constant(weights["bias_ih_l0"] + weights["bias_hh_l0"], "lstm/bias")
    state = ["time", "results", "h", "c", "steps", "list", "kernel", "recurrent", "bias"]
    condition = function(g, "while_cond", state, {"Less": "Less:z:0"})
    condition.node("Less", "Less", ["time", "steps"], of=np.int32)
    body = function(g, "while_body", state, {"time_out": "add:z:0", "results_out": "SetItem:output_handle:0", "h_out": "h_next:z:0", "c_out": "c_next:z:0", "steps_out": "steps",
                                             "list_out": "list", "kernel_out": "kernel", "recurrent_out": "recurrent", "bias_out": "bias"})
    shape = body.constant(np.array([-1, width], np.int32), "shape")
    body.node("TensorListGetItem", "GetItem", ["list", "time", "shape:output:0"], of=None)
    body.node("MatMul", "MatMul", ["GetItem:item:0", "kernel"])
    body.node("MatMul", "MatMul_1", ["h", "recurrent"])
    body.node("AddV2", "sum", ["MatMul:product:0", "MatMul_1:product:0"])
    body.node("BiasAdd", "BiasAdd", ["sum:z:0", "bias"])
    body.constant(np.int32(1), "axis")
    body.node("Split", "split", ["axis:output:0", "BiasAdd:output:0"], num_split=4)
    for name, part in (("i", 0), ("f", 1), ("o", 3)):
        body.node("Sigmoid", name, [f"split:output:{part}"])
    body.node("Tanh", "g", ["split:output:2"])
    body.node("Mul", "kept", ["f:y:0", "c"])
    body.node("Mul", "added", ["i:y:0", "g:y:0"])
    body.node("AddV2", "c_next", ["kept:z:0", "added:z:0"])
    body.node("Tanh", "squashed", ["c_next:z:0"])
    body.node("Mul", "h_next", ["o:y:0", "squashed:y:0"])
    body.node("TensorListSetItem", "SetItem", ["results", "time", "h_next:z:0"], of=None)
    body.constant(np.int32(1), "one")
    body.node("AddV2", "add", ["time", "one:output:0"], of=np.int32)
    g.node("While", "lstm/while", [g.constant(np.int32(0)), "lstm/results", "lstm/zeros", "lstm/zeros", "lstm/steps", "lstm/list", kernel, recurrent, bias], of=None, cond=call("while_cond"),
           body=call("while_body"))
    g.node("TensorListStack", "lstm/stack", ["lstm/while:1", g.constant(np.array([-1, hidden], np.int32))], of=None)
    g.node("Transpose", "sequence", ["lstm/stack", g.integers([1, 0, 2])])
    g.node("Identity", "h", ["lstm/while:2"])
    g.node("Identity", "c", ["lstm/while:3"])
    write(g)
    return ["m.pb", "--set", "frontend.tensorflow.outputs=sequence,h,c"], {"x": x.transpose(0, 1)}, {"sequence": expected.transpose(0, 1), "h": h[0], "c": c[0]}


def gru():
    """As TensorFlow 1 unrolls it with dynamic_rnn: control flow v1 and arrays of tensors."""
    steps, batch, width, hidden = 4, 2, 3, 5
    layer, x = nn.GRU(width, hidden), torch.randn(steps, batch, width)
    expected, _ = layer(x)
    w = arrays(layer)
    g = tf.Graph()
    g.placeholder("x", (steps, batch, width))
    zero, count = g.constant(np.int32(0), "zero"), g.constant(np.int32(steps), "steps")
    g.node("TensorArrayV3", "rnn/in", [count], of=None)
    g.node("TensorArrayV3", "rnn/out", [count], of=None)
    g.node("TensorArrayScatterV3", "rnn/scattered", ["rnn/in", g.integers(range(steps)), "x", "rnn/in:1"])
    start = g.constant(np.zeros((batch, hidden), np.float32), "rnn/start")
    frame = dict(frame_name="rnn/while")
    for name, first in (("time", zero), ("state", start), ("flow", "rnn/out:1")):
        g.node("Enter", f"w/{name}/Enter", [first], **frame)
        g.node("Merge", f"w/{name}", [f"w/{name}/Enter", f"w/{name}/NextIteration"], N=2)
        g.node("Switch", f"w/{name}/Switch", [f"w/{name}", "w/LoopCond"])
        g.node("Exit", f"w/{name}/Exit", [f"w/{name}/Switch"])
    enter = lambda name, value: g.node("Enter", f"w/{name}/Enter", [value], is_constant=True, **frame)
    parts = {k: g.constant(v, f"gru/{k}") for k, v in (("wx", w["weight_ih_l0"].T), ("wh", w["weight_hh_l0"].T), ("bx", w["bias_ih_l0"]), ("bh", w["bias_hh_l0"]))}
    inside = {k: enter(k, v) for k, v in parts.items()}
    g.node("Less", "w/Less", ["w/time", enter("steps", count)], of=np.int32)
    g.node("LoopCond", "w/LoopCond", ["w/Less"], of=None)
    g.node("TensorArrayReadV3", "w/x", [enter("in", "rnn/in"), "w/time/Switch:1", enter("scattered", "rnn/scattered")])
    g.node("BiasAdd", "w/gx", [g.node("MatMul", "w/mx", ["w/x", inside["wx"]]), inside["bx"]])
    g.node("BiasAdd", "w/gh", [g.node("MatMul", "w/mh", ["w/state/Switch:1", inside["wh"]]), inside["bh"]])
    axis = g.constant(np.int32(1), "w/axis")
    g.node("Split", "w/px", [axis, "w/gx"], num_split=3)
    g.node("Split", "w/ph", [axis, "w/gh"], num_split=3)
    reset = g.node("Sigmoid", "w/r", [g.node("Add", "w/r_sum", ["w/px", "w/ph"])])
    update = g.node("Sigmoid", "w/z", [g.node("Add", "w/z_sum", ["w/px:1", "w/ph:1"])])
    candidate = g.node("Tanh", "w/n", [g.node("Add", "w/n_sum", ["w/px:2", g.node("Mul", "w/n_reset", [reset, "w/ph:2"])])])
    g.node("Sub", "w/rest", [g.constant(np.float32(1), "w/one"), update])
    state = g.node("Add", "w/new", [g.node("Mul", "w/a", ["w/rest", candidate]), g.node("Mul", "w/b", [update, "w/state/Switch:1"])])
    g.node("TensorArrayWriteV3", "w/written", [enter("out", "rnn/out"), "w/time/Switch:1", state, "w/flow/Switch:1"])
    g.node("Add", "w/next", ["w/time/Switch:1", g.constant(np.int32(1), "w/step")], of=np.int32)
    for name, value in (("time", "w/next"), ("state", state), ("flow", "w/written")):
        g.node("NextIteration", f"w/{name}/NextIteration", [value])
    g.node("TensorArrayGatherV3", "sequence", ["rnn/out", g.integers(range(steps)), "w/flow/Exit"])
    write(g)
    return ["m.pb", "--set", "frontend.tensorflow.outputs=sequence"], {"x": x}, {"sequence": expected}


def norm(g, name, x, gamma, beta, epsilon):
    """A layer's norm in TensorFlow's single operators."""
    axis = g.integers([-1])
    mean = g.node("Mean", f"{name}/mean", [x, axis], keep_dims=True)
    variance = g.node("Mean", f"{name}/variance", [g.node("SquaredDifference", f"{name}/squares", [x, mean]), axis], keep_dims=True)
    scale = g.node("Mul", f"{name}/scale", [g.node("Rsqrt", f"{name}/Rsqrt", [g.node("AddV2", f"{name}/add", [variance, g.constant(np.float32(epsilon))])]), g.constant(gamma, f"{name}/gamma")])
    shift = g.node("Sub", f"{name}/shift", [g.constant(beta, f"{name}/beta"), g.node("Mul", f"{name}/moved", [mean, scale])])
    return g.node("AddV2", f"{name}/out", [g.node("Mul", f"{name}/scaled", [x, scale]), shift])


def dense(g, name, x, rows, layer):
    """A product with a matrix, of a sequence that is seen as rows."""
    w, b = layer.weight.detach().numpy().T, layer.bias.detach().numpy()
    flat = g.node("Reshape", f"{name}/flat", [x, g.integers([-1, w.shape[0]])])
    y = g.node("BiasAdd", f"{name}/BiasAdd", [g.node("MatMul", f"{name}/MatMul", [flat, g.constant(w, f"{name}/kernel")]), g.constant(b, f"{name}/bias")])
    return g.node("Reshape", f"{name}/out", [y, g.integers([*rows, w.shape[1]])])


def attention(g, name, q, k, v, sizes, heads, mask):
    """Heads side by side in the last axis; `mask` is added to the scores."""
    batch, tokens, width = sizes
    split = lambda part, x: g.node("Transpose", f"{name}/{part}", [g.node("Reshape", f"{name}/{part}/heads", [x, g.integers([batch, tokens, heads, width // heads])]), g.integers([0, 2, 1, 3])])
    scores = g.node("BatchMatMulV2", f"{name}/scores", [split("q", q), split("k", k)], adj_x=False, adj_y=True)
    scaled = g.node("Mul", f"{name}/scaled", [scores, g.constant(np.float32((width // heads) ** -0.5))])
    weights = g.node("Softmax", f"{name}/weights", [g.node("AddV2", f"{name}/masked", [scaled, mask])])
    mixed = g.node("BatchMatMulV2", f"{name}/mixed", [weights, split("v", v)], adj_x=False, adj_y=False)
    return g.node("Reshape", f"{name}/joined", [g.node("Transpose", f"{name}/back", [mixed, g.integers([0, 2, 1, 3])]), g.integers([batch, tokens, width])])


class Block(nn.Module):
    """Projections, two norms and two layers; what BERT and GPT-2 have in common."""

    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2, self.up, self.down = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        for n in (self.norm1, self.norm2):
            nn.init.normal_(n.weight, 1, 0.2)
            nn.init.normal_(n.bias, 0, 0.2)

    def attend(self, a, heads, mask):
        b, t, c = a.shape
        q, k, v = (p(a).view(b, t, heads, c // heads).transpose(1, 2) for p in (self.q, self.k, self.v))
        return self.out((F.softmax(q @ k.transpose(2, 3) * (c // heads) ** -0.5 + mask, -1) @ v).transpose(1, 2).reshape(b, t, c))


def bert():
    batch, tokens, width, heads, words = 2, 7, 16, 4, 30
    block, table, kinds = Block(width), nn.Embedding(words, width), nn.Embedding(2, width)
    ids, types = torch.randint(0, words, (batch, tokens)), torch.randint(0, 2, (batch, tokens))
    lengths = (torch.arange(tokens) < torch.tensor([[7], [5]])).float()
    a = table(ids) + kinds(types)
    a = block.norm1(a + block.attend(a, heads, (1 - lengths)[:, None, None] * -10000))
    expected = block.norm2(a + block.down(F.gelu(block.up(a))))
    g = tf.Graph()
    for name, dtype in (("ids", np.int32), ("types", np.int32), ("mask", np.float32)):
        g.placeholder(name, (batch, tokens), dtype)
    found = g.node("GatherV2", "words", [g.constant(table.weight.detach().numpy(), "words/table"), "ids", g.constant(np.int32(0))], of=None)
    hot = g.node("OneHot", "kinds/one_hot", [g.node("Reshape", "kinds/flat", ["types", g.integers([-1])], of=np.int32), g.constant(np.int32(2)), g.constant(np.float32(1)), g.constant(np.float32(0))], axis=-1)
    kind = g.node("Reshape", "kinds", [g.node("MatMul", "kinds/MatMul", [hot, g.constant(kinds.weight.detach().numpy(), "kinds/table")]), g.integers([batch, tokens, width])])
    x = g.node("AddV2", "embedded", [found, kind])
    hidden = g.node("Mul", "hidden", [g.node("Sub", "hidden/one", [g.constant(np.float32(1)), g.node("Reshape", "hidden/shape", ["mask", g.integers([batch, 1, 1, tokens])])]), g.constant(np.float32(-10000))])
    rows = [batch, tokens]
    q, k, v = (dense(g, f"attention/{n}", x, rows, getattr(block, n)) for n in "qkv")
    mixed = dense(g, "attention/dense", attention(g, "attention", q, k, v, (batch, tokens, width), heads, hidden), rows, block.out)
    y = norm(g, "norm1", g.node("AddV2", "sum1", [x, mixed]), block.norm1.weight.detach().numpy(), block.norm1.bias.detach().numpy(), 1e-12)
    up = dense(g, "up", y, rows, block.up)
    erf = g.node("Erf", "gelu/Erf", [g.node("Mul", "gelu/scaled", [up, g.constant(np.float32(0.5 ** 0.5))])])
    half = g.node("Mul", "gelu/half", [up, g.constant(np.float32(0.5))])
    gelu = g.node("Mul", "gelu", [half, g.node("AddV2", "gelu/more", [erf, g.constant(np.float32(1))])])
    norm(g, "norm2", g.node("AddV2", "sum2", [y, dense(g, "down", gelu, rows, block.down)]), block.norm2.weight.detach().numpy(), block.norm2.bias.detach().numpy(), 1e-12)
    write(g)
    return ["m.pb"], {"ids": ids.int(), "types": types.int(), "mask": lengths}, {"norm2/out": expected}


def gpt2():
    """One projection to queries, keys and values; a mask of ranges; GELU by tanh and a power."""
    batch, tokens, width, heads = 1, 6, 16, 2
    block, x = Block(width), torch.randn(1, 6, 16)
    causal = (torch.tril(torch.ones(tokens, tokens)) - 1) * 1e10
    a = x + block.attend(block.norm1(x), heads, causal)
    expected = a + block.down(F.gelu(block.up(block.norm2(a)), approximate="tanh"))
    g = tf.Graph()
    g.placeholder("x", (batch, tokens, width))
    numpy = lambda p: p.detach().numpy()
    h = norm(g, "ln_1", "x", numpy(block.norm1.weight), numpy(block.norm1.bias), 1e-12)
    together = nn.Linear(width, 3 * width)
    with torch.no_grad():
        together.weight.copy_(torch.cat([block.q.weight, block.k.weight, block.v.weight]))
        together.bias.copy_(torch.cat([block.q.bias, block.k.bias, block.v.bias]))
    g.node("Split", "parts", [g.constant(np.int32(2)), dense(g, "c_attn", h, [batch, tokens], together)], num_split=3)
    g.node("Shape", "shape", ["x"])
    g.node("StridedSlice", "length", ["shape", g.integers([1]), g.integers([2]), g.integers([1])], of=np.int32, shrink_axis_mask=1)
    places = g.node("Range", "places", [g.constant(np.int32(0)), "length", g.constant(np.int32(1))], of=None, Tidx=np.dtype(np.int32))
    rows = g.node("StridedSlice", "rows", [places, g.integers([0, 0]), g.integers([0, 0]), g.integers([1, 1])], of=np.int32, begin_mask=1, end_mask=1, new_axis_mask=2)
    seen = g.node("Cast", "seen", [g.node("GreaterEqual", "order", [rows, places], of=np.int32)], of=None, SrcT=np.dtype(np.bool_), DstT=np.dtype(np.float32))
    mask = g.node("Mul", "mask", [g.node("Sub", "mask/less", [seen, g.constant(np.float32(1))]), g.constant(np.float32(1e10))])
    mixed = attention(g, "attn", "parts", "parts:1", "parts:2", (batch, tokens, width), heads, mask)
    y = g.node("AddV2", "res_1", ["x", dense(g, "c_proj", mixed, [batch, tokens], block.out)])
    up = dense(g, "c_fc", norm(g, "ln_2", y, numpy(block.norm2.weight), numpy(block.norm2.bias), 1e-12), [batch, tokens], block.up)
    cubed = g.node("Mul", "gelu/cubed", [g.node("Pow", "gelu/Pow", [up, g.constant(np.float32(3))]), g.constant(np.float32(0.044715))])
    tanh = g.node("Tanh", "gelu/Tanh", [g.node("Mul", "gelu/scaled", [g.node("AddV2", "gelu/sum", [up, cubed]), g.constant(np.float32((2 / np.pi) ** 0.5))])])
    gelu = g.node("Mul", "gelu", [g.node("Mul", "gelu/half", [up, g.constant(np.float32(0.5))]), g.node("AddV2", "gelu/more", [tanh, g.constant(np.float32(1))])])
    g.node("AddV2", "res_2", [y, dense(g, "mlp", gelu, [batch, tokens], block.down)])
    write(g)
    return ["m.pb"], {"x": x}, {"res_2": expected}


def nchw():
    """Channels first, as graphs for GPUs have them."""
    module = nn.Sequential(nn.Conv2d(3, 6, 3, 2), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 6, 3, padding=1, groups=6), nn.MaxPool2d(2), nn.Conv2d(6, 4, 1), nn.AvgPool2d(2), nn.Flatten(),
                           nn.Linear(36, 5)).eval()
    x = torch.randn(1, 3, 26, 26)
    translation = tf.Translation(module, x, "NCHW")
    write(translation.graph)
    name = next(n.name for n in translation.graph.definition.node if n.op == "Placeholder")
    return ["m.pb"], {name: x}, {None: module(x)}


# ---- a SavedModel, byte by byte

def checksum(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def block(entries):
    """Keys share what they have in common with the one before."""
    out, last = b"", b""
    for key, value in entries:
        shared = len(os.path.commonprefix([key, last]))
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    out += struct.pack("<II", 0, 1) + b"\0"
    return out + struct.pack("<I", checksum(out))


def write_checkpoint(folder, tensors, shards=2):
    """Tensors by key, in turn in several files."""
    files = [b""] * shards
    entries = [(b"", tf.schema.BundleHeaderProto(num_shards=shards).SerializeToString())]
    for i, (key, value) in enumerate(sorted(tensors.items())):
        data, shard = np.ascontiguousarray(value).tobytes(), i % shards
        entry = tf.schema.BundleEntryProto(dtype=tf.TYPES[value.dtype], shape=tf.shape(value.shape), shard_id=shard, offset=len(files[shard]), size=len(data), crc32c=checksum(data))
        files[shard] += data
        entries.append((key.encode(), entry.SerializeToString()))
    data = [block(entries[:2]), block(entries[2:])]
    index = block([(b"b", varint(0) + varint(len(data[0]) - 5)), (b"z", varint(len(data[0])) + varint(len(data[1]) - 5))])
    meta = block([])
    place = len(data[0]) + len(data[1])
    footer = varint(place) + varint(len(meta) - 5) + varint(place + len(meta)) + varint(len(index) - 5)
    with open(f"{folder}/variables.index", "wb") as file:
        file.write(data[0] + data[1] + meta + index + footer.ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57))
    for i, content in enumerate(files):
        with open(f"{folder}/variables.data-{i:05}-of-{shards:05}", "wb") as file:
            file.write(content)


def saved_model():
    """As TensorFlow 1 writes it: variables and their restoring in the graph; a signature with names of its own."""
    layer, last, x = nn.Linear(6, 5), nn.Linear(5, 3), torch.randn(2, 6)
    expected = last(torch.tanh(layer(x)))
    values = {"dense/kernel": layer.weight.detach().numpy().T, "dense/bias": layer.bias.detach().numpy(), "out/kernel": last.weight.detach().numpy().T, "out/bias": last.bias.detach().numpy()}
    model = tf.schema.SavedModel(saved_model_schema_version=1)
    meta = model.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    g = tf.Graph(meta.graph_def.node)
    g.placeholder("input", (-1, 6))
    keys = g.nodes.add(name="save/names", op="Const")
    keys.attr["value"].tensor.CopyFrom(tf.schema.TensorProto(dtype=7, tensor_shape=tf.shape([len(values)]), string_val=[f"entry/{name}".encode() for name in values]))
    g.node("RestoreV2", "save/RestoreV2", ["save/Const", "save/names", "save/names"], of=None)
    for i, (name, value) in enumerate(values.items()):
        g.node("VariableV2", name, of=None, shape=value.shape, dtype=value.dtype)
        g.node("Identity", f"{name}/read", [name])
        g.node("Assign", f"save/Assign_{i}", [name, f"save/RestoreV2:{i}"])
    h = g.node("Tanh", "Tanh", [g.node("BiasAdd", "dense/BiasAdd", [g.node("MatMul", "dense/MatMul", ["input", "dense/kernel/read"]), "dense/bias/read"])])
    g.node("BiasAdd", "out/BiasAdd", [g.node("MatMul", "out/MatMul", [h, "out/kernel/read"]), "out/bias/read"])
    signature = meta.signature_def["predict"]
    signature.inputs["features"].CopyFrom(tf.schema.TensorInfo(name="input:0", dtype=1, tensor_shape=tf.shape([-1, 6])))
    signature.outputs["logits"].CopyFrom(tf.schema.TensorInfo(name="out/BiasAdd:0", dtype=1))
    os.makedirs("saved/variables", exist_ok=True)
    with open("saved/saved_model.pb", "wb") as file:
        file.write(model.SerializeToString())
    write_checkpoint("saved/variables", {f"entry/{name}": value for name, value in values.items()})
    return ["saved", "--dim", "features.0=2"], {"features": x}, {"logits": expected}


GRAPHS = {f.__name__: f for f in (lstm, gru, bert, gpt2, nchw, saved_model)}
