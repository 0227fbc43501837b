#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TorchScript archives that PyTorch writes: imported, evaluated on target cpu, and compared with PyTorch.

    torchscript.py --build BUILD_DIR [NAME ...]

Expressions of single operators are traced; small networks are traced and scripted, frozen and not. Skipped (77) without PyTorch.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)

import torchscript_definitions
import torchscript_reach

warnings.filterwarnings("ignore")
TYPES = {torch.float32: "F32", torch.int64: "I64", torch.bool: "BOOL", torch.int32: "I32", torch.float64: "F64"}


def image(*shape):
    return torch.randn(*(shape or (2, 4, 7, 9)))


x, y, pos = image(3, 4, 5), image(3, 4, 5), torch.rand(3, 4, 5) + 0.1
ints, mask = torch.randint(-5, 6, (3, 4)), torch.rand(3, 4, 5) > 0.5
index = torch.tensor([[2, 0, 1, 1]] * 3)

# Expressions, and their inputs.
EXPRESSIONS = {
    "activations": (lambda a: (F.silu(a), F.mish(a), F.gelu(a), F.gelu(a, approximate="tanh"), F.elu(a, 0.5), F.celu(a, 2.0), F.selu(a), F.hardswish(a),
                               F.hardsigmoid(a), F.softplus(a, 2, 20), F.softshrink(a), F.hardshrink(a), F.leaky_relu(a, 0.2), F.relu6(a * 5), F.logsigmoid(a),
                               F.glu(a, 1), F.hardtanh(a, -0.5, 0.5), F.threshold(a, 0.1, 3), F.tanhshrink(a), F.softsign(a)), [x]),
    "functions": (lambda a: (a.log(), a.log2(), a.log10(), a.log1p(), a.exp(), a.expm1(), a.sqrt(), a.rsqrt(), a.reciprocal(), a.erf(), a.sin(), a.cos(), a.tan(),
                             a.atan(), a.sinh(), a.cosh(), a.square(), a.sign(), a.floor(), a.ceil(), (a * 7).round(), (a * -7).trunc(), (a * 7).frac()), [pos]),
    "arithmetic": (lambda a, b: (a + b, a - 2, 3 - a, a * b, a / b, a // b, a % b, torch.fmod(a, b), a ** 2, a ** 0.5, a ** -0.5, a ** b, 2 ** a, torch.add(a, b, alpha=3),
                                 torch.rsub(a, b, alpha=2), torch.addcmul(a, a, b, value=0.5), torch.addcdiv(a, a, b, value=2), torch.lerp(a, b, 0.3),
                                 torch.div(a, b, rounding_mode="trunc"), torch.div(-a, b, rounding_mode="floor")), [pos, pos.flip(0) + 0.3]),
    "integers": (lambda a: (a / 2, a // 2, a % 3, torch.fmod(a, 3), a * 1.5, a + 1, a.float().mean(), a.sum(), a.abs().max(), (a > 0).sum(), a & 3, a | 1, ~a, -a,
                            torch.div(a, 2, rounding_mode="trunc"), a.clamp(-1, 2), a.to(torch.bool), a ** 2), [ints]),
    "comparisons": (lambda a, b, m: (a > b, a >= 0, a < b, a <= 0, a == b, a != b, m & (a > 0), m | (a > 0), m ^ (a > 0), ~m, torch.where(m, a, b), torch.where(a > 0, a, b * 2),
                                     a.masked_fill(m, -1e9), torch.logical_and(a, m), torch.logical_not(a), m.any(), m.all(), m.any(1), m.float(), torch.isnan(a),
                                     torch.maximum(a, b), torch.minimum(a, b), torch.max(a, b), a.clamp(min=0.1), a.clamp(b * 0 - 0.5, b * 0 + 0.5)), [x, y, mask]),
    "reductions": (lambda a: (a.sum(), a.sum(1), a.mean((0, 2)), a.mean(-1, keepdim=True), a.max(), a.max(1)[0], a.max(1)[1], a.min(2, keepdim=True)[0], a.amax((1, 2)), a.amin(0),
                              a.prod(1), a.var(1), a.var(dim=(1, 2), unbiased=False), a.std(1), a.std(), a.argmax(1), a.argmin(), a.norm(), a.norm(dim=1), a.norm(1, 2),
                              a.logsumexp(1), a.cumsum(1), torch.var_mean(a, 1)[0], torch.std_mean(a, 1)[1], a.topk(2, 1)[0], a.topk(2, -1)[1], a.sort(1)[0], a.argsort(1, descending=True),
                              torch.linalg.vector_norm(a, dim=-1), F.normalize(a, dim=1)), [x]),
    "stacks": (lambda a, b: (torch.hstack([a, b]), torch.vstack([a, b]), torch.dstack([a, b]), torch.column_stack([a, b]), torch.hstack([a[0, 0], b[0, 0]]), torch.vstack([a[0, 0], b[0, 0]]),
                             torch.dstack([a[0, 0], b[0, 0]]), torch.dstack([a[0], b[0]]), torch.column_stack([a[0, 0], b[0, 0], b[0, 1]]), torch.concatenate([a, b], -1)), [x, y]),
    "diagonals": (lambda a, i: (a.diagonal(), a.diagonal(1, 1, 2), a.diagonal(-2, -1, 0), torch.linalg.diagonal(a), torch.diag(a[0]), torch.diag(a[0], -1), torch.diag(a[0, 0]),
                                torch.diag(a[0, 0], 2), torch.diag(a[0, 0], -1), torch.diag_embed(a), torch.diag_embed(a[0], -2), torch.diag_embed(a[0], 1), a[0].trace(), a[1, :2].trace(), i.trace(),
                                torch.rot90(a), torch.rot90(a, 2, (1, 2)), torch.rot90(a, 3, (0, 2)), torch.rot90(a, -1, (2, 1)), torch.rot90(a, 4)), [x, ints]),
    "products": (lambda a, i: (a.cumprod(0), a.cumprod(1), a.cumprod(-1), i.cumprod(1), a.cumprod(2, dtype=torch.float32), (a > 0).count_nonzero(), a.round().count_nonzero(1), i.count_nonzero((0, 1)),
                               i << 2, i >> 1, i << i.abs(), torch.bitwise_right_shift(i, 1), torch.bitwise_left_shift(i, 3)), [x, ints]),
    "quantiles": (lambda a: (a.quantile(0.5), a.quantile(0.3, 1), a.quantile(0.9, -1, keepdim=True), a.quantile(torch.tensor([0.25, 0.6, 1.0]), 1), a.quantile(torch.tensor([0.1, 0.2]), 2, keepdim=True),
                             *(a.quantile(0.4, 1, interpolation=how) for how in ("lower", "higher", "midpoint", "nearest"))), [x]),
    "near": (lambda a, b, i: (torch.hypot(a, b), torch.logaddexp(a * 50, b), torch.isclose(a, b, 0.5, 0.1), torch.isclose(a, a + 1e-7), torch.isclose(i, i // 2 * 2), torch.isclose(a / 0, -b / 0, equal_nan=True),
                              torch.isclose(a * 0 / 0, b * 0 / 0, equal_nan=True), torch.logaddexp(a.abs() / 0, b.abs() / 0), torch.nan_to_num(a / 0, posinf=7.0), torch.nan_to_num(a * 0 / 0, 3.0, 1.0, -2.0),
                              torch.nan_to_num(-a / 0, neginf=-5.0), torch.nan_to_num(a / 0), F.cosine_similarity(a, b), F.cosine_similarity(a, b[:1], -1), F.cosine_similarity(a * 0, b, 0),
                              F.pairwise_distance(a, b), F.pairwise_distance(a, b, 1.0, keepdim=True)), [x, y, ints]),
    "losses": (lambda a, b, p, q, t: tuple(f(reduction=r) for r in ("none", "mean", "sum") for f in (
        lambda reduction: F.mse_loss(a, b, reduction=reduction), lambda reduction: F.l1_loss(a, b, reduction=reduction), lambda reduction: F.smooth_l1_loss(a, b, reduction=reduction, beta=0.3),
        lambda reduction: F.smooth_l1_loss(a, b, reduction=reduction, beta=0.0), lambda reduction: F.huber_loss(a, b, reduction=reduction, delta=0.7),
        lambda reduction: F.binary_cross_entropy(p, q, reduction=reduction),
        lambda reduction: F.binary_cross_entropy_with_logits(a, q, reduction=reduction), lambda reduction: F.binary_cross_entropy_with_logits(a, q, p, pos_weight=q + 2, reduction=reduction),
        lambda reduction: F.soft_margin_loss(a, b.sign(), reduction=reduction), lambda reduction: F.kl_div(p.log(), q, reduction=reduction), lambda reduction: F.kl_div(a, b, reduction=reduction, log_target=True),
        lambda reduction: F.kl_div(p.log(), F.relu(q - 0.5), reduction=reduction), lambda reduction: F.cross_entropy(a, t, reduction=reduction),
        lambda reduction: F.cross_entropy(a, t, torch.arange(1.0, 5), reduction=reduction), lambda reduction: F.cross_entropy(a, t, ignore_index=2, reduction=reduction),
        lambda reduction: F.cross_entropy(a[:, :, 0], t[:, 0], reduction=reduction), lambda reduction: F.cross_entropy(a[0, :, 0], t[0, 0], reduction=reduction),
        lambda reduction: F.cross_entropy(a, q, reduction=reduction), lambda reduction: F.nll_loss(F.log_softmax(a, 1), t * 0 - 100 + (t > 0) * (t + 100), reduction=reduction),
        lambda reduction: F.nll_loss(F.log_softmax(a[..., None], 1), t[..., None], reduction=reduction))), [x, y, pos / 2, pos.flip(0) / 2, torch.randint(0, 4, (3, 5))]),
    "shapes": (lambda a: (a.view(12, 5), a.reshape(3, -1), a.permute(2, 0, 1), a.transpose(0, 1), a.flatten(1), a.unsqueeze(1), a.unsqueeze(-1).squeeze(-1), a.squeeze(), a[:, None],
                          a.expand(2, 3, 4, 5), a[:, :1].expand(-1, 4, -1), a.repeat(2, 1, 3), a.tile((2, 2)), torch.cat([a, a * 2], 1), torch.stack([a, a + 1], 1), a[1], a[:, 1:3], a[..., ::2],
                          a[:, -1], a.select(1, 2), a.narrow(1, 1, 2), *a.split(2, 1), *a.chunk(2, 2), *a.unbind(0), a.flip(0, 2), a.roll(2, 1), a.roll((1, -2), (0, 2)), a.movedim(0, 2),
                          a.unflatten(1, (2, 2)), a.repeat_interleave(2, 1), a.mT, a.tril(), a.triu(1), a.swapaxes(0, 2), a.contiguous().view(-1), a.type_as(a.long()), a.broadcast_to(2, 3, 4, 5)), [x]),
    "places": (lambda a, i: (a[:, [0, 2]], a[[2, 0]], a[[0, 1], :, [3, 4]], a[:, [0, 1], [3, 4]], a[1, [0, 3]], a.index_select(1, i[0]), torch.gather(a, 2, i.unsqueeze(1).expand(3, 2, 4)), torch.take_along_dim(a, i[:, None], 2) if False else a,
                             F.embedding(i, a[:, 0]), F.one_hot(i, 4), torch.scatter(a, 2, i[:, None], 7.0), torch.scatter_add(a, 2, i[:, None], a[:, :1, :4]), i[i > 0] if False else i), [x, index]),
    "matrices": (lambda a, b: (a @ b.transpose(1, 2), torch.bmm(a, b.mT), torch.matmul(a, b[0, 0]), a[0] @ b[0].t(), torch.mm(a[0], b[0].t()), torch.einsum("bij,bkj->bik", a, b),
                               torch.einsum("bij->bji", a), torch.addmm(a[0, :, :4], a[0], b[0].t(), beta=2, alpha=0.5), torch.baddbmm(a[:, :, :4], a, b.mT), F.linear(a, b[0]),
                               F.linear(a[0], b[0], b[0, :, 0]), F.bilinear(a, b, a.new_ones(2, 5, 5).cumsum(1)), torch.dot(a[0, 0], b[0, 0]), torch.outer(a[0, 0], b[0, 1]), torch.mv(a[0], b[0, 0])), [x, y]),
    "made": (lambda a: (torch.arange(5) + a[0, 0], torch.arange(0, 1, 0.2) * a[0, 0], torch.zeros(5) + a, torch.ones_like(a), torch.full((5,), 2.5) * a, torch.linspace(0, 1, 5) * a, torch.eye(5) @ a[0].t(),
                        a.new_zeros(2), torch.zeros_like(a), a.new_full((2, 2), 3.0), torch.full_like(a, 4), *torch.meshgrid(a[0, 0], a[0, :, 0], indexing="ij"), torch.tensor([1, 2]) + a[0, 0, 0].long()), [x]),
    "convolutions": (lambda a, w, b: (F.conv2d(a, w, b), F.conv2d(a, w, padding=1, stride=2), F.conv2d(a, w[:, :2], groups=2), F.conv2d(a, w, dilation=2), F.conv2d(a, w, padding="same"), F.conv2d(a[0], w, b),
                                      F.conv_transpose2d(a, w[:4], stride=2, padding=1, output_padding=1), F.conv1d(a[:, :, 0], w[:, :, 0], b, padding=1), F.conv3d(a[:, None], w[:, :1, None].expand(6, 1, 2, 3, 3)),
                                      F.conv_transpose1d(a[:, :, 0], w[:4, :, 0], groups=2)), [image(), image(6, 4, 3, 3), image(6)]),
    "pools": (lambda a: (F.max_pool2d(a, 3, 2, 1), F.max_pool2d(a, 2, ceil_mode=True), *F.max_pool2d(a, 2, return_indices=True), F.avg_pool2d(a, 3, 2, 1), F.avg_pool2d(a, 3, padding=1, count_include_pad=False),
                         F.avg_pool2d(a, 2, ceil_mode=True), F.adaptive_avg_pool2d(a, 1), F.adaptive_avg_pool2d(a, (3, 4)), F.adaptive_avg_pool2d(a, (7, 3)), F.adaptive_max_pool2d(a, 2), F.max_pool1d(a[:, :, 0], 2),
                         F.avg_pool1d(a[:, :, 0], 3), F.adaptive_avg_pool1d(a[:, :, 0], 3), F.max_pool2d(a[0], 2), F.lp_pool2d(a.abs(), 2, 2), F.local_response_norm(a, 3)), [image()]),
    "norms": (lambda a, w, b: (F.layer_norm(a, (9,), w[:1].expand(9), b[:1].expand(9)), F.layer_norm(a, (7, 9)), F.group_norm(a, 2, w, b), F.instance_norm(a), F.batch_norm(a, b, w.abs() + 0.5, w, b),
                               F.softmax(a, 1), F.log_softmax(a, -1), F.softmax(a, 0, dtype=torch.float32), F.instance_norm(a, weight=w, bias=b), F.prelu(a, w)), [image(), image(4), image(4)]),
    "sizes": (lambda a: (F.interpolate(a, scale_factor=2), F.interpolate(a, size=(5, 11), mode="bilinear"), F.interpolate(a, scale_factor=1.7, mode="bilinear"), F.interpolate(a, size=(14, 18), mode="bilinear", align_corners=True),
                         F.interpolate(a, size=(10, 12), mode="bicubic"), F.interpolate(a, size=(4, 5), mode="nearest-exact"), F.interpolate(a[:, :, 0], size=13, mode="linear"), F.interpolate(a, size=(3, 4), mode="bilinear", antialias=True),
                         F.pixel_shuffle(a, 2), F.pixel_unshuffle(a[..., :6, :8], 2), F.pad(a, (1, 2, 0, 3)), F.pad(a, (1, 1), value=3.0), F.pad(a, (2, 1, 1, 2), mode="reflect"), F.pad(a, (1, 1, 1, 1), mode="replicate"),
                         F.pad(a, (-1, 1)), F.channel_shuffle(a, 2), F.pad(a, (1, 1, 1, 1), mode="circular")), [image()]),
}


def in_place(a):
    b = a.clone()
    b[:, 1:3] = 7
    b[0].mul_(2)
    b[:, 0] += b[:, 3]
    b[..., ::2].zero_()
    c = b.view(3, -1)
    b.add_(1)
    c[1, :4] = a[0, :, 0]
    d = torch.zeros(3, 4, 5)
    d[1] = a[0]
    d[[0, 2]] = a[1:]
    e = a.transpose(0, 1).clone()
    e[2].copy_(a[:, 0])
    return b, c, d, e.relu_().clamp_(max=1), b.masked_fill_(b > 2, 0)


EXPRESSIONS["in_place"] = (in_place, [x])
EXPRESSIONS["windows"] = (lambda a: (a.unfold(2, 3, 2), a.unfold(0, 2, 1), a.unfold(-1, 9, 1), F.unfold(a, 3), F.unfold(a, (2, 3), dilation=(2, 1), padding=(1, 2), stride=(2, 3)), F.unfold(a[0], 2)), [image()])
EXPRESSIONS["slices_at_places"] = (lambda a, i: (a.index_add(2, i[0] % 5, a[:, :, 1:]), a.index_add(0, i[1, :2], a[:2], alpha=2), a.index_copy(1, torch.tensor([3, 0]), a[:, 1:3] * 2),
                                                 torch.zeros(3, 4, 5).index_add_(1, i[0], a), a.index_fill(2, i[0] % 5, -2.0)), [x, index])


def masked(a):
    b, c, d = a.clone(), a.clone(), a.clone()
    b[a > 0.5] = -1.0
    c[a[:, :, 0] > 0] = a[0, 0]
    d[a[:, 0, 0] > 0] = a[:1, :, :1].expand(1, 4, 5)
    return b, c, d


EXPRESSIONS["masks_that_depend_on_inputs"] = (masked, [x])


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(10, 7)
        self.rnn = nn.RNN(7, 4, nonlinearity="relu")

    def forward(self, a):
        b, (h, c) = self.lstm(a)
        d, g = self.gru(b)
        e, _ = self.rnn(d)
        return {"sequence": e, "h": h, "c": c, "g": g}


class Cells(nn.Module):
    """Recurrent cells, whose steps the model counts itself."""

    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTMCell(6, 5), nn.GRUCell(5, 7, bias=False)
        self.tanh, self.relu = nn.RNNCell(7, 4), nn.RNNCell(4, 3, nonlinearity="relu")

    def forward(self, a):
        h = torch.zeros(a.size(0), 5)
        c, g, t, r = h, torch.zeros(a.size(0), 7), torch.zeros(a.size(0), 4), torch.zeros(a.size(0), 3)
        found = []
        for i in range(a.size(1)):
            h, c = self.lstm(a[:, i], (h, c))
            g = self.gru(h, g)
            t = self.tanh(g, t)
            r = self.relu(t, r)
            found.append(r)
        return torch.stack(found, 1), c


class Bert(nn.Module):
    """Token, position and type embeddings, an encoder with a mask of truth values, a pooler."""

    def __init__(self):
        super().__init__()
        self.words, self.positions, self.types = nn.Embedding(50, 16), nn.Embedding(32, 16), nn.Embedding(2, 16)
        self.norm = nn.LayerNorm(16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, activation="gelu", batch_first=True), 2)
        self.pooler = nn.Linear(16, 16)
        self.register_buffer("position_ids", torch.arange(32).expand(1, -1))

    def forward(self, ids, attention, types):
        n = ids.size(1)
        a = self.norm(self.words(ids) + self.positions(self.position_ids[:, :n]) + self.types(types))
        a = self.encoder(a, src_key_padding_mask=attention == 0)
        return a, torch.tanh(self.pooler(a[:, 0]))


