# SPDX-License-Identifier: Apache-2.0
"""Operators of TensorFlow one by one, with what PyTorch gives, in three sizes of which one is odd: spectra and complex numbers, diagonals, segments, crops, running
products. Each function returns (options of the importer, inputs, expected outputs), after it wrote m.pb."""
import numpy as np
import torch
import torch.nn.functional as F

import tensorflow_graphs as tf
from tensorflow_by_hand import write

COMPLEX = np.dtype(np.complex64)
FLOAT = np.dtype(np.float32)


def given(graph, *names):
    write(graph)
    return ["m.pb", "--set", f"frontend.tensorflow.outputs={','.join(names)}"]


def spectrum(frames, length):
    """Windows, their spectra and all that is asked of these; the length cuts frames or fills them up."""
    g, x, window = tf.Graph(), torch.randn(2, frames, 24), torch.hann_window(24)
    g.placeholder("x", x.shape)
    g.node("Mul", "windowed", ["x", g.constant(window.numpy())])
    g.node("RFFT", "spectrum", ["windowed", g.integers([length])], of=None)
    g.node("ComplexAbs", "magnitude", ["spectrum"], of=None)
    g.node("Real", "real", ["spectrum"], of=None)
    g.node("Imag", "imaginary", ["spectrum"], of=None)
    g.node("Angle", "angle", ["spectrum"], of=None)
    # pi and -pi are one angle.
    g.node("Cos", "cosine", ["angle"])
    g.node("Sin", "sine", ["angle"])
    g.node("Conj", "conjugate", ["spectrum"], of=COMPLEX)
    g.node("Mul", "power", ["spectrum", "conjugate"], of=COMPLEX)
    g.node("Cast", "energy", ["power"], of=None, SrcT=COMPLEX, DstT=FLOAT)
    g.node("IRFFT", "again", ["spectrum", g.integers([length])], of=None)
    z = torch.fft.rfft(x * window, length)
    return (given(g, "magnitude", "real", "imaginary", "cosine", "sine", "energy", "again"), {"x": x},
            {"magnitude": z.abs(), "real": z.real, "imaginary": z.imag, "cosine": z.angle().cos(), "sine": z.angle().sin(), "energy": z.abs() ** 2, "again": torch.fft.irfft(z, length)})


def complex_arithmetic(rows, columns):
    """Parts that are moved, joined and divided; transforms of two axes."""
    g, a, b = tf.Graph(), torch.randn(rows, columns), torch.randn(rows, columns)
    for name, x in (("a", a), ("b", b)):
        g.placeholder(name, x.shape)
    g.node("Complex", "z", ["a", "b"], of=None)
    g.node("Transpose", "turned", ["z", g.integers([1, 0])], of=COMPLEX)
    g.node("Reshape", "flat", ["turned", g.integers([rows * columns])], of=COMPLEX)
    g.node("Reshape", "back", ["flat", g.integers([rows, columns])], of=COMPLEX)
    g.node("Cast", "wide", ["a"], of=None, SrcT=FLOAT, DstT=COMPLEX)
    g.node("AddV2", "sum", ["back", "wide"], of=COMPLEX)
    g.node("RealDiv", "quotient", ["sum", "z"], of=COMPLEX)
    g.node("ComplexAbs", "length", ["quotient"], of=None)
    g.node("FFT2D", "there", ["z"], of=None)
    g.node("IFFT2D", "here", ["there"], of=None)
    g.node("Real", "same", ["here"], of=None)
    g.node("Imag", "field", ["there"], of=None)
    z = torch.complex(a, b)
    quotient = (z.T.reshape(rows, columns) + a) / z
    return given(g, "length", "same", "field"), {"a": a, "b": b}, {"length": quotient.abs(), "same": a, "field": torch.fft.fft2(z).imag}


def diagonals(rows, columns):
    g, x, d = tf.Graph(), torch.randn(2, rows, columns), torch.randn(2, min(rows, columns))
    g.placeholder("x", x.shape)
    g.placeholder("d", d.shape)
    zero = lambda: g.constant(np.float32(0))
    g.node("MatrixDiag", "made", ["d"])
    g.node("MatrixDiagV3", "newer", ["d", g.constant(np.int32(0)), g.constant(np.int32(-1)), g.constant(np.int32(-1)), zero()], align="RIGHT_LEFT")
    g.node("MatrixDiagPart", "taken", ["x"])
    g.node("MatrixDiagPartV3", "taken3", ["x", g.constant(np.int32(0)), zero()], align="RIGHT_LEFT")
    g.node("MatrixSetDiagV3", "set", ["x", "d", g.constant(np.int32(0))], align="RIGHT_LEFT")
    diagonal = x.diagonal(0, 1, 2)
    return (given(g, "made", "newer", "taken", "taken3", "set"), {"x": x, "d": d},
            {"made": torch.diag_embed(d), "newer": torch.diag_embed(d), "taken": diagonal, "taken3": diagonal, "set": torch.diagonal_scatter(x, d, 0, 1, 2)})


