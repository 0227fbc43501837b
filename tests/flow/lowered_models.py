#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exported models on the device: lowered whole, as exact as the framework, and in few ops.

    lowered_models.py --build BUILD_DIR [--models FOLDER] [NAME...]

FOLDER, or $BUDA_MODELS_DIR, holds NAME.onnx, NAME.inputs.npz and NAME.outputs.npz, computed by the framework; without NAME all that are known
and there. For each model the device graph is evaluated in fp32 and in its formats, with the standard ones and with weights as block floats, and compared.
Where NAME.pt is there too, the same model as TorchScript must have the same results, and as many ops on the device within 5 %.
Printed is a line of a table: ops imported, ops on the device by kind, the largest difference in fp32 (as a part of the range), and the
correlations in formats. Ends with 1 when a model is not as it must be, with 77 when none is there.
"""
import argparse
import array
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

LEAST_CORRELATION = 0.99999
MOST_ERROR = 1e-3  # of the range
LEAST_CORRELATION_IN_FORMATS = 0.99
MORE_OPS_OF_TORCHSCRIPT = 0.05
SOURCES = {"input", "output", "parameter", "constant", "to_device", "to_host"}
HOST_OPS = {"gather"}  # embeddings
ROW = "{:13} {:>8} {:>6} {:>8} {:>7} {:>9} {:>6} {:>6} {:>10} {:>12} {:>12} {:>9} {:>9}"
HEAD = ("model", "imported", "device", "products", "pickers", "depthwise", "others", "copies", "transposes", "correlation", "difference", "Float16_b", "Bfp8_b")

# The most ops on the device, and among them: pickers, copies, and transposes on edges other than to the second operand of a product.
KNOWN = {
    "mlp": (11, 0, 0, 0),
    "resnet18": (52, 21, 0, 0),
    "resnet50": (93, 21, 0, 0),
    "vgg16": (43, 21, 1, 1),  # what the classifier reads, flattened
    "mobilenet_v2": (99, 18, 0, 0),
    "unet": (33, 14, 0, 0),
    "vit_b_16": (443, 1, 0, 0),  # the class token
    "bert_tiny": (79, 0, 0, 0),
    "bert_base": (419, 0, 0, 0),
    "gpt2_small": (434, 0, 0, 0),
}


def ranges(file):
    """The largest magnitude of each array of F32 in an .npz."""
    out = {}
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            header = struct.unpack_from("<H", data, 8)[0]
            values = array.array("f")
            values.frombytes(data[10 + header :])
            out[name.removesuffix(".npy")] = max(map(abs, values))
    return out


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        raise RuntimeError(f"{pathlib.Path(command[0]).name} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout + done.stderr


def nodes_of(graph):
    return json.loads(graph.read_text())["nodes"]


def on_host(node):
    return node.get("tags", {}).get("placement") == "host"


def moves(node):
    """Transposes on its edges that are not where a product takes them."""
    count = 0
    for place, edge in enumerate(node.get("inputs", [])):
        if isinstance(edge, dict) and not (node["op"] == "matmul" and place == 1):
            count += edge.get("tms", []).count("transpose")
    return count


def counts(graph):
    ops = [n for n in nodes_of(graph) if n["op"] not in SOURCES]
    device = [n for n in ops if not on_host(n)]
    pickers = sum(n["op"] == "matmul" and n.get("attrs", {}).get("identity", False) for n in device)
    products = sum(n["op"] == "matmul" for n in device) - pickers
    depthwise = sum(n["op"] == "depthwise" for n in device)
    copies = sum(n["op"] in ("nop", "datacopy") for n in device)
    others = len(device) - products - pickers - depthwise - copies
    return {
        "host": {n["op"] for n in ops if on_host(n)},
        "device": len(device),
        "products": products,
        "pickers": pickers,
        "depthwise": depthwise,
        "others": others,
        "copies": copies,
        "transposes": sum(map(moves, device)),
    }


def compared(text, limits):
    """The least correlation and the largest error, as a part of the range, in runner's table."""
    correlation, error = 1.0, 0.0
    for line in text.splitlines():
        found = re.match(r"runner: (\S+)\s+\d+\s+(\S+)\s+(\S+)", line)
        if found and found[1] in limits:
            correlation = min(correlation, float(found[2]))
            error = max(error, float(found[3]) / limits[found[1]])
    return correlation, error