class Generator(nn.Module):
    """A decoder with one projection to queries, keys and values, split; a causal mask; relative positions as a bias."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.bias = nn.Linear(16, 48), nn.Linear(16, 16), nn.Parameter(torch.randn(4, 9, 9))

    def forward(self, a):
        b, t, c = a.shape
        q, k, v = self.qkv(a).split(16, dim=2)
        q, k, v = (s.view(b, t, 4, 4).transpose(1, 2) for s in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) / 4 ** 0.5 + self.bias[:, :t, :t]
        scores = scores.masked_fill(torch.tril(torch.ones(t, t)).view(1, 1, t, t) == 0, float("-inf"))
        return self.out((F.softmax(scores, -1) @ v).transpose(1, 2).contiguous().view(b, t, c))


class Branches(nn.Module):
    """Conditions and loops that shapes decide, lists of tensors, an output that may be missing."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True)) for _ in range(3)])

    def forward(self, a, scale: float = 0.5):
        found = []
        for block in self.blocks:
            b = block(a)
            if b.shape[-1] > 4:
                b = F.max_pool2d(b, 2)
            found.append(b)
            a = b
        out = torch.zeros_like(found[-1])
        i = 0
        while i < len(found):
            out = out + F.interpolate(found[i], size=out.shape[-2:], mode="nearest") * (scale / (i + 1))
            i += 1
        return out, found[0]


