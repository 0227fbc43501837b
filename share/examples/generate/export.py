#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Export a small model of the kind of GPT-2, with caches of keys and values, and the tokens that PyTorch generates with it.

    export.py OUT_DIR [--cache static|concat] [--layout joined|heads] [--prompt 8] [--tokens 64] [--length 96] [--seed 0]

Writes decode.onnx, which takes a token and its position, prefill.onnx, which takes as many as --chunk says, and tokens.txt: the prompt in its
first line, and in its second what a loop without any cache makes of it, which always takes the most likely token. A static cache has a place for
each position, which is written in place; a cache that grows has each step's keys and values joined to its end, and --length entries are kept.
Entries of a cache have the heads beside each other ([1, length, width]), or apart ([1, heads, length, width of a head]).
Needs python3-torch and python3-onnx.
"""
import argparse
import math
import pathlib

import torch
import torch.nn.functional as F
from torch import nn

LAYERS, HEADS, WIDTH, VOCABULARY = 2, 2, 64, 96
MASKED = -1e4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, bias, cache):
        """`cache` makes the keys and values of all positions of this step's, in its layout."""
        heads = lambda t: t if t.dim() == 4 else t.view(1, -1, HEADS, WIDTH // HEADS).transpose(1, 2)
        q, k, v = self.qkv(self.norm1(x)).split(WIDTH, dim=-1)
        keys, values = (heads(t) for t in (cache(heads(k), heads(v)) if cache.heads_apart else cache(k, v)))
        weights = torch.softmax(heads(q) @ keys.transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + bias, dim=-1)
        x = x + self.out((weights @ values).transpose(1, 2).reshape(1, -1, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(length, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        for parameter in self.parameters():  # far from the uniform start, so that tokens differ
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=2.5 / math.sqrt(parameter.shape[-1]))

    def forward(self, tokens, positions, bias, caches):
        x = (self.tokens(tokens) + self.positions(positions)).unsqueeze(0)
        for block, cache in zip(self.blocks, caches):
            x = block(x, bias, cache)
        return self.head(self.norm(x))


class Cache:
    """What makes the keys and values of all positions of those of a step, and whether it keeps heads apart."""

    def __init__(self, update, heads_apart=False):
        self.update, self.heads_apart = update, heads_apart

    def __call__(self, keys, values):
        return self.update(keys, values)


class Step(nn.Module):
    """One step of generation. What depends on positions is looked up in tables."""

    def __init__(self, gpt, length, is_static, count, heads_apart=False):
        super().__init__()
        self.gpt, self.is_static, self.heads_apart = gpt, is_static, heads_apart
        at = torch.arange(length)
        self.place = nn.Parameter(torch.eye(length), requires_grad=False)
        if is_static:
            visible = at[None, :] <= at[:, None]
        else:
            # Behind the cache are this step's own entries. Of a position the last entries are visible, as many as there are positions until it;
            # how far the step's own lie behind the end depends on which of them it is.
            end = torch.arange(length + count)
            visible = torch.stack([torch.stack([(end > length + i - p - 1) & (end <= length + i) for i in range(count)]) for p in at])
        self.bias = nn.Parameter(torch.where(visible, 0.0, MASKED).reshape(length, -1), requires_grad=False)
        self.count = count

    def forward(self, token, position, *past):
        present = []

        def cache_of(layer):
            def cache(k, v):
                for old, new in zip(past[2 * layer:2 * layer + 2], (k, v)):
                    present.append(self.written(old, new, position) if self.is_static else torch.cat([old, new], dim=-2))
                return present[-2:]
            return Cache(cache, self.heads_apart)

        bias = F.embedding(position, self.bias)
        if not self.is_static:
            # Row i of the count rows that position i has.
            bias = torch.cat([bias[i:i + 1].view(self.count, -1)[i:i + 1] for i in range(self.count)])
        logits = self.gpt(token, position, bias.unsqueeze(0).unsqueeze(0), [cache_of(layer) for layer in range(LAYERS)])
        return (logits, *present)

    def written(self, old, new, position):
        place = F.embedding(position, self.place)  # [count, length]
        kept = (1 - place.sum(dim=0)).view(-1, 1)
        return old * kept + place.transpose(0, 1) @ new


def greedy(gpt, prompt, count):
    tokens = list(prompt)
    for _ in range(count):
        at = torch.arange(len(tokens))
        bias = torch.where(at[None, :] <= at[:, None], 0.0, MASKED)
        logits = gpt(torch.tensor(tokens), at, bias, [Cache(lambda k, v: (k, v))] * LAYERS)
        tokens.append(int(logits[0, -1].argmax()))
    return tokens[len(prompt):]


def export(step, count, length, path):
    names = [f"{what}_{layer}" for layer in range(LAYERS) for what in ("key", "value")]
    past = [torch.zeros(1, HEADS, length, WIDTH // HEADS) if step.heads_apart else torch.zeros(1, length, WIDTH) for _ in names]
    torch.onnx.export(step, (torch.zeros(count, dtype=torch.int64), torch.arange(count), *past), str(path), opset_version=13,
                      input_names=["token", "position"] + [f"past_{n}" for n in names],
                      output_names=["logits"] + [f"present_{n}" for n in names])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--cache", choices=["static", "concat"], default="static")
    parser.add_argument("--layout", choices=["joined", "heads"], default="joined")
    parser.add_argument("--prompt", type=int, default=8, help="tokens of the prompt, which are drawn")
    parser.add_argument("--tokens", type=int, default=64, help="tokens to be generated")
    parser.add_argument("--length", type=int, default=96, help="entries of the caches")
    parser.add_argument("--chunk", type=int, default=8, help="tokens that prefill.onnx takes")
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    torch.manual_seed(o.seed)
    gpt = Gpt(o.length).eval()
    o.out.mkdir(parents=True, exist_ok=True)
    prompt = torch.randint(VOCABULARY, (o.prompt,)).tolist()
    with torch.no_grad():
        tokens = greedy(gpt, prompt, o.tokens)
    (o.out / "tokens.txt").write_text("\n".join(" ".join(map(str, t)) for t in (prompt, tokens)) + "\n")
    # Gradients stay enabled: PyTorch's fused attention, which the exporter does not know, is then off.
    for name, count in (("decode", 1), ("prefill", o.chunk)):
        export(Step(gpt, o.length, o.cache == "static", count, o.layout == "heads"), count, o.length, o.out / f"{name}.onnx")


if __name__ == "__main__":
    main()
