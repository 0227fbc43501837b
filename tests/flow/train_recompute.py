#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the backward phase computes again instead of keeping it changes no loss: the same bits under every `--recompute`.

    train_recompute.py BUILD_DIR SOURCE_DIR [--long]

A perceptron, and with --long a convolutional network and, where PyTorch is there, a BERT of one layer, all in golden's mode `bits`.
"""
import argparse
import pathlib
import sys
import tempfile

from training_tools import Tools

POLICIES = ("none", "auto", "full")


def losses_of(tools, name, step, policy, data, steps):
    """The losses of a training run, and the bytes that its plan keeps for the backward phase."""
    tools.run("buda", "compile", step, "--recompute", policy, "--build-dir", f"{name}.{policy}", "-o", f"{name}.{policy}.tti")
    tools.run("trainer", f"{name}.{policy}.tti", *data, "--steps", steps, "--set", "target.golden.mode=bits", "--log", f"{name}.{policy}.jsonl",
              "-o", f"{name}.{policy}.safetensors")
    graph = next((tools.folder / f"{name}.{policy}").glob("*.device.graph.json")).read_text()
    return tools.losses(f"{name}.{policy}.jsonl"), graph.count('"recomputed"')


def compare(tools, name, step, data, steps):
    first, repeated = None, {}
    for policy in POLICIES:
        losses, repeated[policy] = losses_of(tools, name, step, policy, data, steps)
        assert len(losses) == steps, losses
        first = first or losses
        differ = [(i + 1, a, b) for i, (a, b) in enumerate(zip(losses, first)) if a != b]
        print(f"{name}: --recompute {policy}: {repeated[policy]} ops computed again, {len(differ)} of {steps} losses differ"
              + (f", the first in step {differ[0][0]}: {differ[0][1]} and {differ[0][2]}" if differ else ""))
        assert not differ, f"{name}: --recompute {policy} changes losses: {differ[:3]}"
    assert repeated["none"] == 0 and repeated["full"] > 0, repeated


def digits(tools, source, model, steps):
    examples = pathlib.Path(source).resolve() / "share/examples/digits"
    tools.run("importer", examples / f"{model}.onnx")
    tools.run("autograd", f"{model}.graph.json", "--initialize", "--form", "programs", "--optimizer", "sgd:lr=0.1,momentum=0.9")
    data = ("--inputs", examples / "digits.train.images.npz", "--targets", examples / "digits.train.labels.npz")
    if model != "digits":
        data = convolution_data(tools, examples)
    compare(tools, model, f"{model}.train.graph.json", data, steps)


def convolution_data(tools, examples):
    import numpy
    images = numpy.load(examples / "digits.train.images.npz")["image"]
    numpy.savez(tools.folder / "images.npz", image=images.reshape(-1, 1, 8, 8))
    return ("--inputs", tools.folder / "images.npz", "--targets", examples / "digits.train.labels.npz")


def bert(tools, steps):
    import numpy
    import torch
    from train_transformers import BATCH, bert_data
    from training_models import Bert, export
    torch.manual_seed(3)
    inputs, targets = bert_data(numpy.random.default_rng(5))
    export(Bert(layers=1), {name: torch.from_numpy(x[:BATCH]) for name, x in inputs.items()}, tools.folder / "bert.onnx")
    numpy.savez(tools.folder / "inputs.npz", **inputs)
    numpy.savez(tools.folder / "targets.npz", target=targets)
    tools.run("importer", "bert.onnx")
    tools.run("autograd", "bert.graph.json", "--form", "programs", "--optimizer", "adam:lr=0.0005")
    compare(tools, "bert", "bert.train.graph.json", ("--inputs", "inputs.npz", "--targets", "targets.npz"), steps)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("source")
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        tools = Tools(options.build, place)
        digits(tools, options.source, "digits", 24)
        if not options.long:
            return
        try:
            import numpy  # noqa: F401
        except ImportError:
            print("without numpy")
            return
        digits(tools, options.source, "digits-conv", 24)
        try:
            import torch  # noqa: F401
        except ImportError:
            print("without PyTorch")
            return
        bert(tools, 24)


if __name__ == "__main__":
    sys.exit(main())
