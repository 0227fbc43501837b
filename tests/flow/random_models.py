# SPDX-License-Identifier: Apache-2.0
"""Random architectures with data to train on, in PyTorch: convolutions, attention, recurrent cells, normalisations, gathers, concatenations."""
import torch
from torch import nn
from torch.nn import functional

from training_models import Attention

BATCH, ROWS, CLASSES = 4, 32, 5
ACTIVATIONS = [nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.ELU, nn.Hardswish, nn.Mish, nn.Softplus, nn.SELU, nn.Softsign, nn.CELU,
               lambda: nn.LeakyReLU(0.1), nn.PReLU, nn.Hardsigmoid]


class Residual(nn.Module):
    def __init__(self, *parts):
        super().__init__()
        self.inner = nn.Sequential(*parts)

    def forward(self, x):
        return x + self.inner(x)


class Branches(nn.Module):
    """Side by side along axis 1, or along the last one."""

    def __init__(self, axis, *branches):
        super().__init__()
        self.axis, self.branches = axis, nn.ModuleList(branches)

    def forward(self, x):
        return torch.cat([b(x) for b in self.branches], self.axis)


class Gate(nn.Module):
    def __init__(self, inner, gate):
        super().__init__()
        self.inner, self.gate = inner, gate

    def forward(self, x):
        return self.inner(x) * torch.sigmoid(self.gate(x))


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Picked(nn.Module):
    """Places along an axis in another order, some of them more than once."""

    def __init__(self, axis, places):
        super().__init__()
        self.axis = axis
        self.register_buffer("places", places)

    def forward(self, x):
        return torch.index_select(x, self.axis, self.places)


