# SPDX-License-Identifier: Apache-2.0
"""TorchScript of operators that the frontend defines by others (definitions_*.cpp), and of what few models have; each for three shapes, one of them odd. `CASES` has a
function and its inputs for each, for torchscript.py."""
import torch
import torch.nn.functional as F
from torch import nn

SHAPES = [(4, 8), (3, 7), (5, 16)]
CASES = {}


def case(name, function, *inputs):
    CASES[f"{name}.{sum(key.startswith(name + '.') for key in CASES)}"] = (function, list(inputs))


def unpooled(pool, unpool, x):
    values, places = pool(x, 2, 2, return_indices=True)
    return unpool(values, places, 2, 2)


def scattered(x, i, s):
    kinds = [("sum", True), ("mean", True), ("amax", True), ("amin", False), ("sum", False), ("prod", False)]
    return tuple(x.scatter_reduce(1, i, s, kind, include_self=inside) for kind, inside in kinds)


def elements():
    for rows, columns in SHAPES:
        x, y, p = torch.randn(rows, columns), torch.randn(rows, columns), torch.rand(rows, columns) * 0.8 + 0.1
        case("functions", lambda p: (torch.logit(p), torch.logit(p, 0.2), torch.deg2rad(p), torch.rad2deg(p), torch.special.entr(p), torch.special.ndtr(p), torch.erfinv(p), torch.float_power(p, 2.5).float(),
                                     torch.positive(p), F.rrelu(p - 0.5), torch.ravel(p)), p)
        case("signs", lambda x, y: (torch.sinc(x.round()), torch.sinc(x), torch.signbit(x), torch.copysign(x, y), torch.copysign(x, -1.0), torch.heaviside(x.round(), y), torch.angle(x), torch.isneginf(x / 0), torch.isposinf(x / 0)), x, y)
        case("pairs", lambda x, y: (torch.fmax(x, y / y.round()), torch.fmin(x, y), torch.ldexp(x, y.round()), torch.logaddexp2(x, y), torch.xlogy(x.round(), y.abs() + 1), torch.special.xlog1py(x.round(), y.abs()), torch.dist(x, y),
                                    torch.isin(x.round(), torch.tensor([0.0, 1.0])), F.pairwise_distance(x, y, p=3)), x, y)
        case("running", lambda x: (*torch.cummax((x * 2).round(), 1), *torch.cummin((x * 2).round(), 0), torch.logcumsumexp(x, 1), torch.diff(x), torch.diff(x, n=2, dim=0), torch.trapz(x), torch.cumulative_trapezoid(x, dim=0)), x)
        case("statistics", lambda x: (torch.cov(x), torch.corrcoef(x), *torch.aminmax(x, dim=1), torch.nansum(x / x.round().clamp(-1, 1), 1), torch.nanmean(x, 1), torch.norm(x, p=3, dim=1), torch.linalg.norm(x, dim=1), torch.linalg.matrix_norm(x),
                                      torch.linalg.matrix_norm(x, 1), torch.renorm(x, 2, 0, 1.0), torch.pdist(x)), x)
        case("losses", lambda x, y: (F.margin_ranking_loss(x, y, torch.sign(x), 0.1), F.hinge_embedding_loss(x, torch.sign(y)), F.triplet_margin_loss(x, y, x + 1, swap=True), F.cosine_embedding_loss(x, y, torch.ones(x.shape[0])),
                                     F.poisson_nll_loss(x, y.abs()), F.poisson_nll_loss(x.abs(), y.abs() * 3, log_input=False, full=True)), x, y)
        case("fake", lambda x, s=torch.linspace(0.02, 0.1, columns), z=torch.zeros(columns, dtype=torch.int32): (torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -128, 127), torch.fake_quantize_per_channel_affine(x, s, z, 1, -128, 127)), x)


