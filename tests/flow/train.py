#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training as users do it: the tutorial word for word; PyTorch's losses on target cpu; an interrupted run.

    train.py BUILD_DIR SOURCE_DIR

The comparison with PyTorch is left out where that is missing.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from training_tools import order, safetensors


def run(command, folder, tools):
    env = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}")
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"failed: {command}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def tutorial(page, digits, folder, tools):
    """The commands of the page, with the examples of the source tree."""
    told = ""
    for line in page.read_text().splitlines():
        if line.startswith("    ") and not line.startswith("    examples="):
            told += run(f"examples={digits}; {line.strip()}", folder, tools)
    last = re.search(r"epoch 20: step 440, .*accuracy ([\d.]+) %", told)
    assert last, told
    assert float(last[1]) >= 97, last[0]


def interrupted(digits, folder, tools):
    """22 steps, and 9 and the rest after it, with a batch order of their own in the second epoch."""
    data = f"--inputs {digits}/digits.train.images.npz --targets {digits}/digits.train.labels.npz --seed 5"
    run(f"trainer step/digits.train.tti {data} --steps 26 -o whole.safetensors --log whole.jsonl", folder, tools)
    run(f"trainer step/digits.train.tti {data} --steps 9 -o part.safetensors", folder, tools)
    run(f"trainer step/digits.train.tti {data} --steps 26 --resume part.safetensors -o resumed.safetensors --log rest.jsonl", folder, tools)
    assert (folder / "whole.safetensors").read_bytes() == (folder / "resumed.safetensors").read_bytes(), "a resumed run ends with other bits"
    whole, rest = ((folder / name).read_text().splitlines() for name in ("whole.jsonl", "rest.jsonl"))
    assert whole[9:] == rest, "a resumed run has other losses"


def next_to_pytorch(digits, folder, tools):
    try:
        import numpy
        import torch
    except ImportError:
        print("without PyTorch")
        return
    steps = 44
    for optimizer, make in {"sgd:lr=0.1,momentum=0.9": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
                            "adam:lr=0.002": lambda p: torch.optim.Adam(p, lr=0.002)}.items():
        run(f"importer {digits}/digits.onnx && autograd digits.graph.json --initialize --optimizer {optimizer} -o cpu.train.graph.json && "
            f"trainer cpu.train.graph.json --threads 1 --inputs {digits}/digits.train.images.npz --targets {digits}/digits.train.labels.npz "
            f"--steps {steps} --log cpu.jsonl", folder, tools)
        ours = [json.loads(line)["loss"] for line in (folder / "cpu.jsonl").read_text().splitlines()]
        first = safetensors(folder / "cpu.train.graph.safetensors")
        names = [f"{layer}.{kind}" for layer in ("hidden1", "hidden2", "logits") for kind in ("weight", "bias")]
        p = [torch.tensor(first[name].copy(), requires_grad=True) for name in names]
        images = torch.from_numpy(numpy.load(digits / "digits.train.images.npz")["image"])
        labels = torch.from_numpy(numpy.load(digits / "digits.train.labels.npz")["label"])
        rule = make(p)
        for t in range(steps):
            rows = order(1437, 1, t // 22)[t % 22 * 64:][:64]
            x = torch.relu(images[rows] @ p[0].t() + p[1])
            x = torch.relu(x @ p[2].t() + p[3])
            loss = torch.nn.functional.cross_entropy(x @ p[4].t() + p[5], labels[rows])
            rule.zero_grad()
            loss.backward()
            rule.step()
            assert abs(ours[t] - loss.item()) < 1e-5, f"{optimizer}: step {t + 1}: {ours[t]} and PyTorch's {loss.item()}"


def main():
    build, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    digits, tools = source / "share/examples/digits", build / "bin"
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        tutorial(source / "docs/tutorial/training.md", digits, folder, tools)
        interrupted(digits, folder, tools)
        next_to_pytorch(digits, folder, tools)
    print("a perceptron learns, goes on after an interruption, and follows PyTorch")


if __name__ == "__main__":
    sys.exit(main())
