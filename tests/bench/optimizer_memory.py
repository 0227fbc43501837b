#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and peak memory of the optimizer on models, next to the size of their weights.

    optimizer_memory.py --build BUILD_DIR [MODEL.onnx|FOLDER]...

Without models those of the folder $BUDA_MODELS_DIR; 77 means that there are none. Each model is imported once; then the optimizer runs on one
thread. Printed are seconds, the peak of resident memory, and its ratio to the bytes of the model's parameters. Weights are mapped from their
file, so that what is only looked at counts as well. Ends with 1 when a model takes longer than it may, or more memory.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MOST_SECONDS = {"resnet50": 6, "vit_b_16": 10, "bert_base": 10}  # of processor time
MOST_RATIO = 2.5
JUDGED_FROM = 50e6  # bytes of weights: below, the program itself counts more than they do

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
    """Seconds of processor time and peak bytes of a command."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    messages = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise RuntimeError(f"{command[0]} ended with {code}: {messages.strip().splitlines()[:1]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--device", default="n150")
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    given = args.models or [pathlib.Path(p) for p in [os.environ.get("BUDA_MODELS_DIR")] if p]
    models = [m for p in given for m in (sorted(p.glob("*.onnx")) if p.is_dir() else [p])]
    if not models:
        print("skipped: no models; BUDA_MODELS_DIR may name a folder of them")
        return 77
    tools = args.build / "bin"
    failed = 0
    print(f"{'model':16} {'weights MB':>10} {'seconds':>8} {'peak MB':>8} {'ratio':>6}")
    for model in models:
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
            ratio = peak / max(weights, 1)
            too_much = seconds > MOST_SECONDS.get(model.stem, seconds) or (weights > JUDGED_FROM and ratio > MOST_RATIO)
            failed += too_much
            print(f"{model.stem:16} {weights / 1e6:10.1f} {seconds:8.2f} {peak / 1e6:8.1f} {ratio:6.2f}{'  too much' if too_much else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