def check_torchscript(tools, folder, name, inputs, limits, device_ops, work):
    """The same model as TorchScript saves it, whose inputs are called as the parameters of its function."""
    names = ["ids", "mask"] if name.startswith(("bert", "gpt2")) else ["x"]
    graph, lowered, data = (work / f"{name}.torchscript.{ending}" for ending in ("graph.json", "device.graph.json", "npz"))
    shapes = []
    with zipfile.ZipFile(folder / f"{name}.inputs.npz") as given, zipfile.ZipFile(data, "w") as renamed:
        for new, node in zip(names, inputs, strict=True):
            renamed.writestr(f"{new}.npy", given.read(f"{node['name']}.npy"))
            (of,) = node["types"]
            shapes += ["--input-shape", f"{new}={','.join(map(str, of['shape']))}:{of['dtype']}"]
    run(tools / "importer", folder / f"{name}.pt", *shapes, "-o", graph)
    table = run(tools / "runner", graph, "--inputs", data, "--expect", folder / f"{name}.outputs.npz", "--pcc", "0")
    correlation, error = compared(table, limits)
    run(tools / "optimizer", graph, "--device", "n150", "-o", lowered)
    ops = counts(lowered)["device"]
    problems = []
    if not correlation >= LEAST_CORRELATION or math.isnan(error) or error > MOST_ERROR:
        problems.append(f"as TorchScript the correlation is {correlation} and the difference {error} of the range")
    if abs(ops - device_ops) > MORE_OPS_OF_TORCHSCRIPT * device_ops:
        problems.append(f"as TorchScript there are {ops} ops on the device, as ONNX {device_ops}")
    return problems


def check(tools, folder, name, work):
    problems = []
    graph, lowered = work / f"{name}.graph.json", work / f"{name}.device.graph.json"
    data = folder / f"{name}.inputs.npz", folder / f"{name}.outputs.npz"
    limits = ranges(data[1])
    run(tools / "importer", folder / f"{name}.onnx", "-o", graph)
    imported_nodes = nodes_of(graph)
    imported = sum(n["op"] not in SOURCES for n in imported_nodes)

    def evaluate(formats, *options):
        run(tools / "optimizer", graph, "--device", "n150", *options, "-o", lowered)
        table = run(tools / "runner", lowered, "--formats", formats, "--inputs", data[0], "--expect", data[1], "--pcc", "0")
        return compared(table, limits)

    correlation, error = evaluate("fp32")
    if not correlation >= LEAST_CORRELATION or math.isnan(error) or error > MOST_ERROR:
        problems.append(f"in fp32 the correlation is {correlation} and the difference {error} of the range")
    c = counts(lowered)
    if c["host"] - HOST_OPS:
        problems.append(f"the host does {', '.join(sorted(c['host'] - HOST_OPS))}")
    found = (c["device"], c["pickers"], c["copies"], c["transposes"])
    for what, most, is_now in zip(("ops on the device", "pickers", "copies", "transposes"), KNOWN[name], found):
        if is_now > most:
            problems.append(f"there are {is_now} {what}, and {most} are enough")
    if (folder / f"{name}.pt").exists():
        inputs = [n for n in imported_nodes if n["op"] == "input"]
        problems += check_torchscript(tools, folder, name, inputs, limits, c["device"], work)
    in_formats = [evaluate("exact")[0], evaluate("exact", "--enable-bfp8-conversion")[0]]
    for what, is_now in zip(("its formats", "its formats with block floats for weights"), in_formats):
        if not is_now >= LEAST_CORRELATION_IN_FORMATS:
            problems.append(f"in {what} the correlation is {is_now}")
    kinds = [c[k] for k in ("device", "products", "pickers", "depthwise", "others", "copies", "transposes")]
    print(ROW.format(name, imported, *kinds, f"{correlation:.7f}", f"{error:.1e}", *(f"{v:.5f}" for v in in_formats)), flush=True)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--models", default=os.environ.get("BUDA_MODELS_DIR"), type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    names = [n for n in args.names or KNOWN if args.models and (args.models / f"{n}.onnx").exists()]
    if not names:
        print("skipped: no models; BUDA_MODELS_DIR may name a folder of them")
        return 77
    print(ROW.format(*HEAD))
    failed = False
    for name in names:
        with tempfile.TemporaryDirectory() as work:
            try:
                problems = check(args.build / "bin", args.models, name, pathlib.Path(work))
            except RuntimeError as error:
                problems = [str(error)]
        for problem in problems:
            failed = True
            print(f"{name}: {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
