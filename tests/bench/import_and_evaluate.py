#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What importing and evaluating a model costs, next to reading its file and to PyTorch.

    import_and_evaluate.py --build BUILD_DIR MODEL.onnx...

Importing is a process of its own and set against `cat MODEL MODEL`; its peak of resident memory against the bytes of the file. Where
NAME.inputs.npz lies beside NAME.onnx, the graph is evaluated by a runner process on one thread, start and reading of weights included; where
NAME.pt (TorchScript) lies there too and PyTorch is installed for this interpreter, that is set against PyTorch's forward pass on one thread.
Every time is the least of several.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def run(command, folder):
    """Seconds, and the peak of resident memory in bytes."""
    start = time.perf_counter()
    child = subprocess.Popen([str(c) for c in command], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {status}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def torch_seconds(script, inputs, times):
    try:
        import numpy
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    module = torch.jit.load(str(script)).eval()
    arrays = numpy.load(inputs)
    given = [torch.from_numpy(arrays[name]) for name in arrays.files]
    least = float("inf")
    with torch.no_grad():
        for _ in range(times + 2):  # the first two specialise and allocate
            start = time.perf_counter()
            module(*given)
            least = min(least, time.perf_counter() - start)
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    tools = args.build.resolve() / "bin"
    for model in args.models:
        model = model.resolve()
        size = model.stat().st_size
        with tempfile.TemporaryDirectory(prefix="buda-bench-") as folder:
            reads, imports = [], []
            for _ in range(args.times):
                reads.append(run(["cat", model, model], folder)[0])
                imports.append(run([tools / "importer", model, "-o", "m.graph.json"], folder))
            twice, seconds, peak = min(reads), min(t for t, _ in imports), max(m for _, m in imports)
            print(f"{model.name}: {size / 1e6:.0f} MB; read twice {twice:.3f} s; import {seconds:.3f} s, ratio {seconds / twice:.2f}; "
                  f"peak memory {peak / 1e6:.0f} MB, ratio {peak / size:.2f}")
            inputs = model.with_suffix(".inputs.npz")
            if not inputs.exists():
                continue
            command = [tools / "runner", "m.graph.json", "--target", "cpu", "--threads", "1", "--inputs", inputs, "-o", "y.npz", "-q"]
            ours = min(run(command, folder)[0] for _ in range(args.times))
            theirs = torch_seconds(model.with_suffix(".pt"), inputs, args.times) if model.with_suffix(".pt").exists() else None
            versus = f", PyTorch's forward pass {theirs:.3f} s, ratio {ours / theirs:.2f}" if theirs else ""
            print(f"{model.name}: evaluate {ours:.3f} s{versus}")


if __name__ == "__main__":
    main()