class Layers(nn.Module):
    """Layers whose scripts differ from their traces: loops over a range, results of which one is taken, attention with and without its weights."""

    def __init__(self):
        super().__init__()
        self.instance, self.group, self.largest = nn.InstanceNorm2d(4, affine=True), nn.GroupNorm(2, 4), nn.AdaptiveMaxPool2d((3, 2), return_indices=True)
        self.uneven, self.attention, self.bilinear = nn.AdaptiveMaxPool2d((4, 5)), nn.MultiheadAttention(12, 2, batch_first=True), nn.Bilinear(12, 12, 3)

    def forward(self, a):
        b, places = self.largest(self.group(self.instance(a)))
        c = self.uneven(a)
        for i in range(2, 5):
            c = c * i
        for i in range(7, 1, -3):
            c = c + i
        d = a.flatten(2)
        e, weights = self.attention(d, d, d)
        return b, places, c, e, weights, self.attention(d, d, d)[0] + self.attention(d, d, d, need_weights=False)[0], self.bilinear(d, e)


def cnn():
    return nn.Sequential(nn.Conv2d(4, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, groups=8), nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Dropout(0.3), nn.Linear(8, 5), nn.Softmax(-1))


ids = torch.randint(0, 50, (2, 9))
NETWORKS = {
    "cnn": (cnn, [image()]),
    "recurrent": (Recurrent, [image(2, 8, 6)]),
    "cells": (Cells, [image(2, 4, 6)]),
    "bert": (Bert, [ids, (torch.arange(9) < torch.tensor([[9], [6]])).long(), torch.zeros_like(ids)]),
    "generator": (Generator, [image(2, 9, 16)]),
    "branches": (Branches, [image(1, 4, 16, 12)]),
    "layers": (Layers, [image(2, 4, 6, 2)]),
}