def segments(rows, columns):
    numbers = np.sort(np.random.default_rng(rows).integers(0, 3, rows)).astype(np.int32)
    numbers[-1] = 3
    g, x = tf.Graph(), torch.randn(rows, columns)
    g.placeholder("x", x.shape)
    g.placeholder("numbers", [rows], np.int32)
    g.node("SegmentSum", "sum", ["x", g.constant(numbers)], Tindices=np.dtype(np.int32))
    g.node("SegmentMean", "mean", ["x", g.constant(numbers)], Tindices=np.dtype(np.int32))
    shuffled = torch.from_numpy(numbers[::-1].copy())
    g.node("UnsortedSegmentSum", "unsorted", ["x", "numbers", g.constant(np.int32(5))], Tindices=np.dtype(np.int32))
    hot = F.one_hot(torch.from_numpy(numbers).long(), 4).float().T
    other = F.one_hot(shuffled.long(), 5).float().T
    return (given(g, "sum", "mean", "unsorted"), {"x": x, "numbers": shuffled},
            {"sum": hot @ x, "mean": hot @ x / hot.sum(1, keepdim=True).clamp(min=1), "unsorted": other @ x})


def elements(rows, columns):
    g, x, y = tf.Graph(), torch.randn(rows, columns), torch.randn(rows, columns)
    x[0, 0] = y[0, 0] = 0
    for name, value in (("x", x), ("y", y)):
        g.placeholder(name, value.shape)
    positive = y.abs()
    g.node("Abs", "positive", ["y"])
    g.node("Atan2", "angle", ["x", "y"])
    g.node("Xlogy", "xlogy", ["x", "positive"])
    g.node("Xlog1py", "xlog1py", ["x", "positive"])
    g.node("Xdivy", "xdivy", ["x", "y"])
    zero = g.constant(np.float32(0))
    g.node("Greater", "a", ["x", zero])
    g.node("Greater", "b", ["y", zero])
    g.node("LogicalXor", "xor", ["a", "b"], of=None)
    bounds = [-1.0, -0.25, 0.0, 0.7]
    g.node("Bucketize", "bucket", ["x"], boundaries=bounds)
    return (given(g, "angle", "xlogy", "xlog1py", "xdivy", "xor", "bucket"), {"x": x, "y": y},
            {"angle": torch.atan2(x, y), "xlogy": torch.xlogy(x, positive), "xlog1py": torch.special.xlog1py(x, positive),
             "xdivy": torch.where(x == 0, torch.zeros(()), x / y), "xor": (x > 0) ^ (y > 0),
             "bucket": torch.bucketize(x, torch.tensor(bounds), right=True).int()})


def running(rows, columns):
    g, x = tf.Graph(), torch.rand(rows, columns) + 0.5
    g.placeholder("x", x.shape)
    axis = g.constant(np.int32(1))
    g.node("Cumprod", "all", ["x", axis])
    g.node("Cumprod", "before", ["x", axis], exclusive=True)
    g.node("Cumprod", "after", ["x", axis], exclusive=True, reverse=True)
    ones = torch.ones(rows, 1)
    before = torch.cat([ones, x.cumprod(1)[:, :-1]], 1)
    after = torch.cat([x.flip(1).cumprod(1).flip(1)[:, 1:], ones], 1)
    return given(g, "all", "before", "after"), {"x": x}, {"all": x.cumprod(1), "before": before, "after": after}


def stitched(rows, columns):
    """Rows that were dealt to two hands, and put back; row 0 comes twice."""
    g, a, b = tf.Graph(), torch.randn(rows, columns), torch.randn(rows, 1, columns)
    g.placeholder("a", a.shape)
    g.placeholder("b", b.shape)
    even, odd = np.arange(rows, dtype=np.int32) * 2, np.arange(rows, dtype=np.int32)[:, None] * 2 + 1
    odd[-1] = 0
    g.node("DynamicStitch", "y", [g.constant(even), g.constant(odd), "a", "b"])
    expected = torch.zeros(2 * rows - 1, columns)
    expected[even] = a
    expected[odd[:, 0]] = b[:, 0]
    return given(g, "y"), {"a": a, "b": b}, {"y": expected}