class Recurrent(nn.Module):
    def __init__(self, kind, width, hidden, both):
        super().__init__()
        self.cell = kind(width, hidden, batch_first=True, bidirectional=both)

    def forward(self, x):
        return self.cell(x)[0]


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.down, self.up = nn.Linear(channels, max(channels // 2, 1)), nn.Linear(max(channels // 2, 1), channels)

    def forward(self, x):
        scale = torch.sigmoid(self.up(functional.relu(self.down(x.mean((2, 3))))))
        return x * scale[:, :, None, None]


class SelfAttention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(width), Attention(width, heads, causal)

    def forward(self, x):
        return x + self.attention(self.norm(x))


class Maker:
    """Draws layers; `shape` is that of a sample."""

    def __init__(self, rng):
        self.rng, self.shape = rng, ()

    def chance(self, p):
        return self.rng.random() < p

    def activation(self):
        return self.rng.choice(ACTIVATIONS)()

    # ---- images [channels, rows, columns]

    def convolution(self):
        c, h, w = self.shape
        out = self.rng.choice([2, 3, 4, 6, 8])
        kernel = self.rng.choice([k for k in (1, 2, 3, 5) if k <= min(h, w)])
        stride = self.rng.choice([1, 1, 2]) if min(h, w) > 4 else 1
        padding = self.rng.choice([0, kernel // 2])
        dilation = 2 if kernel == 3 and min(h, w) > 6 and self.chance(0.2) else 1
        groups = self.rng.choice([g for g in (1, 1, 2, 3, c) if c % g == 0 and out % g == 0])
        mode = self.rng.choice(["zeros", "zeros", "reflect", "replicate"]) if padding else "zeros"
        return self.kept(nn.Conv2d(c, out, kernel, stride, padding, dilation, groups, self.chance(0.7), padding_mode=mode))

    def mobile(self):
        """Wider by a kernel of one tap, each channel or few of them by themselves, and narrower: as in MobileNet, EfficientNet, ResNeXt."""
        c, h, w = self.shape
        kernel, stride = self.rng.choice([k for k in (1, 3, 5, 7) if k // 2 < min(h, w)]), self.rng.choice([1, 1, 2])
        wide = self.rng.choice([c, 2 * c, 12, 32, 33, 36])
        groups = self.rng.choice([wide, wide] + [g for g in range(2, wide) if wide % g == 0])
        between, out = wide * (self.rng.choice([1, 1, 2]) if groups == wide else 1), self.rng.choice([c, 3, 6])
        parts = [nn.Conv2d(c, wide, 1), self.activation(), nn.Conv2d(wide, between, kernel, stride, kernel // 2, groups=groups, bias=self.chance(0.5)),
                 self.activation(), nn.Conv2d(between, out, 1)]
        return self.kept(Residual(*parts) if stride == 1 and out == c else nn.Sequential(*parts))

    def transposed(self):
        c, h, w = self.shape
        if max(h, w) > 12:
            return self.convolution()
        out, stride = self.rng.choice([2, 3, 4]), self.rng.choice([1, 2])
        return self.kept(nn.ConvTranspose2d(c, out, self.rng.choice([2, 3]), stride, self.rng.choice([0, 1]), stride - 1 if self.chance(0.5) else 0))

    def pool(self):
        _, h, w = self.shape
        if min(h, w) < 4:
            return self.activation()
        kernel = self.rng.choice([2, 3])
        stride, padding = self.rng.choice([1, 2, kernel]), self.rng.choice([0, kernel // 2])
        if self.chance(0.5):
            return self.kept(nn.MaxPool2d(kernel, stride, padding, ceil_mode=self.chance(0.3)))
        return self.kept(nn.AvgPool2d(kernel, stride, padding, count_include_pad=self.chance(0.5)))

    def image_norm(self):
        c, h, w = self.shape
        kinds = [nn.BatchNorm2d(c), nn.GroupNorm(self.rng.choice([g for g in (1, 2, c) if c % g == 0]), c), nn.LayerNorm([c, h, w])]
        if h * w > 1:
            kinds.append(nn.InstanceNorm2d(c, affine=True))
        return self.rng.choice(kinds)

    def same_size(self):
        c = self.shape[0]
        return nn.Sequential(nn.Conv2d(c, c, 3, padding=1, groups=self.rng.choice([1, c])), self.activation())

    def image_block(self):
        c, h, w = self.shape
        kind = self.rng.choice(["conv", "conv", "mobile", "mobile", "transposed", "pool", "norm", "norm", "activation", "residual", "branches", "excite", "grow", "shuffle"])
        if kind == "conv":
            return nn.Sequential(self.convolution(), self.activation())
        if kind == "mobile":
            return self.mobile()
        if kind == "transposed":
            return self.transposed()
        if kind == "pool":
            return self.pool()
        if kind == "norm":
            return self.image_norm()
        if kind == "residual":
            return Residual(self.same_size(), nn.Conv2d(c, c, 1))
        if kind == "branches":
            return self.kept(Branches(1, nn.Conv2d(c, 3, 3, padding=1), nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(c, 2, 1))))
        if kind == "excite":
            return SqueezeExcite(c)
        if kind == "grow" and max(h, w) <= 8:
            mode = self.rng.choice(["nearest", "bilinear"])
            return self.kept(nn.Upsample(scale_factor=2, mode=mode, **({} if mode == "nearest" else {"align_corners": self.chance(0.5)})))
        if kind == "shuffle" and c % 2 == 0:
            return Function(lambda x: x.reshape(x.shape[0], 2, c // 2, h, w).transpose(1, 2).reshape(x.shape[0], c, h, w))
        return self.activation()

    # ---- sequences [steps, width]

    def sequence_block(self):
        steps, width = self.shape
        kind = self.rng.choice(["attention", "attention", "recurrent", "recurrent", "norm", "linear", "feed", "picked", "branches", "gate", "cumsum", "conv", "mixed"])
        if kind == "attention":
            return SelfAttention(width, self.rng.choice([h for h in (1, 2, 4) if width % h == 0]), self.chance(0.5))
        if kind == "recurrent":
            return self.kept(Recurrent(self.rng.choice([nn.LSTM, nn.GRU, nn.RNN]), width, self.rng.choice([3, 4, 6]), self.chance(0.4)))
        if kind == "norm":
            return nn.LayerNorm(width)
        if kind == "feed":
            return Residual(nn.Linear(width, 2 * width), self.activation(), nn.Linear(2 * width, width))
        if kind == "picked":
            return self.kept(Picked(1, torch.randint(0, steps, (self.rng.choice([steps, steps + 1]),))))
        if kind == "branches":
            return self.kept(Branches(2, nn.Linear(width, 3), nn.Sequential(nn.Linear(width, 4), self.activation())))
        if kind == "gate":
            return Gate(nn.Linear(width, width), nn.Linear(width, width))
        if kind == "cumsum":
            return Function(lambda x: torch.cumsum(x, 1) / steps)
        if kind == "conv":
            return Residual(Function(lambda x: x.transpose(1, 2)), nn.Conv1d(width, width, 3, padding=1), Function(lambda x: x.transpose(1, 2)))
        if kind == "mixed":
            return Residual(Function(lambda x: x.transpose(1, 2)), nn.Linear(steps, steps), Function(lambda x: x.transpose(1, 2)))
        out = self.rng.choice([4, 6, 8])
        return self.kept(nn.Sequential(nn.Linear(width, out), self.activation()))

    # ---- whole models

    def kept(self, module):
        """Notes the shape that the module makes; what cannot be, or shrinks to nothing, is drawn anew as an activation."""
        was = module.training
        try:
            with torch.no_grad():
                shape = tuple(module.eval()(torch.zeros(2, *self.shape)).shape[1:])
        except RuntimeError:
            return self.activation()
        if 0 in shape or shape[0] * shape[-1] > 512:
            return self.activation()
        self.shape = shape
        return module.train(was)

    def image_model(self):
        first = (self.rng.choice([1, 2, 3]), self.rng.choice([6, 7, 8, 11]), self.rng.choice([6, 8, 9]))
        self.shape = first
        layers = [self.image_block() for _ in range(self.rng.randint(3, 7))]
        if self.chance(0.5):
            layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
            width = self.shape[0]
        elif self.chance(0.3):
            layers += [nn.Flatten(2), Function(lambda x: x.amax(2))]
            width = self.shape[0]
        else:
            layers.append(nn.Flatten())
            width = self.shape[0] * self.shape[1] * self.shape[2]
        return layers, width, torch.randn(ROWS, *first)

    def sequence_model(self):
        steps, width = self.rng.choice([5, 6, 7]), self.rng.choice([4, 8])
        layers = []
        if self.chance(0.5):
            words = self.rng.choice([11, 20])
            layers.append(nn.Embedding(words, width))
            data = torch.randint(0, words, (ROWS, steps))
        else:
            data = torch.randn(ROWS, steps, width)
        self.shape = (steps, width)
        layers += [self.sequence_block() for _ in range(self.rng.randint(2, 5))]
        steps, width = self.shape
        end = self.rng.choice(["mean", "last", "max", "flat"])
        if end == "mean":
            layers.append(Function(lambda x: x.mean(1)))
        elif end == "last":
            layers.append(Function(lambda x: x[:, -1]))
        elif end == "max":
            layers.append(Function(lambda x: x.max(1)[0]))
        else:
            layers.append(nn.Flatten())
            width *= steps
        return layers, width, data


def model_of(seed):
    """The model, its data of ROWS samples, its targets, whether these are classes."""
    import random
    torch.manual_seed(seed)
    maker = Maker(random.Random(seed))
    layers, width, data = maker.image_model() if maker.chance(0.5) else maker.sequence_model()
    if maker.chance(0.4):
        layers += [nn.Linear(width, 8), maker.activation()]
        width = 8
    layers.append(nn.Linear(width, CLASSES))
    classes = maker.chance(0.7)
    targets = torch.randint(0, CLASSES, (ROWS,)) if classes else torch.randn(ROWS, CLASSES)
    return nn.Sequential(*layers), data, targets, classes


# Of rates at which most of these models learn, and do not leap about: there, every rounding would grow without bound.
OPTIMIZERS = {"sgd:lr=0.01,momentum=0.9": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9), "sgd:lr=0.05": lambda p: torch.optim.SGD(p, lr=0.05),
              "adam:lr=0.002": lambda p: torch.optim.Adam(p, lr=0.002), "adamw:lr=0.002,decay=0.02": lambda p: torch.optim.AdamW(p, lr=0.002, weight_decay=0.02)}


def optimizer_of(seed):
    return list(OPTIMIZERS.items())[seed % len(OPTIMIZERS)]