def forms(model, inputs):
    """The archives of a network: traced and scripted, with gradients (without them PyTorch takes fused operators) and without, frozen or not."""
    trace = lambda: torch.jit.trace(model, tuple(inputs), strict=False, check_trace=False)
    yield "traced", trace()
    with torch.no_grad():
        yield "traced, no gradients", trace()
        yield "frozen", torch.jit.freeze(trace())
    yield "scripted", torch.jit.script(model)
    yield "scripted, frozen", torch.jit.freeze(torch.jit.script(model))


def named(result):
    if isinstance(result, torch.Tensor):
        return {"output_0": result}
    return dict(result) if isinstance(result, dict) else {f"output_{i}": v for i, v in enumerate(result)}


def run(tools, *command):
    done = subprocess.run([os.path.join(tools, command[0]), *command[1:]], capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def compare(tools, program, inputs, expected):
    """The reason why an archive does not give what is expected (nothing: what PyTorch gives for the archive); nothing if it does."""
    program.save("m.pt")
    # What the archive says counts: PyTorch's constants lose there that they were numbers of the program.
    saved = torch.jit.load("m.pt")
    if expected is None:
        expected = saved(*[v.clone() for v in inputs])
    names = [a.name for a in saved.forward.schema.arguments if a.name != "self"][:len(inputs)]
    shapes = [a for n, v in zip(names, inputs) for a in ("--input-shape", f"{n}={','.join(map(str, v.shape))}:{TYPES[v.dtype]}")]
    ok, text = run(tools, "importer", "m.pt", *shapes, "-o", "m.graph.json")
    if not ok:
        return text
    np.savez("in.npz", **{n: v.numpy() for n, v in zip(names, inputs)})
    ok, text = run(tools, "runner", "m.graph.json", "--target", "cpu", "--inputs", "in.npz", "-o", "out.npz")
    if not ok:
        return text
    out = np.load("out.npz")
    for name, value in named(expected).items():
        value = value.detach().numpy()
        if name not in out:
            return f"no output {name}: {out.files}"
        got = out[name]
        if got.shape != value.shape or got.dtype != value.dtype:
            return f"{name}: {got.dtype} {got.shape} instead of {value.dtype} {value.shape}"
        largest = np.abs(value[np.isfinite(value)]).max(initial=0) if value.dtype.kind == "f" else 1
        if not np.allclose(got, value, rtol=1e-4, atol=1e-5 * largest, equal_nan=True):
            return f"{name} {value.shape}: differs by {np.nanmax(np.abs(got.astype(float) - value)):.3g}, largest {largest:.3g}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    tools = os.path.abspath(os.path.join(arguments.build, "bin"))
    failed = count = 0

    def tell(name, reason):
        nonlocal failed, count
        count += 1
        if reason:
            failed += 1
            print(f"{name}: {reason}")

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, (function, inputs) in EXPRESSIONS.items():
            if not arguments.names or name in arguments.names:
                tell(name, compare(tools, torch.jit.trace(function, tuple(v.clone() for v in inputs), check_trace=False), inputs, None))
        for name, (function, inputs) in {**torchscript_reach.CASES, **torchscript_definitions.CASES}.items():
            if not arguments.names or name.split(".")[0] in arguments.names:
                with torch.no_grad():
                    function = function.eval() if isinstance(function, nn.Module) else function
                    tell(name, compare(tools, torch.jit.trace(function, tuple(v.clone() for v in inputs), check_trace=False, strict=False), inputs, None))
        for name, (make, inputs) in NETWORKS.items():
            if arguments.names and name not in arguments.names:
                continue
            torch.manual_seed(3)
            model = make().eval()
            for part in model.modules():
                if isinstance(part, nn.BatchNorm2d):
                    part.running_mean.normal_(0, 0.1)
                    part.running_var.uniform_(0.5, 1.5)
            expected = model(*inputs)
            for form, program in forms(model, inputs):
                reason = compare(tools, program, inputs, expected)
                if name == "bert" and form in ("traced, no gradients", "frozen"):
                    # PyTorch puts nested tensors into these.
                    reason = None if reason and "trace the model outside of torch.no_grad()" in reason else f"imported, or: {reason}"
                tell(f"{name}, {form}", reason)
    print(f"{count} archives, {failed} wrong")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
