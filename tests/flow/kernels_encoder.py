#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two encoder layers as in BERT, on target tensix: every op by the instructions of its kernel, on dozens of cores, op by op and fed by stream programs.

    kernels_encoder.py --build BUILD_DIR [--keep DIR]

The outputs are golden's bits, and all reports of times the same, whatever the number of threads. The stream programs have multicasts, gathers, forks and
DRAM, and target grid moves the same bytes over the same links. Exit code 77 without PyTorch.
"""
import argparse
import collections
import filecmp
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import torch
    from torch import nn
except ImportError as missing:
    sys.exit(print(f"skipped: {missing}") or 77)

LAYERS, ROWS, HIDDEN, HEADS, INNER, INPUTS = 2, 64, 128, 2, 256, 2


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.up, self.down = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN)
        self.norm_attention, self.norm_forward = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)

    def forward(self, x):
        def heads(t):
            return t.view(1, ROWS, HEADS, HIDDEN // HEADS).transpose(1, 2)

        scores = heads(self.q(x)) @ heads(self.k(x)).transpose(-1, -2) / (HIDDEN // HEADS) ** 0.5
        mixed = (torch.softmax(scores, -1) @ heads(self.v(x))).transpose(1, 2).reshape(1, ROWS, HIDDEN)
        x = self.norm_attention(x + self.out(mixed))
        return self.norm_forward(x + self.down(nn.functional.gelu(self.up(x))))


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(c) for c in command)}: {done.stderr[-2000:]}")


def same_files(one, two):
    names = sorted(p.relative_to(one) for p in one.rglob("*") if p.is_file())
    assert names == sorted(p.relative_to(two) for p in two.rglob("*") if p.is_file()), (names, two)
    return [n for n in names if not filecmp.cmp(one / n, two / n, shallow=False)] == []


def kinds_of_transfers(folder):
    """How many streams of each kind there are, and how many cores and queues in DRAM; of all epochs."""
    kinds = collections.Counter()
    for blob in folder.glob("model.pipes/temporal_epoch_*/overlay/blob.json"):
        epoch = json.loads(blob.read_text())
        kinds.update(stream["kind"] for core in epoch["cores"] for stream in core["streams"])
        kinds["gathered input"] += sum(len(stream.get("from", [])) > 1 for core in epoch["cores"] for stream in core["streams"])
        kinds.update({"queue": len(epoch["dram"]), "core": len(epoch["cores"])})
    return kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    tools = arguments.build / "bin"
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        torch.manual_seed(1)
        model, x = nn.Sequential(*(Layer() for _ in range(LAYERS))).eval(), torch.randn(INPUTS, ROWS, HIDDEN)
        torch.onnx.export(model, (x[:1],), str(folder / "model.onnx"), input_names=["x"], output_names=["y"], opset_version=13)
        numpy.savez(folder / "inputs.npz", x=x.numpy())
        run(tools / "buda", "compile", folder / "model.onnx", "-o", folder / "model.tti", "--device", "n150", "--kernels", "-q", "--build-dir", folder,
            "--policy", "ribbon", "--set", "policy.ribbon.rows=2")
        kinds = kinds_of_transfers(folder)
        print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
        assert kinds["core"] >= 16 and all(kinds[kind] > 0 for kind in ("multicast", "gathered input", "fork", "queue")), kinds

        image = [tools / "runner", folder / "model.tti", "--inputs", folder / "inputs.npz", "-q"]
        run(*image, "--target", "golden", "--set", "target.golden.mode=bits", "-o", folder / "bits.npz")
        run(*image, "--target", "grid", "-o", folder / "grid.npz", "--perf", folder / "grid")
        for threads in (1, 2, 8):
            own = [*image, "--target", "tensix", "--threads", threads]
            run(*own, "-o", folder / "ops.npz")
            run(*own, "--set", "target.tensix.streams=true", "-o", folder / "streams.npz", "--perf", folder / f"times.{threads}", "--perf-level", 3)
            for made in ("ops.npz", "streams.npz"):
                assert filecmp.cmp(folder / "bits.npz", folder / made, shallow=False), f"{made} with {threads} threads differs from golden's bits"
            assert same_files(folder / "times.1", folder / f"times.{threads}"), f"reports differ with {threads} threads"
        moved = [[(e["tiles"], sorted((l["resource"], l["bytes"]) for l in e["loads"])) for e in json.loads((folder / name / "summary.json").read_text())["epochs"]]
                 for name in ("times.1", "grid")]
        assert moved[0] == moved[1], "grid has other transfers"
        print(f"{sum(tiles for tiles, _ in moved[0])} tiles over {sum(len(loads) for _, loads in moved[0])} links and memories, as on grid")


if __name__ == "__main__":
    main()
