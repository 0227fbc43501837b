// SPDX-License-Identifier: Apache-2.0
// What moves, picks and places elements, and makes lists of numbers.
#include "definition_texts.hpp"

namespace buda::torchscript {
namespace {

constexpr std::string_view kArrangement = R"py(
def ravel(self):
  return torch.reshape(self, [-1])

def fliplr(self):
  return torch.flip(self, [1])

def flipud(self):
  return torch.flip(self, [0])

def msort(self):
  return torch.sort(self, 0)[0]

def mH(self):
  return torch.transpose(self, -2, -1)

def adjoint(self):
  return torch.transpose(self, -2, -1)

def matrix_H(self):
  return torch.t(self)

def moveaxis(self, source, destination):
  return torch.movedim(self, source, destination)

def narrow_copy(self, dim, start, length):
  return torch.clone(torch.narrow(self, dim, start, length))

def unsafe_split_with_sizes(self, split_sizes, dim=0):
  return torch.split_with_sizes(self, split_sizes, dim)

def hsplit(self, indices):
  return torch.tensor_split(self, indices, 0 if torch.dim(self) == 1 else 1)

def vsplit(self, indices):
  return torch.tensor_split(self, indices, 0)

def dsplit(self, indices):
  return torch.tensor_split(self, indices, 2)

def _at_least(self, rank):
  x = self
  if torch.dim(x) == 0:
    x = torch.reshape(x, [1])
  if torch.dim(x) == 1 and rank > 1:
    x = torch.unsqueeze(x, 0)
  if torch.dim(x) == 2 and rank > 2:
    x = torch.unsqueeze(x, -1)
  return x

def _all_at_least(values, rank):
  if isinstance(values, Tensor):
    return torch._at_least(values, rank)
  out = annotate(List[Tensor], [])
  for value in values:
    torch.append(out, torch._at_least(value, rank))
  return out

def atleast_1d(self):
  return torch._all_at_least(self, 1)

def atleast_2d(self):
  return torch._all_at_least(self, 2)

def atleast_3d(self):
  return torch._all_at_least(self, 3)

def take(self, index):
  found = torch.index_select(torch.reshape(self, [-1]), 0, torch.reshape(index, [-1]))
  return torch.reshape(found, torch.size(index))

def take_along_dim(self, indices, dim=None):
  if dim is None:
    return torch.take(self, indices)
  rank = torch.dim(self)
  axis = dim + rank if dim < 0 else dim
  whole = annotate(List[int], [])
  places = annotate(List[int], [])
  for i in range(rank):
    a = torch.size(self, i)
    b = torch.size(indices, i)
    torch.append(whole, a if i == axis or b == 1 else b)
    torch.append(places, b if i == axis or a == 1 else a)
  return torch.gather(torch.expand(self, whole), axis, torch.expand(indices, places))

def sum_to_size(self, size):
  x = self
  for i in range(torch.dim(self) - len(size)):
    x = torch.sum(x, [0])
  for i in range(len(size)):
    if size[i] == 1 and torch.size(x, i) != 1:
      x = torch.sum(x, [i], True)
  return x

def select_scatter(self, src, dim, index):
  y = torch.clone(self)
  torch.copy_(torch.select(y, dim, index), src)
  return y

def slice_scatter(self, src, dim=0, start=None, end=None, step=1):
  y = torch.clone(self)
  torch.copy_(torch.slice(y, dim, start, end, step), src)
  return y

def diagonal_scatter(self, src, offset=0, dim1=0, dim2=1):
  if torch.dim(self) != 2 or offset != 0 or dim1 != 0 or dim2 != 1:
    torch._refuse("a diagonal_scatter into other places than the main diagonal of a matrix")
  rows = torch.size(self, 0)
  columns = torch.size(self, 1)
  count = torch.size(src, 0)
  along = torch.diag_embed(src)
  along = torch.constant_pad_nd(along, [0, columns - count, 0, rows - count], 0)
  return torch.where(torch.to(torch.eye(rows, columns), 11), along, self)

def scatter_reduce(self, dim, index, src, reduce, include_self=True):
  rank = torch.dim(self)
  corner = src
  if not include_self:
    start = 1. if reduce == "prod" else (-inf if reduce == "amax" else (inf if reduce == "amin" else 0.))
    base = torch.scatter(self, dim, index, start)
  else:
    base = self
  for i in range(rank):
    if torch.size(index, i) != torch.size(src, i):
      corner = torch.slice(corner, i, 0, torch.size(index, i), 1)
  if reduce == "mean":
    count = torch.ones_like(self)
    if not include_self:
      count = torch.scatter(count, dim, index, 0.)
    count = torch.scatter_add(count, dim, index, torch.ones_like(corner))
    return torch.scatter_add(base, dim, index, corner) / torch.clamp_min(count, 1.)
  if reduce == "sum":
    return torch.scatter_add(base, dim, index, corner)
  return torch._scatter_with(base, dim, index, corner, reduce)

def block_diag(tensors):
  width = 0
  for value in tensors:
    width = width + torch.size(torch._at_least(value, 2), 1)
  rows = annotate(List[Tensor], [])
  at = 0
  for value in tensors:
    block = torch._at_least(value, 2)
    own = torch.size(block, 1)
    torch.append(rows, torch.constant_pad_nd(block, [at, width - at - own], 0))
    at = at + own
  return torch.cat(rows, 0)

def cartesian_prod(tensors):
  if len(tensors) == 1:
    return tensors[0]
  columns = annotate(List[Tensor], [])
  for value in torch.meshgrid(tensors, indexing="ij"):
    torch.append(columns, torch.reshape(value, [-1]))
  return torch.stack(columns, 1)

def vander(x, N=None, increasing=False):
  count = torch.size(x, 0) if N is None else N
  columns = annotate(List[Tensor], [])
  for i in range(count):
    torch.append(columns, torch.pow(x, i if increasing else count - 1 - i))
  return torch.stack(columns, 1)

def _triangle_indices(row, col, offset, lower):
  rows = annotate(List[int], [])
  columns = annotate(List[int], [])
  for i in range(row):
    for j in range(col):
      if (j <= i + offset) if lower else (j >= i + offset):
        torch.append(rows, i)
        torch.append(columns, j)
  return torch.tensor([rows, columns])

def tril_indices(row, col, offset=0, dtype=None, layout=None, device=None, pin_memory=None):
  return torch._triangle_indices(row, col, offset, True)

def triu_indices(row, col, offset=0, dtype=None, layout=None, device=None, pin_memory=None):
  return torch._triangle_indices(row, col, offset, False)

def logspace(start, end, steps, base=10., dtype=None, layout=None, device=None, pin_memory=None):
  return torch.pow(torch.tensor(float(base)), torch.linspace(start, end, steps))

def _cosines(window_length, periodic, factor):
  points = window_length if periodic else window_length - 1
  return torch.cos(torch.arange(window_length, dtype=6) * (6.283185307179586 * factor / points))

def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, dtype=None, layout=None, device=None, pin_memory=None):
  if window_length < 2:
    return torch.ones([window_length])
  return alpha - torch._cosines(window_length, periodic, 1) * beta

def hann_window(window_length, periodic=True, dtype=None, layout=None, device=None, pin_memory=None):
  return torch.hamming_window(window_length, periodic, 0.5, 0.5)

def blackman_window(window_length, periodic=True, dtype=None, layout=None, device=None, pin_memory=None):
  if window_length < 2:
    return torch.ones([window_length])
  return 0.42 - torch._cosines(window_length, periodic, 1) * 0.5 + torch._cosines(window_length, periodic, 2) * 0.08

def bartlett_window(window_length, periodic=True, dtype=None, layout=None, device=None, pin_memory=None):
  if window_length < 2:
    return torch.ones([window_length])
  points = window_length if periodic else window_length - 1
  return 1 - torch.abs(torch.arange(window_length, dtype=6) * (2. / points) - 1)

def _bessel(x):
  squares = torch.square(x * 0.5)
  term = torch.ones_like(x)
  sum = term
  for i in range(1, 41):
    term = term * squares / (i * i)
    sum = sum + term
  return sum

def kaiser_window(window_length, periodic=True, beta=12., dtype=None, layout=None, device=None, pin_memory=None):
  if window_length < 2:
    return torch.ones([window_length])
  if beta > 40:
    torch._refuse("a kaiser_window with a beta above 40")
  points = window_length if periodic else window_length - 1
  at = torch.arange(window_length, dtype=7) * (2. / points) - 1
  inside = torch.sqrt(torch.clamp_min(1 - torch.square(at), 0.)) * beta
  return torch.to(torch._bessel(inside) / torch._bessel(torch.tensor(float(beta))), 6)

def _shifts(sizes, axes, back):
  out = annotate(List[int], [])
  for axis in axes:
    torch.append(out, (sizes[axis] + 1) // 2 if back else sizes[axis] // 2)
  return out

def _all_axes(self, dim):
  if isinstance(dim, int):
    return [dim]
  if dim is not None:
    return dim
  out = annotate(List[int], [])
  for i in range(torch.dim(self)):
    torch.append(out, i)
  return out

def fft_fftshift(self, dim=None):
  axes = torch._all_axes(self, dim)
  return torch.roll(self, torch._shifts(torch.size(self), axes, False), axes)

def fft_ifftshift(self, dim=None):
  axes = torch._all_axes(self, dim)
  return torch.roll(self, torch._shifts(torch.size(self), axes, True), axes)

def fft_fftfreq(n, d=1., dtype=None, layout=None, device=None, pin_memory=None):
  half = (n + 1) // 2
  return torch.cat([torch.arange(half, dtype=6), torch.arange(-(n // 2), 0, dtype=6)], 0) * (1. / (n * d))

def fft_rfftfreq(n, d=1., dtype=None, layout=None, device=None, pin_memory=None):
  return torch.arange(n // 2 + 1, dtype=6) * (1. / (n * d))

def pdist(self, p=2.):
  rows = torch.size(self, 0)
  places = torch._triangle_indices(rows, rows, 1, False)
  a = torch.index_select(self, 0, torch.select(places, 0, 0))
  b = torch.index_select(self, 0, torch.select(places, 0, 1))
  return torch.norm(a - b, p, [1])
)py";

}  // namespace

std::string_view arrangement_definitions() { return kArrangement; }

}  // namespace buda::torchscript
