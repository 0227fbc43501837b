# SPDX-License-Identifier: Apache-2.0
"""Turns a graph model of TensorFlow.js into the frozen graph that it was made from: NAME.json and its weights into NAME.pb.

The JSON is protobuf's form of a GraphDef, in which the constants have lost their elements; those are in files of weights. What a GraphDef's
fields are numbered is written down here, for the wire format of protobuf needs no more.
"""
import base64
import json
import struct

TYPES = {"DT_FLOAT": 1, "DT_INT32": 3, "DT_STRING": 7, "DT_INT64": 9, "DT_BOOL": 10}
TYPE_OF_WEIGHTS = {"float32": "DT_FLOAT", "int32": "DT_INT32", "bool": "DT_BOOL"}
BYTES = {"float32": 4, "int32": 4, "bool": 1}
PRODUCER = 440  # a GraphDef version that has all of these operators


def varint(number):
    number &= (1 << 64) - 1  # negative numbers are written as 64 bits
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def block(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def number(field, value):
    return varint(field << 3) + varint(int(value))


def shape(value):
    return b"".join(block(2, number(1, dim.get("size", 0))) for dim in value.get("dim", []))


def tensor(value, content):
    return number(1, TYPES[value["dtype"]]) + block(2, shape(value.get("tensorShape", {}))) + block(4, content)


def scalars(value):
    """The fields of AttrValue and of its list that hold numbers, strings and shapes; in a list each may be repeated."""
    many = lambda one: one if isinstance(one, list) else [one]
    writers = {
        "s": lambda one: block(2, base64.b64decode(one)),
        "i": lambda one: number(3, one),
        "f": lambda one: varint(4 << 3 | 5) + struct.pack("<f", one),
        "b": lambda one: number(5, one),
        "type": lambda one: number(6, TYPES[one]),
        "shape": lambda one: block(7, shape(one)),
    }
    return b"".join(writers[key](one) for key in writers if key in value for one in many(value[key]))


def attribute(value, content):
    if "list" in value:
        return block(1, scalars(value["list"]))
    return block(8, tensor(value["tensor"], content)) if "tensor" in value else scalars(value)


def node(value, weights):
    content = weights.get(value["name"], b"")
    attributes = (block(1, key.encode()) + block(2, attribute(one, content)) for key, one in sorted(value.get("attr", {}).items()))
    return (block(1, value["name"].encode()) + block(2, value["op"].encode()) + b"".join(block(3, name.encode()) for name in value.get("input", []))
            + b"".join(block(5, entry) for entry in attributes))


def read_weights(manifest, folder):
    """The bytes of each constant by its name."""
    weights = {}
    for group in manifest:
        content, begin = b"".join((folder / name).read_bytes() for name in group["paths"]), 0
        for one in group["weights"]:
            size = BYTES[one["dtype"]]
            for extent in one["shape"]:
                size *= extent
            weights[one["name"]] = content[begin:begin + size]
            begin += size
    return weights


def convert(file):
    """The GraphDef's bytes."""
    model = json.loads(file.read_text())
    weights = read_weights(model["weightsManifest"], file.parent)
    return b"".join(block(1, node(one, weights)) for one in model["modelTopology"]["node"]) + block(4, number(1, PRODUCER))