def arrangement():
    for rows, columns in SHAPES:
        x, y, i = torch.randn(rows, columns), torch.randn(rows, columns), torch.randint(0, columns, (rows, 3))
        case("turned", lambda x: (torch.fliplr(x), torch.flipud(x), x.mH, x.adjoint(), torch.narrow_copy(x, 1, 2, 3), *torch.hsplit(x, [2, 4]), torch.atleast_3d(x), torch.roll(x, 5), torch.fft.fftshift(x), torch.fft.ifftshift(x, dim=1), torch.msort(x)), x)
        case("picked", lambda x, y, i: (torch.take(x, i), torch.take_along_dim(x, y.argsort(1), 1), torch.select_scatter(x, y[0], 0, 1), torch.slice_scatter(x, y[:, :2], 1, 1, 5, 2), torch.diagonal_scatter(x, y[0, :x.shape[0]])), x, y, i)
        case("reduced", scattered, x, i, torch.randn(rows, 3))
        case("joined", lambda x, y: (torch.block_diag(x, y), torch.cartesian_prod(x[0], y[0]), (x * y).sum_to_size(1, x.shape[1]), torch.kron(x, y[:2, :3]), torch.vander(x[0], 3)), x, y)
        case("windows", lambda x, n=columns: (x * torch.hann_window(n), x * torch.hamming_window(n, periodic=False), x * torch.blackman_window(n), x * torch.bartlett_window(n), x * torch.kaiser_window(n, True, 8.0), x * torch.fft.fftfreq(n, 0.5),
                                              torch.fft.rfftfreq(n) * x[0, 0], x * torch.logspace(0, 1, n), x[tuple(torch.tril_indices(3, 3))], x[tuple(torch.triu_indices(3, 4, 1))]), x)
        case("repeated", lambda x, r=torch.arange(rows) % 3: x.repeat_interleave(r, 0), x)


def matrices():
    for rows, columns in SHAPES:
        x, y = torch.randn(rows, columns), torch.randn(rows, columns)
        case("products", lambda x, y: (torch.addr(x, y[:, 0], y[0]), torch.inner(x, y), torch.vdot(x[0], y[1]), torch.tensordot(x, y, dims=([0], [0])), torch.linalg.multi_dot([x, y.t(), x]), torch.cross(x[:, :3], y[:, :3], dim=1)), x, y)
        case("bilinear", nn.Bilinear(columns, columns + 1, 6), x, torch.randn(rows, columns + 1))
        case("batches", lambda x, a, b: torch.addbmm(x, a, b, beta=0.5, alpha=2), x, torch.randn(2, rows, 3), torch.randn(2, 3, columns))
    for batch, size in [(1, 2), (2, 3), (3, 4)]:
        a, b = torch.eye(size) + torch.randn(batch, size, size) * 0.1, torch.randn(batch, size, 2)
        case("inverses", lambda a, b: (torch.inverse(a), torch.det(a), *torch.slogdet(a), torch.linalg.solve(a, b), torch.matrix_power(a, 3), torch.matrix_exp(a)), a, b)


def images():
    for n, c, h, w in [(1, 4, 8, 8), (2, 3, 10, 6), (1, 5, 4, 14)]:
        x = torch.randn(n, c, h, w)
        case("unpooled", lambda x: (unpooled(F.max_pool2d, F.max_unpool2d, x), unpooled(F.max_pool1d, F.max_unpool1d, x[:, :, 0]), unpooled(F.max_pool3d, F.max_unpool3d, torch.stack([x, x + 1], 2))), x)
        case("smoothed", lambda x: F.interpolate(x, (3, 5), mode="bicubic", antialias=True), x)
    for batch, length, width in [(1, 4, 8), (2, 3, 7), (3, 5, 16)]:
        x, y = torch.randn(batch, length, width), torch.randn(batch, length, width)
        case("complex_functions", lambda x, y: (lambda z: (torch.view_as_real(torch.exp(z)), torch.view_as_real(torch.log(z)), torch.view_as_real(torch.sqrt(z)), torch.view_as_real(z ** 3), torch.view_as_real(z.mT)))(torch.complex(x, y)), x, y)


def regions():
    """torchvision's; none where it is missing."""
    try:
        from torchvision.ops import roi_pool
    except ImportError:
        return
    for n, c, (h, w) in [(1, 4, (8, 8)), (2, 3, (7, 9)), (1, 5, (13, 11))]:
        first = torch.rand(3, 2) * torch.tensor([w / 2, h / 2])
        boxes = torch.cat([torch.arange(3)[:, None].float() % n, first, first + torch.rand(3, 2) * torch.tensor([w / 2, h / 2])], 1)
        case("region_pools", lambda x, b: roi_pool(x, b, (3, 2)), torch.randn(n, c, h, w), boxes)


for make in (elements, arrangement, matrices, images, regions):
    make()