def resized(rows, columns):
    g, x = tf.Graph(), torch.randn(2, 3, rows, columns)
    g.placeholder("x", (2, rows, columns, 3))
    larger, smaller = [2 * rows + 1, 3 * columns], [rows - 2, columns // 2]
    g.node("ResizeBicubic", "cubic", ["x", g.integers(larger)], half_pixel_centers=True)
    g.node("ResizeBicubic", "corners", ["x", g.integers(larger)], align_corners=True)
    g.node("ResizeArea", "area", ["x", g.integers(smaller)])
    # Means of parts of elements are means of as many whole ones when each element stands there as often as there are results.
    fine = x.repeat_interleave(smaller[0], 2).repeat_interleave(smaller[1], 3)
    last = lambda y: y.permute(0, 2, 3, 1)
    return (given(g, "cubic", "corners", "area"), {"x": last(x)},
            {"cubic": last(F.interpolate(x, larger, mode="bicubic", antialias=True)), "corners": last(F.interpolate(x, larger, mode="bicubic", align_corners=True)),
             "area": last(F.avg_pool2d(fine, (rows, columns)))})


def sampled(image, y, x, outside):
    """A bilinear sample of an image [rows, columns, channels]."""
    rows, columns, _ = image.shape
    if not (0 <= y <= rows - 1 and 0 <= x <= columns - 1):
        return torch.full((image.shape[2],), outside)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, rows - 1), min(left + 1, columns - 1)
    down, along = y - top, x - left
    return (image[top, left] * (1 - along) + image[top, right] * along) * (1 - down) + (image[bottom, left] * (1 - along) + image[bottom, right] * along) * down


def cropped(rows, columns):
    """Boxes inside, across the border, turned round and outside of images."""
    g, x = tf.Graph(), torch.randn(2, rows, columns, 3)
    boxes = torch.tensor([[0.1, 0.2, 0.7, 0.9], [-0.3, 0.5, 0.6, 1.4], [0.8, 0.9, 0.2, 0.1], [1.2, 1.3, 1.5, 1.6]])
    which = torch.tensor([0, 1, 1, 0], dtype=torch.int32)
    g.placeholder("x", x.shape)
    g.placeholder("boxes", boxes.shape)
    g.placeholder("which", which.shape, np.int32)
    size, expected = [3, 4], torch.zeros(4, 3, 4, 3)
    g.node("CropAndResize", "y", ["x", "boxes", "which", g.integers(size)], extrapolation_value=0.5)
    for i, (y1, x1, y2, x2) in enumerate(boxes.tolist()):
        for r in range(size[0]):
            for c in range(size[1]):
                y, along = y1 * (rows - 1) + r * (y2 - y1) * (rows - 1) / 2, x1 * (columns - 1) + c * (x2 - x1) * (columns - 1) / 3
                expected[i, r, c] = sampled(x[which[i]], y, along, 0.5)
    return given(g, "y"), {"x": x, "boxes": boxes, "which": which}, {"y": expected}


def blocks(rows, columns):
    """The older operators, which have one size for rows and columns."""
    g, x = tf.Graph(), torch.randn(1, rows, columns, 3)
    g.placeholder("x", x.shape)
    borders = g.constant(np.array([[0, rows % 2], [0, columns % 2]], np.int32))
    g.node("SpaceToBatch", "apart", ["x", borders], block_size=2)
    g.node("BatchToSpace", "back", ["apart", borders], block_size=2)
    wide = F.pad(x, (0, 0, 0, columns % 2, 0, rows % 2))
    apart = torch.cat([wide[:, i::2, j::2] for i in (0, 1) for j in (0, 1)])
    return given(g, "apart", "back"), {"x": x}, {"apart": apart, "back": x}


GRAPHS = {f"{kind.__name__}.{a}x{b}": lambda kind=kind, a=a, b=b: kind(a, b)
          for kind, sizes in ((spectrum, [(4, 24), (3, 32), (7, 17)]), (complex_arithmetic, [(4, 4), (3, 8), (7, 5)]), (diagonals, [(4, 4), (3, 6), (7, 5)]),
                              (segments, [(8, 4), (12, 32), (13, 5)]), (elements, [(4, 8), (2, 32), (7, 5)]), (running, [(2, 8), (3, 32), (2, 13)]),
                              (stitched, [(2, 4), (8, 32), (7, 5)]), (resized, [(4, 8), (8, 8), (7, 11)]), (cropped, [(8, 8), (6, 12), (7, 11)]),
                              (blocks, [(4, 6), (8, 8), (7, 5)]))
          for a, b in sizes}
