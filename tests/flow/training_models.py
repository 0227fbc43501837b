# SPDX-License-Identifier: Apache-2.0
"""Models for tests of training, in PyTorch. Names of parameters are those of the ONNX file: modules are exported in training mode, without folding."""
import math
import warnings

import torch
from torch import nn
from torch.nn import functional


def export(model, inputs, path, opset=14):
    model.train()
    for kind in (UserWarning, torch.jit.TracerWarning):
        warnings.simplefilter("ignore", kind)
    torch.onnx.export(model, tuple(inputs.values()), str(path), input_names=list(inputs), output_names=["prediction"], opset_version=opset,
                      training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)


class Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        split = lambda y: y.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        scores = split(self.query(x)) @ split(self.key(x)).transpose(2, 3) / math.sqrt(width // self.heads)
        if self.causal:
            scores = torch.where(torch.tril(torch.ones(length, length)) > 0, scores, torch.tensor(-1e4))
        if mask is not None:
            scores = scores + (1.0 - mask[:, None, None, :]) * -1e4
        mixed = torch.softmax(scores, -1) @ split(self.value(x))
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class EncoderLayer(nn.Module):
    """As BERT's: normalised after each sum."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention = Attention(width, heads, False)
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.down(functional.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self, vocabulary=64, length=16, width=128, heads=2, layers=2):
        super().__init__()
        self.words, self.places, self.types = nn.Embedding(vocabulary, width), nn.Embedding(length, width), nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(EncoderLayer(width, heads) for _ in range(layers))
        self.transform, self.transform_norm = nn.Linear(width, width), nn.LayerNorm(width, eps=1e-12)
        self.head = nn.Linear(width, vocabulary)
        self.register_buffer("positions", torch.arange(length)[None, :])

    def forward(self, ids, types, mask):
        x = self.norm(self.words(ids) + self.types(types) + self.places(self.positions))
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.transform_norm(functional.gelu(self.transform(x))))


class DecoderLayer(nn.Module):
    """As GPT's: normalised before each part, with the tanh form of gelu."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, True)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        u = self.up(self.norm2(x))
        return x + self.down(0.5 * u * (1 + torch.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u * u * u))))


class Gpt(nn.Module):
    """The head is the table of words."""

    def __init__(self, vocabulary=64, length=16, width=64, heads=4, layers=2):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Parameter(0.02 * torch.randn(length, width))
        self.layers = nn.ModuleList(DecoderLayer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        with torch.no_grad():
            self.words.weight.mul_(0.1)

    def forward(self, ids):
        x = self.words(ids) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.words.weight.t()
