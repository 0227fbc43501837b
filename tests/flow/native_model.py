# SPDX-License-Identifier: Apache-2.0
"""Models written by hand in the graph format, and their inputs, for tests that bring no framework. The caller seeds `random`."""
import json
import random
import struct
import zipfile


def volume(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def tensor(name, *shape, most=1):
    values = [round(random.uniform(-most, most), 3) for _ in range(volume(shape))]
    return {"name": name, "dtype": "F32", "shape": list(shape), "values": values}


def source(name, dtype, *shape):
    return {"name": name, "op": "input", "types": [{"dtype": dtype, "shape": list(shape)}]}


def parameter(name):
    return {"name": name, "op": "parameter", "value": name}


def op(name, op, inputs, **attrs):
    return {"name": name, "op": op, "inputs": inputs, "attrs": attrs}


def model(name, nodes, *tensors):
    graph = {"schema": "buda.graph/1", "name": name, "level": "tensor", "nodes": nodes, "tensors": tensors}
    with open(name + ".graph.json", "w") as file:
        json.dump(graph, file)


def npz(name, **arrays):
    """NumPy's format, without NumPy: name=(descr, struct's letter, shape, values)."""
    with zipfile.ZipFile(name, "w") as archive:
        for key, (code, kind, shape, values) in arrays.items():
            header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (code, repr(tuple(shape)))
            header += " " * (63 - (len(header) + 10) % 64) + "\n"
            data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%d%s" % (len(values), kind), *values)
            archive.writestr(key + ".npy", data)


def floats(*shape):
    return ("<f4", "f", shape, [random.uniform(-1, 1) for _ in range(volume(shape))])
