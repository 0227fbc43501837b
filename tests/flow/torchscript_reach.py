# SPDX-License-Identifier: Apache-2.0
"""TorchScript of signal processing, spatial transformers, vocoders, recommenders and search: complex numbers, Fourier transforms, packed sequences, places and
distances; each for three shapes, one of them odd. `CASES` has a function and its inputs for each, for torchscript.py."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

SHAPES = [(1, 4, 8), (2, 3, 7), (3, 5, 16)]
CASES = {}


def case(name, function, *inputs):
    CASES[f"{name}.{sum(key.startswith(name + '.') for key in CASES)}"] = (function, list(inputs))


def images(function, name, *sizes):
    for size in sizes or [(1, 3, 8, 8), (2, 2, 7, 9), (1, 4, 13, 11)]:
        case(name, function, torch.randn(*size))


class Rotary(nn.Module):
    """As Llama writes it: a buffer of complex numbers, of which each run takes the first rows."""

    def __init__(self, width):
        super().__init__()
        angles = torch.outer(torch.arange(32).float(), 1 / 10000 ** (torch.arange(0, width, 2).float() / width))
        self.register_buffer("angles", torch.polar(torch.ones_like(angles), angles))

    def forward(self, q):
        pairs = torch.view_as_complex(q.reshape(*q.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.angles[:q.shape[1]].view(1, q.shape[1], 1, -1)).flatten(3)


class Flat(nn.Module):
    """A recurrent layer whose results are one tuple."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        y, (h, c) = self.layer(x)
        return y, h, c


class Recurrent(nn.Module):
    def __init__(self, layer, total, is_sorted=True):
        super().__init__()
        self.layer, self.total, self.is_sorted = layer, total, is_sorted

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=self.is_sorted)
        y, state = self.layer(packed)
        y, _ = pad_packed_sequence(y, batch_first=True, total_length=self.total)
        return y, (state[0] if isinstance(state, tuple) else state)


def complex_numbers():
    for batch, length, width in SHAPES:
        case("rotary", Rotary(width * 2), torch.randn(batch, length, 3, width * 2))
        a, b = torch.randn(batch, length, width), torch.randn(batch, length, width)
        case("complex", lambda x, y: (lambda z, w: (torch.view_as_real(z * w), (z / (w + 3)).real, (z + 2).abs(), torch.view_as_real(z - w), z.angle(), torch.view_as_real(z.conj().transpose(0, 1).resolve_conj()),
                                                    torch.view_as_real(torch.cat([z, w], 1)[:, 1:]), (2 * z).imag, torch.view_as_real(torch.polar(x.abs(), y))))(
                                                        torch.complex(x, y), torch.complex(y, x * 0.5)), a, b)
        case("atan2", lambda x, y: torch.atan2(x, y), a, b)


def transforms():
    for batch, length, width in SHAPES:
        x, y = torch.randn(batch, length, width), torch.randn(batch, length, width)
        case("fft", lambda x, y: (torch.view_as_real(torch.fft.fft(x)), torch.view_as_real(torch.fft.rfft(x, norm="ortho")), torch.fft.irfft(torch.complex(x, y), n=2 * x.shape[-1] - 1),
                                  torch.view_as_real(torch.fft.ifft(torch.complex(x, y), dim=1)), torch.fft.fft2(x).real, torch.fft.irfft2(torch.fft.rfft2(x), s=x.shape[-2:]),
                                  torch.view_as_real(torch.fft.fft(x, n=5, norm="forward"))), x, y)
    for samples, length, points, hop in [(1, 64, 16, 4), (2, 75, 20, 5), (1, 101, 15, 7)]:
        window, short = torch.hann_window(points), torch.hamming_window(points - 4)
        case("stft", lambda x, n=points, h=hop, w=window, s=short: (torch.view_as_real(torch.stft(x, n, h, window=w, return_complex=True)), torch.stft(x, n, h, window=w, return_complex=True).abs(),
                                                                  torch.view_as_real(torch.stft(x, n, h, n - 4, s, center=False, normalized=True, return_complex=True))), torch.randn(samples, length))
        case("istft", lambda x, n=points, h=hop, w=torch.hamming_window(points): (torch.istft(torch.stft(x, n, h, window=w, return_complex=True) * 2, n, h, window=w),
                                                               torch.istft(torch.stft(x, n, h, window=w, return_complex=True), n, h, window=w, length=x.shape[-1])), torch.randn(samples, length))


def places():
    for n, sizes in [(1, (8, 8)), (2, (7, 9)), (1, (13, 5))]:
        theta, x = torch.eye(2, 3).repeat(n, 1, 1) + torch.randn(n, 2, 3) * 0.1, torch.randn(n, 3, *sizes)
        for corners in (False, True):
            case("affine", lambda t, x, s=(n, 3, *sizes), c=corners: (F.affine_grid(t, s, align_corners=c), F.grid_sample(x, F.affine_grid(t, s, align_corners=c), align_corners=c),
                                                                   F.grid_sample(x, F.affine_grid(t, s, align_corners=c), "bicubic", "border", c)), theta, x)
        case("put", lambda x, v: (put(x, (slice(None), torch.tensor([2, 0])), v[:, :2]), put(x, (slice(None), slice(None), torch.tensor([4, 1, 0])), v[..., :3, :]),
                                  put(x, (slice(None), torch.tensor([1, 2]), slice(None), torch.tensor([3, 0])), v[:, 0, :, :2].permute(2, 0, 1)),
                                  put(x, (slice(None), torch.tensor([1, 2]), torch.tensor([3, 0])), v[:, :2, 0, :]), put(x, (Ellipsis, torch.tensor([1, 0])), 7.0),
                                  x.index_put((torch.tensor([0, 0]),), v[:1].expand(2, -1, -1, -1), accumulate=True)), x, torch.randn(n, 3, *sizes))
    for channels, image, kernel, more in [(3, (8, 8), (2, 2), {"stride": 2}), (2, (9, 7), (3, 2), {"padding": (1, 0), "stride": (2, 1)}), (1, (13, 11), (3, 3), {"dilation": 2})]:
        windows = F.unfold(torch.zeros(2, channels, *image), kernel, **more).shape
        case("fold", lambda x, i=image, k=kernel, m=more: F.fold(x, i, k, **m), torch.randn(*windows))


