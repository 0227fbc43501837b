# SPDX-License-Identifier: Apache-2.0
"""What tests of training need to run the tools and to repeat in PyTorch what they do."""
import json
import os
import pathlib
import struct
import subprocess

MASK = (1 << 64) - 1


def order(rows, seed, epoch):
    """The order of samples as the trainer draws it."""
    state = (seed * 0x9E3779B97F4A7C15 + epoch) & MASK
    out = list(range(rows))
    for i in range(rows, 1, -1):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        j = ((z ^ (z >> 31)) * i) >> 64
        out[i - 1], out[j] = out[j], out[i - 1]
    return out


def safetensors(path):
    """Tensors of F32 by name."""
    import numpy
    raw = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    return {name: numpy.frombuffer(raw[8 + size + e["data_offsets"][0]:8 + size + e["data_offsets"][1]], "<f4").reshape(e["shape"])
            for name, e in json.loads(raw[8:8 + size]).items() if name != "__metadata__" and e["dtype"] == "F32"}


def raw_tensors(path):
    """Bytes of tensors by name, but for the numbers of a run, in which steps of two forms differ."""
    raw = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    return {name: raw[8 + size + e["data_offsets"][0]:8 + size + e["data_offsets"][1]] for name, e in json.loads(raw[8:8 + size]).items()
            if name not in ("__metadata__", "#training")}


class Tools:
    """Commands of a build in a folder."""

    def __init__(self, build, folder):
        self.bin, self.folder = pathlib.Path(build).resolve() / "bin", pathlib.Path(folder)

    def run(self, *command):
        env = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}")
        done = subprocess.run([str(c) for c in command], cwd=self.folder, env=env, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"failed: {' '.join(str(c) for c in command)}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def losses(self, name):
        lines = (self.folder / name).read_text().splitlines()
        return [json.loads(line)["loss"] for line in lines if '"loss"' in line]


def dropout_mask(name, seed, step, shape, ratio):
    """As the trainer draws it: a generator for each row, whose seed is a hash of name, seed, step and row."""
    import numpy
    out = numpy.zeros(shape, "f4")
    for row in range(shape[0]):
        state = 0xCBF29CE484222325
        for byte in f"{name} {seed} {step} {row}".encode():
            state = (state ^ byte) * 0x100000001B3 & MASK
        drawn = []
        for _ in range(out[row].size):
            state = (state + 0x9E3779B97F4A7C15) & MASK
            z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            drawn.append(((z ^ (z >> 31)) >> 11) * 2.0**-53)
        out[row] = ((numpy.array(drawn) >= ratio) / (1 - ratio)).reshape(out[row].shape)
    return out
