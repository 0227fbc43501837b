#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random architectures learn on target cpu as in PyTorch.

    train_random.py BUILD_DIR [--seeds A:B | --count N] [--steps N] [--golden N] [--keep DIR]

Without --seeds they are drawn anew and printed. Of each: gradients of the first step within 1e-4 of their norm; each loss within 1e-3 of PyTorch's, or within
twice the difference between PyTorch in float32 and float64 at that step. --golden N: so many steps compiled for n150, in golden's mode fp32, within the same.
"""
import argparse
import copy
import math
import pathlib
import secrets
import sys
import tempfile

try:
    import numpy
    import torch
    from random_models import BATCH, CLASSES, ROWS, model_of, optimizer_of
    from training_models import export
except ImportError:
    print("without PyTorch")
    sys.exit(77)

from training_tools import Tools, order, safetensors

RATE = 64.0  # of the step that tells gradients


def loss_of(prediction, targets, classes):
    return torch.nn.functional.cross_entropy(prediction, targets) if classes else torch.nn.functional.mse_loss(prediction, targets)


def batches(data, targets, steps):
    per_epoch = ROWS // BATCH
    for t in range(steps):
        rows = order(ROWS, 1, t // per_epoch)[t % per_epoch * BATCH:][:BATCH]
        yield data[rows], targets[rows]


def torch_losses(model, make, data, targets, classes, steps, wide):
    """Of a copy, with gradients of the first step by name."""
    model = copy.deepcopy(model)
    if wide:
        model, data, targets = model.double(), data.double() if data.is_floating_point() else data, targets if classes else targets.double()
    rule, out, first = make(model.parameters()), [], {}
    for x, y in batches(data, targets, steps):
        loss = loss_of(model(x), y, classes)
        rule.zero_grad()
        loss.backward()
        first = first or {name: p.grad.double().numpy() for name, p in model.named_parameters() if p.grad is not None}
        rule.step()
        out.append(loss.item())
    return out, first


def gradients(tools, model, loss):
    """From a step of a large rate: the parameter before it, less what is there after."""
    tools.run("autograd", "model.graph.json", "--loss", loss, "--optimizer", f"sgd:lr={RATE}", "-o", "gradient.train.graph.json")
    tools.run("trainer", "gradient.train.graph.json", "--threads", "1", "--inputs", "data.npz", "--targets", "targets.npz", "--steps", "1", "-o",
              "gradient.safetensors")
    before, after = {name: p.detach().double().numpy() for name, p in model.named_parameters()}, safetensors(tools.folder / "gradient.safetensors")
    state = lambda name: after[f"#state/{name}"].astype(numpy.float64)
    return {name: (before[name] - state(name) - state(f"{name}.low")) / RATE for name in after if not name.startswith("#")}


def compiled_losses(tools, steps):
    """Of the step as the device runs it; none where it does not fit the device."""
    try:
        tools.run("buda", "compile", "model.train.graph.json", "--device", "n150", "-o", "step.tti", "-q")
    except RuntimeError as error:
        print(error)
        return None
    tools.run("trainer", "step.tti", "--threads", "1", "--inputs", "data.npz", "--targets", "targets.npz", "--steps", steps, "--set", "target.golden.mode=fp32",
              "--log", "golden.jsonl")
    return tools.losses("golden.jsonl")


def judge(seed, build, steps, golden, keep):
    model, data, targets, classes = model_of(seed)
    text, make = optimizer_of(seed)
    expected, first = torch_losses(model, make, data, targets, classes, steps, False)
    exact, _ = torch_losses(model, make, data, targets, classes, steps, True)
    with tempfile.TemporaryDirectory() as place:
        tools = Tools(build, keep or place)
        tools.folder.mkdir(exist_ok=True)
        export(model, {"data": data[:BATCH]}, tools.folder / "model.onnx")
        numpy.savez(tools.folder / "data.npz", data=data.numpy())
        numpy.savez(tools.folder / "targets.npz", target=targets.numpy())
        tools.run("importer", "model.onnx")
        loss = "cross_entropy" if classes else "mse"
        ours = gradients(tools, model, loss)
        names = sorted(set(ours) & set(first))
        missing = [name for name in first if name not in ours and abs(first[name]).max() > 0]
        distance = sum(((ours[name] - first[name]) ** 2).sum() for name in names) ** 0.5 / max(sum((first[name] ** 2).sum() for name in names) ** 0.5, 1e-30)
        tools.run("autograd", "model.graph.json", "--loss", loss, "--optimizer", text)
        # Where PyTorch's loss is not finite, training ends, with what was written before.
        finite = next((t for t, loss in enumerate(expected) if not math.isfinite(loss)), steps)
        try:
            tools.run("trainer", "model.train.graph.json", "--threads", "1", "--inputs", "data.npz", "--targets", "targets.npz", "--steps", steps, "--log",
                      "log.jsonl")
        except RuntimeError as error:
            if finite == steps or "[TR005]" not in str(error):
                raise
        got = tools.losses("log.jsonl")
        on_device = compiled_losses(tools, min(golden, finite)) if min(golden, finite) > 0 else []
    limits = [max(1e-3, 2 * abs(a - b)) for a, b in zip(expected, exact)]
    off = [abs(a - b) / limit for a, b, limit in zip(got, expected, limits)]
    off_device = [abs(a - b) / limit for a, b, limit in zip(on_device or [], expected, limits)]
    kinds = sorted({type(m).__name__ for m in model.modules()} - {"Sequential", "Function"})
    good = not missing and names and distance < 1e-4 and len(got) == finite and max(off) <= 1
    good = good and on_device is not None and len(on_device) == min(golden, finite) and max(off_device, default=0) <= 1
    device = f", compiled {max(abs(a - b) for a, b in zip(on_device, expected)):.1e}" if on_device else ""
    print(f"seed {seed}: {text}, {loss}, {len(names)} gradients off by {distance:.1e}, loss {expected[0]:.4f} to {expected[finite - 1]:.4f} at step {finite}, off by at most "
          f"{max(abs(a - b) for a, b in zip(got, expected)):.1e}{device}{'' if good else f' FAILS {missing}'}; {', '.join(kinds)}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seeds")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--golden", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.seeds:
        first, last = (int(n) for n in options.seeds.split(":"))
        seeds = range(first, last)
    else:
        seeds = [secrets.randbelow(1_000_000) for _ in range(options.count)]
    failed = []
    for seed in seeds:
        try:
            good = judge(seed, options.build, options.steps, options.golden, options.keep)
        except (RuntimeError, torch.onnx.errors.OnnxExporterError) as error:
            print(f"seed {seed}: {error}")
            good = False
        if not good:
            failed.append(seed)
    print(f"{len(seeds)} architectures, {len(failed)} fail {failed or ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
