#!/usr/bin/env python3
"""Time and peak memory of the optimizer on models, next to the size of their weights.

    optimizer_memory.py --build BUILD_DIR MODEL.onnx...

Each model is imported once; then the optimizer runs on one thread. Printed are seconds, the peak of resident memory, and its ratio to the
bytes of the model's parameters. Weights are mapped from their file, so that what is only looked at counts as well.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

DTYPE_BYTES = {"F32": 4, "F64": 8, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I8": 1, "U8": 1, "BOOL": 1}


def parameter_bytes(graph_file):
    total = 0
    for node in json.loads(graph_file.read_text())["nodes"]:
        if node["op"] != "parameter":
            continue
        size = DTYPE_BYTES.get(node["types"][0]["dtype"], 4)
        for side in node["types"][0]["shape"]:
            size *= side
        total += size
    return total


def run(command):
    """Seconds and peak bytes of a command."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    messages = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise RuntimeError(f"{command[0]} ended with {code}: {messages.strip().splitlines()[:1]}")
    return time.monotonic() - begin, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--device", default="n150")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    tools = args.build / "bin"
    failed = 0
    print(f"{'model':16} {'weights MB':>10} {'seconds':>8} {'peak MB':>8} {'ratio':>6}")
    for model in args.models:
        with tempfile.TemporaryDirectory() as folder:
            graph = pathlib.Path(folder) / "model.graph.json"
            try:
                run([tools / "importer", model, "-o", graph])
                seconds, peak = run([tools / "optimizer", graph, "--device", args.device, "--threads", "1", "-o", graph.with_name("out.graph.json")])
            except RuntimeError as error:
                print(f"{model.stem:16} {error}")
                failed += 1
                continue
            weights = parameter_bytes(graph)
            print(f"{model.stem:16} {weights / 1e6:10.1f} {seconds:8.2f} {peak / 1e6:8.1f} {peak / max(weights, 1):6.2f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