def put(x, at, value):
    y = x.clone()
    y[at] = value
    return y


def order():
    for batch, length, width in SHAPES:
        x, y = torch.randn(batch, length, width), torch.randn(batch, length + 2, width)
        bounds = torch.tensor([-1.0, 0.0, 0.25, 1.5])
        case("buckets", lambda x, b=bounds: (torch.bucketize(x, b), torch.bucketize(x, b, right=True), torch.searchsorted(b, x), torch.bucketize(torch.round(x * 2) / 2, b, right=True)), x)
        case("median", lambda x: (x.median(), x.median(1)[0], x.median(-1, keepdim=True)[0], x.median(-1)[1], x.kthvalue(2, 1)[0]), x)
        case("distances", lambda x, y: (torch.cdist(x, y), torch.cdist(x, y, 1.0), torch.cdist(x, y, float("inf")), torch.cdist(x, y, 3.0)), x, y)
        bag = {mode: nn.EmbeddingBag(11, width, mode=mode) for mode in ("sum", "mean", "max")}
        ids = torch.randint(0, 11, (batch, length))
        for mode, layer in bag.items():
            case("bags", layer, ids)
        case("bags", lambda i, w=torch.randn(11, width), o=torch.tensor([0, 2, 2]): F.embedding_bag(i, w, o), ids.flatten())


def weights():
    for channels, size, kernel in [(4, 16, 3), (3, 17, 5), (8, 33, 4)]:
        case("weight_norm", nn.utils.weight_norm(nn.Conv1d(channels, 5, kernel, padding=2)), torch.randn(2, channels, size))
        case("weight_norm", nn.utils.weight_norm(nn.ConvTranspose1d(channels, 5, kernel, 2), dim=1), torch.randn(1, channels, size))
        case("weight_norm", nn.utils.weight_norm(nn.Linear(size, 7), dim=None), torch.randn(3, size))


def recurrent():
    for batch, length, width in [(1, 4, 8), (2, 3, 7), (3, 5, 16)]:
        x, lengths = torch.randn(batch, length, width), torch.arange(length, length - batch, -1)
        for layer in (nn.LSTM(width, 6, batch_first=True), nn.GRU(width, 5, 2, batch_first=True, bidirectional=True)):
            case("packed", Recurrent(layer, length), x, lengths)
            case("packed", Recurrent(layer, None, False), x, lengths.flip(0))
        case("projected", Flat(nn.LSTM(width, 6, proj_size=4)), torch.randn(length, batch, width))
        case("projected", Flat(nn.LSTM(width, 7, 2, proj_size=3, bidirectional=True, batch_first=True, bias=False)), x)


def detection():
    """torchvision's operators; none where it is missing."""
    try:
        from torchvision.ops import deform_conv2d, roi_align
    except ImportError:
        return
    for n, c, (h, w), kernel, groups, parts, more in [(1, 4, (8, 8), (3, 3), 1, 1, {"padding": 1}), (2, 6, (7, 9), (3, 1), 2, 3, {"stride": (2, 1), "padding": (1, 0)}),
                                                      (1, 2, (13, 5), (2, 3), 1, 2, {"dilation": (2, 1), "stride": 2})]:
        weight, bias, x = torch.randn(4, c // groups, *kernel), torch.randn(4), torch.randn(n, c, h, w)
        rows, columns = F.conv2d(x, torch.zeros(4, c, *kernel), **more).shape[2:]
        offset = torch.randn(n, 2 * parts * kernel[0] * kernel[1], rows, columns) * 2
        mask = torch.rand(n, parts * kernel[0] * kernel[1], rows, columns)
        case("deformable", lambda x, o, m, w=weight, b=bias, k=more: (deform_conv2d(x, o, w, b, mask=m, **k), deform_conv2d(x, o, w, **k), deform_conv2d(x, o * 0, w, b, **k)), x, offset, mask)
    for n, c, (h, w) in [(1, 4, (8, 8)), (2, 3, (7, 9)), (1, 5, (13, 11))]:
        first = torch.rand(3, 2) * torch.tensor([w / 2, h / 2])
        boxes = torch.cat([torch.arange(3)[:, None].float() % n, first, first + torch.rand(3, 2) * torch.tensor([w / 1.5, h / 1.5])], 1)
        case("regions", lambda x, b: (roi_align(x, b, (3, 2)), roi_align(x, b, 2, 0.5, 2, True), roi_align(x, b, (1, 3), 1.0, 1, False)), torch.randn(n, c, h, w), boxes)


for make in (complex_numbers, transforms, places, order, weights, recurrent, detection):
    make()
