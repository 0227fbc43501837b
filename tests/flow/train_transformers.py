#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A BERT of 2 x 128 and a GPT of 2 x 64 learn as in PyTorch: on target cpu within 1e-5, in default formats on golden.

    train_transformers.py BUILD_DIR [--steps N] [--golden N]

Data are sequences of a fixed chain of bigrams, of which BERT fills in masked places and GPT tells the next ones.
"""
import argparse
import pathlib
import sys
import tempfile

try:
    import numpy
    import torch
    from training_models import Bert, Gpt, export
except ImportError:
    print("without PyTorch")
    sys.exit(77)

from training_tools import Tools, order

VOCABULARY, LENGTH, ROWS, BATCH = 64, 16, 256, 8
MASKED, IGNORED = 1, -100


def sequences(rng):
    """Each word has three successors, of which the first is the most likely."""
    after = rng.integers(2, VOCABULARY, (VOCABULARY, 3))
    out = numpy.empty((ROWS, LENGTH + 1), numpy.int64)
    out[:, 0] = rng.integers(2, VOCABULARY, ROWS)
    for i in range(LENGTH):
        out[:, i + 1] = after[out[:, i], rng.choice(3, ROWS, p=[0.8, 0.15, 0.05])]
    return out


def bert_data(rng):
    words = sequences(rng)[:, :LENGTH]
    ends = rng.integers(LENGTH // 2, LENGTH + 1, ROWS)
    mask = (numpy.arange(LENGTH)[None, :] < ends[:, None]).astype(numpy.float32)
    hidden = rng.random((ROWS, LENGTH)) < 0.3
    return {"ids": numpy.where(hidden, MASKED, words), "types": (numpy.arange(LENGTH)[None, :] >= ends[:, None] // 2).astype(numpy.int64), "mask": mask}, numpy.where(hidden, words, IGNORED)


def gpt_data(rng):
    words = sequences(rng)
    return {"ids": numpy.ascontiguousarray(words[:, :-1])}, numpy.ascontiguousarray(words[:, 1:])


def torch_losses(model, make, inputs, targets, steps):
    rule, out, per_epoch = make(model.parameters()), [], ROWS // BATCH
    for t in range(steps):
        rows = order(ROWS, 1, t // per_epoch)[t % per_epoch * BATCH:][:BATCH]
        prediction = model(*(torch.from_numpy(x[rows]) for x in inputs.values()))
        loss = torch.nn.functional.cross_entropy(prediction.reshape(-1, VOCABULARY), torch.from_numpy(targets[rows]).reshape(-1))
        rule.zero_grad()
        loss.backward()
        rule.step()
        out.append(loss.item())
    return out


def follow(name, model, data, optimizer, make, steps, golden, build):
    rng = numpy.random.default_rng(5)
    inputs, targets = data(rng)
    with tempfile.TemporaryDirectory() as place:
        tools = Tools(build, place)
        export(model, {n: torch.from_numpy(x[:BATCH]) for n, x in inputs.items()}, pathlib.Path(place) / f"{name}.onnx")
        numpy.savez(f"{place}/inputs.npz", **inputs)
        numpy.savez(f"{place}/targets.npz", target=targets)
        expected = torch_losses(model, make, inputs, targets, max(steps, golden))
        data_options = ["--inputs", "inputs.npz", "--targets", "targets.npz"]
        tools.run("importer", f"{name}.onnx")
        print(name, tools.run("autograd", f"{name}.graph.json", "--optimizer", optimizer).strip())
        tools.run("trainer", f"{name}.train.graph.json", "--threads", "1", *data_options, "--steps", steps, "--log", "cpu.jsonl")
        ours = tools.losses("cpu.jsonl")
        worst = max(abs(a - b) for a, b in zip(ours, expected))
        print(f"{name}: {steps} steps, loss {expected[0]:.4f} to {expected[steps - 1]:.4f}, cpu off by at most {worst:.2e}")
        assert len(ours) == steps and worst < 1e-5, (ours, expected)
        if golden == 0:
            return
        tools.run("buda", "compile", f"{name}.train.graph.json", "-o", "step.tti")
        tools.run("trainer", "step.tti", *data_options, "--steps", golden, "--log", "golden.jsonl")
        ours, last = tools.losses("golden.jsonl"), max(golden // 4, 1)
        mean, wanted = sum(ours[-last:]) / last, sum(expected[golden - last:golden]) / last
        print(f"{name}: golden, {golden} steps: mean of the last {last} losses {mean:.4f}, PyTorch {wanted:.4f} ({100 * (mean / wanted - 1):+.2f} %)")
        assert abs(mean / wanted - 1) < 0.03, (ours, expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--golden", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(3)
    follow("bert", Bert(), bert_data, "adam:lr=0.0005", lambda p: torch.optim.Adam(p, lr=0.0005), options.steps, options.golden, options.build)
    follow("gpt", Gpt(), gpt_data, "adamw:lr=0.001,decay=0.01", lambda p: torch.optim.AdamW(p, lr=0.001, weight_decay=0.01), options.steps,
           options.golden, options.build)


if __name__ == "__main__":
    sys.exit(main())
