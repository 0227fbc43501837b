#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Losses, optimizers, clipping and schedules of a small perceptron on target cpu, 20 steps each: as PyTorch's, and LAMB and LARS as their formulas.

    train_rules.py BUILD_DIR
"""
import copy
import math
import pathlib
import sys
import tempfile

try:
    import numpy
    import torch
    from torch import nn
    from torch.nn import functional
    from training_models import export
except ImportError:
    print("without PyTorch")
    sys.exit(77)

from training_tools import Tools, order

ROWS, BATCH, STEPS = 24, 8, 20


class Lamb(torch.optim.Optimizer):
    """You et al., Large Batch Optimization for Deep Learning, algorithm 2."""

    def __init__(self, parameters, lr, decay, correction):
        super().__init__(parameters, {"lr": lr})
        self.decay, self.correction, self.t = decay, correction, 0

    def step(self):
        self.t += 1
        for group in self.param_groups:
            for p in group["params"]:
                s, g = self.state[p], p.grad.double()
                s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
                s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
                by = (1 - 0.9**self.t, 1 - 0.999**self.t) if self.correction else (1, 1)
                r = s["m"] / by[0] / ((s["v"] / by[1]).sqrt() + 1e-6) + self.decay * p.data.double()
                norms = p.data.double().norm(), r.norm()
                ratio = (norms[0] / norms[1]).clamp(0, 10) if min(norms) > 0 else 1
                p.data -= (group["lr"] * ratio * r).to(p.dtype)


class Lars(torch.optim.Optimizer):
    """You et al., Large Batch Training of Convolutional Networks, algorithm 1."""

    def __init__(self, parameters, lr, decay, momentum):
        super().__init__(parameters, {"lr": lr})
        self.decay, self.momentum = decay, momentum

    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                s, g, w = self.state[p], p.grad.double(), p.data.double()
                local = 0.02 * w.norm() / (g.norm() + self.decay * w.norm() + 1e-8) if min(w.norm(), g.norm()) > 0 else 1
                s["u"] = self.momentum * s.get("u", 0) + group["lr"] * local * (g + self.decay * w)
                p.data -= s["u"].to(p.dtype)


class Squeezed(nn.Module):
    def forward(self, x):
        return 0.9 * torch.sigmoid(x) + 0.05


SGD = lambda p: torch.optim.SGD(p, lr=0.1)
OPTIMIZERS = {
    "sgd:lr=0.1": SGD,
    "sgd:lr=0.1,momentum=0.9": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "sgd:lr=0.1,momentum=0.9,nesterov=1,decay=0.01": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "adam:lr=0.01": lambda p: torch.optim.Adam(p, lr=0.01),
    "adam:lr=0.01,beta1=0.8,beta2=0.99,epsilon=1e-6,decay=0.05": lambda p: torch.optim.Adam(p, lr=0.01, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.05),
    "adamw:lr=0.01,decay=0.1": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1),
    "adagrad:lr=0.05": lambda p: torch.optim.Adagrad(p, lr=0.05),
    "adagrad:lr=0.05,lr_decay=0.1,initial=0.2,decay=0.01": lambda p: torch.optim.Adagrad(p, lr=0.05, lr_decay=0.1, initial_accumulator_value=0.2, weight_decay=0.01),
    "rmsprop:lr=0.01": lambda p: torch.optim.RMSprop(p, lr=0.01),
    "rmsprop:lr=0.005,alpha=0.9,momentum=0.5,decay=0.01": lambda p: torch.optim.RMSprop(p, lr=0.005, alpha=0.9, momentum=0.5, weight_decay=0.01),
    "rmsprop:lr=0.01,centered=1,epsilon=1e-4": lambda p: torch.optim.RMSprop(p, lr=0.01, centered=True, eps=1e-4),
    "lamb:lr=0.02": lambda p: Lamb(p, 0.02, 0, False),
    "lamb:lr=0.02,decay=0.1,correction=1": lambda p: Lamb(p, 0.02, 0.1, True),
    "lars:lr=0.5": lambda p: Lars(p, 0.5, 0, 0),
    "lars:lr=0.5,decay=0.1,momentum=0.9": lambda p: Lars(p, 0.5, 0.1, 0.9),
}

REAL, CLASSES, PARTS, SHARES = "real", "classes", "parts", "shares"  # what targets are
LOSSES = {
    "mse": (REAL, nn.Identity(), functional.mse_loss),
    "l1": (REAL, nn.Identity(), functional.l1_loss),
    "smooth_l1": (REAL, nn.Identity(), functional.smooth_l1_loss),
    "smooth_l1:beta=0.3": (REAL, nn.Identity(), lambda p, t: functional.smooth_l1_loss(p, t, beta=0.3)),
    "huber:delta=0.7": (REAL, nn.Identity(), lambda p, t: functional.huber_loss(p, t, delta=0.7)),
    "cross_entropy": (CLASSES, nn.Identity(), functional.cross_entropy),
    "cross_entropy:label_smoothing=0.2": (CLASSES, nn.Identity(), lambda p, t: functional.cross_entropy(p, t, label_smoothing=0.2)),
    # From the logits, which is what PyTorch's loss takes.
    "cross_entropy of a softmax": (CLASSES, nn.Softmax(-1), lambda p, t: functional.nll_loss(p.log(), t)),
    "nll": (CLASSES, nn.LogSoftmax(-1), functional.nll_loss),
    "bce": (PARTS, nn.Sigmoid(), functional.binary_cross_entropy),
    # Not from logits: the last op is no sigmoid.
    "bce of a part": (PARTS, Squeezed(), functional.binary_cross_entropy),
    "bce_with_logits": (PARTS, nn.Identity(), functional.binary_cross_entropy_with_logits),
    "bce_with_logits:pos_weight=3": (PARTS, nn.Identity(), lambda p, t: functional.binary_cross_entropy_with_logits(p, t, pos_weight=torch.tensor(3.0))),
    "kl_div": (SHARES, nn.LogSoftmax(-1), functional.kl_div),
    "kl_div:batchmean=1": (SHARES, nn.LogSoftmax(-1), lambda p, t: functional.kl_div(p, t, reduction="batchmean")),
}

SCHEDULES = {
    "constant:warmup=5": lambda t: min((t + 1) / 6, 1),
    "linear:to=0.2": lambda o: torch.optim.lr_scheduler.LinearLR(o, 1, 0.2, STEPS - 1),
    "cosine:to=0.1": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, STEPS - 1, 0.01),
    "polynomial:power=2": lambda t: (1 - t / (STEPS - 1))**2,
    "step:every=4,factor=0.5": lambda o: torch.optim.lr_scheduler.StepLR(o, 4, 0.5),
    "exponential:factor=0.9": lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.9),
}


def targets_of(kind, generator):
    if kind == CLASSES:
        classes = torch.randint(0, 5, (ROWS,), generator=generator)
        classes[::5] = -100  # counts for nothing
        return classes
    drawn = torch.randn(ROWS, 5, generator=generator)
    if kind == PARTS:
        return (drawn > 0.3).float() * 0.9
    if kind == SHARES:
        shares = torch.softmax(2 * drawn, -1)
        shares[::3, 2] = 0
        return shares
    return drawn


class Bench:
    def __init__(self, build, folder):
        self.tools = Tools(build, folder)
        self.generator = torch.Generator().manual_seed(3)
        self.data = torch.randn(ROWS, 7, generator=self.generator)
        self.worst = 0

    def model(self, end):
        torch.manual_seed(4)
        return nn.Sequential(nn.Linear(7, 9), nn.Tanh(), nn.Linear(9, 5), end)

    def prepare(self, kind, end):
        self.targets = targets_of(kind, self.generator)
        self.net = self.model(end)
        export(self.net, {"data": self.data[:BATCH]}, self.tools.folder / "net.onnx")
        numpy.savez(self.tools.folder / "data.npz", data=self.data.numpy())
        numpy.savez(self.tools.folder / "targets.npz", target=self.targets.numpy())
        self.tools.run("importer", "net.onnx")

    def ours(self, loss, optimizer, *options, schedule="constant"):
        self.tools.run("autograd", "net.graph.json", "--loss", loss.split(" ")[0], "--optimizer", optimizer, *options)
        self.tools.run("trainer", "net.train.graph.json", "--threads", "1", "--inputs", "data.npz", "--targets", "targets.npz", "--steps", STEPS, "--schedule",
                       schedule, "--log", "log.jsonl")
        return self.tools.losses("log.jsonl")

    def expected(self, loss, make, clip=lambda p: None, schedule=None):
        model, out = copy.deepcopy(self.net), []
        rule = make(model.parameters())
        if schedule is not None:
            is_factor = schedule.__code__.co_varnames[0] == "t"
            schedule = torch.optim.lr_scheduler.LambdaLR(rule, schedule) if is_factor else schedule(rule)
        for t in range(STEPS):
            rows = order(ROWS, 1, t // (ROWS // BATCH))[t % (ROWS // BATCH) * BATCH:][:BATCH]
            value = loss(model(self.data[rows]), self.targets[rows])
            rule.zero_grad()
            value.backward()
            clip(list(model.parameters()))
            rule.step()
            if schedule is not None:
                schedule.step()
            out.append(value.item())
        return out

    def judge(self, name, ours, expected):
        off = max(abs(a - b) / max(1, abs(b)) for a, b in zip(ours, expected))
        self.worst = max(self.worst, off)
        assert len(ours) == STEPS and off < 1e-4, f"{name}: {ours}, expected {expected}"
        assert abs(expected[-1] - expected[0]) > 1e-4, f"{name} learns nothing"


def main():
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(sys.argv[1], place)
        for name, (kind, end, loss) in LOSSES.items():
            bench.prepare(kind, end)
            bench.judge(name, bench.ours(name, "sgd:lr=0.1"), bench.expected(loss, SGD))
        bench.prepare(CLASSES, nn.Identity())
        for name, make in OPTIMIZERS.items():
            bench.judge(name, bench.ours("cross_entropy", name), bench.expected(functional.cross_entropy, make))
        clips = {("--clip-norm", "0.3"): lambda p: nn.utils.clip_grad_norm_(p, 0.3), ("--clip-norm", "100"): lambda p: None,
                 ("--clip-value", "0.02"): lambda p: nn.utils.clip_grad_value_(p, 0.02)}
        for options, clip in clips.items():
            bench.judge(options, bench.ours("cross_entropy", "sgd:lr=0.1", *options), bench.expected(functional.cross_entropy, SGD, clip))
        for name, schedule in SCHEDULES.items():
            bench.judge(name, bench.ours("cross_entropy", "sgd:lr=0.1", schedule=name), bench.expected(functional.cross_entropy, SGD, schedule=schedule))
    print(f"{len(LOSSES)} losses, {len(OPTIMIZERS)} optimizers, {len(clips)} ways to clip, {len(SCHEDULES)} schedules: 20 steps are off by at most {bench.worst:.1e}")


if __name__ == "__main__":
    sys.exit(main())
