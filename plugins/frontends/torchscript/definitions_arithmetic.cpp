// SPDX-License-Identifier: Apache-2.0
// Functions of elements, and reductions.
#include "definition_texts.hpp"

namespace buda::torchscript {
namespace {

constexpr std::string_view kArithmetic = R"py(
def positive(self):
  return torch.alias(self)

def deg2rad(self):
  return self * 0.017453292519943295

def rad2deg(self):
  return self * 57.29577951308232

def logit(self, eps=None):
  x = self
  if eps is not None:
    x = torch.clamp(self, eps, 1 - eps)
  return torch.log(x / (1 - x))

def xlogy(self, other):
  return torch.where(torch.eq(self, 0), torch.zeros_like(other) if isinstance(other, Tensor) else torch.tensor(0.), self * torch.log(other))

def special_xlog1py(self, other):
  return torch.xlogy(self, other + 1)

def special_entr(self):
  inside = torch.where(torch.eq(self, 0), torch.zeros_like(self), -(self * torch.log(torch.abs(self))))
  return torch.where(torch.lt(self, 0), torch.full_like(self, -inf), inside)

def special_ndtr(self):
  return (torch.erf(self * 0.7071067811865476) + 1) * 0.5

def sinc(self):
  at = self * 3.141592653589793
  none = torch.eq(self, 0)
  return torch.where(none, torch.ones_like(at), torch.sin(at) / torch.where(none, torch.ones_like(at), at))

def signbit(self):
  below = torch.lt(self, 0)
  if torch.is_floating_point(self):
    below = torch.logical_or(below, torch.eq(torch.reciprocal(self), -inf))
  return below

def copysign(self, other):
  size = torch.abs(self)
  if isinstance(other, Tensor):
    return torch.where(torch.signbit(other), torch.neg(size), size)
  return torch.neg(size) if other < 0 else size

def float_power(self, exponent):
  return torch.pow(torch.to(self, 7) if isinstance(self, Tensor) else self, torch.to(exponent, 7) if isinstance(exponent, Tensor) else float(exponent))

def ldexp(self, other):
  return self * torch.exp2(other)

def logaddexp2(self, other):
  return torch.logaddexp(self * 0.6931471805599453, other * 0.6931471805599453) * 1.4426950408889634

def heaviside(self, values):
  return torch.where(torch.eq(self, 0), values, torch.type_as(torch.gt(self, 0), self))

def fmax(self, other):
  return torch.where(torch.isnan(self), other, torch.where(torch.isnan(other), self, torch.maximum(self, other)))

def fmin(self, other):
  return torch.where(torch.isnan(self), other, torch.where(torch.isnan(other), self, torch.minimum(self, other)))

def isneginf(self):
  return torch.eq(self, -inf)

def isposinf(self):
  return torch.eq(self, inf)

def isreal(self):
  return torch.ones_like(self, dtype=11)

def angle(self):
  turn = torch.where(torch.lt(self, 0), torch.full_like(self, 3.141592653589793), torch.zeros_like(self))
  return torch.where(torch.isnan(self), self, turn)

def rrelu(self, lower=0.125, upper=0.3333333333333333, training=False, generator=None):
  if training:
    torch._refuse("rrelu in training mode, where its slopes are random")
  return torch.leaky_relu(self, (lower + upper) / 2)

def _polynomial(x, factors):
  y = factors[0]
  for i in range(1, len(factors)):
    y = y * x + factors[i]
  return y

def erfinv(self):
  w = -torch.log((1 - self) * (1 + self))
  inner = torch._polynomial(w - 2.5, [2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
      -0.00125372503, -0.00417768164, 0.246640727, 1.50140941])
  far = torch.sqrt(torch.clamp_min(w, 5.)) - 3
  outer = torch._polynomial(far, [-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
      -0.0076224613, 0.00943887047, 1.00167406, 2.83297682])
  y = torch.where(torch.lt(w, 5.), inner, outer) * self
  return torch.where(torch.eq(torch.abs(self), 1), self * inf, y)

def special_erfinv(self):
  return torch.erfinv(self)

def isin(elements, test_elements, assume_unique=False, invert=False):
  x = elements if isinstance(elements, Tensor) else torch.tensor(elements)
  among = torch.reshape(test_elements, [-1]) if isinstance(test_elements, Tensor) else torch.tensor([test_elements])
  found = torch.any(torch.eq(torch.unsqueeze(x, -1), among), -1)
  return torch.logical_not(found) if invert else found

def aminmax(self, dim=None, keepdim=False):
  if dim is None:
    return (torch.min(self), torch.max(self))
  return (torch.amin(self, [dim], keepdim), torch.amax(self, [dim], keepdim))

def nansum(self, dim=None, keepdim=False, dtype=None):
  return torch.sum(torch.where(torch.isnan(self), torch.zeros_like(self), self), dim, keepdim, dtype=dtype)

def nanmean(self, dim=None, keepdim=False, dtype=None):
  there = torch.type_as(torch.logical_not(torch.isnan(self)), self)
  return torch.nansum(self, dim, keepdim, dtype=dtype) / torch.sum(there, dim, keepdim)

def dist(self, other, p=2):
  return torch.norm(self - other, p)

def _running_extreme(self, axis, largest):
  size = torch.size(self, axis)
  value = self
  step = 1
  while step < size:
    early = torch.slice(value, axis, 0, size - step, 1)
    late = torch.slice(value, axis, step, size, 1)
    further = torch.maximum(late, early) if largest else torch.minimum(late, early)
    value = torch.cat([torch.slice(value, axis, 0, step, 1), further], axis)
    step = step * 2
  return value

def _with_places(self, dim, largest):
  rank = torch.dim(self)
  if rank == 0:
    return (self, torch.tensor(0))
  axis = dim + rank if dim < 0 else dim
  value = torch._running_extreme(self, axis, largest)
  numbers = torch.arange(torch.size(self, axis), dtype=6)
  for i in range(rank - 1 - axis):
    numbers = torch.unsqueeze(numbers, -1)
  places = torch.where(torch.eq(self, value), numbers, torch.zeros_like(numbers))
  return (value, torch.to(torch._running_extreme(places, axis, True), 4))

def cummax(self, dim):
  return torch._with_places(self, dim, True)

def cummin(self, dim):
  return torch._with_places(self, dim, False)

def logcumsumexp(self, dim):
  rank = torch.dim(self)
  if rank == 0:
    return self
  axis = dim + rank if dim < 0 else dim
  size = torch.size(self, axis)
  value = self
  step = 1
  while step < size:
    early = torch.slice(value, axis, 0, size - step, 1)
    late = torch.slice(value, axis, step, size, 1)
    value = torch.cat([torch.slice(value, axis, 0, step, 1), torch.logaddexp(late, early)], axis)
    step = step * 2
  return value

def diff(self, n=1, dim=-1, prepend=None, append=None):
  x = self
  if prepend is not None:
    x = torch.cat([prepend, x], dim)
  if append is not None:
    x = torch.cat([x, append], dim)
  for i in range(n):
    size = torch.size(x, dim)
    x = torch.slice(x, dim, 1, size, 1) - torch.slice(x, dim, 0, size - 1, 1)
  return x

def _trapezoids(y, x, dx, dim):
  size = torch.size(y, dim)
  sums = (torch.slice(y, dim, 1, size, 1) + torch.slice(y, dim, 0, size - 1, 1)) * 0.5
  if x is None:
    return sums * dx
  if torch.dim(x) == 1:
    widths = torch.diff(x)
    for i in range(torch.dim(y) - 1 - (dim + torch.dim(y) if dim < 0 else dim)):
      widths = torch.unsqueeze(widths, -1)
    return sums * widths
  return sums * torch.diff(x, 1, dim)

def trapezoid(y, x=None, dx=1., dim=-1):
  return torch.sum(torch._trapezoids(y, x, dx, dim), dim)

def trapz(y, x=None, dx=1., dim=-1):
  return torch.sum(torch._trapezoids(y, x, dx, dim), dim)

def cumulative_trapezoid(y, x=None, dx=1., dim=-1):
  return torch.cumsum(torch._trapezoids(y, x, dx, dim), dim)

def cov(self, correction=1, fweights=None, aweights=None):
  if (fweights is not None) or (aweights is not None):
    torch._refuse("a covariance with weights")
  x = torch.unsqueeze(self, 0) if torch.dim(self) == 1 else self
  centred = x - torch.mean(x, [1], True)
  product = torch.matmul(centred, torch.t(centred)) / (torch.size(x, 1) - correction)
  return torch.reshape(product, []) if torch.dim(self) == 1 else product

def corrcoef(self):
  if torch.dim(self) < 2:
    torch._refuse("the correlation of one row with itself")
  c = torch.cov(self)
  deviation = torch.sqrt(torch.diagonal(c, 0, 0, 1))
  scaled = c / torch.unsqueeze(deviation, 1) / torch.unsqueeze(deviation, 0)
  return torch.clamp(scaled, -1., 1.)

def renorm(self, p, dim, maxnorm):
  rank = torch.dim(self)
  kept = dim + rank if dim < 0 else dim
  axes = annotate(List[int], [])
  for i in range(rank):
    if i != kept:
      torch.append(axes, i)
  norm = torch.norm(self, p, axes, True)
  factor = torch.where(torch.gt(norm, maxnorm), maxnorm / (norm + 1e-07), torch.ones_like(norm))
  return self * factor

def fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max):
  q = torch.clamp(torch.round(self / scale) + zero_point, quant_min, quant_max)
  return (q - zero_point) * scale

def fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max):
  rank = torch.dim(self)
  s = scale
  z = zero_point
  for i in range(rank - 1 - (axis + rank if axis < 0 else axis)):
    s = torch.unsqueeze(s, -1)
    z = torch.unsqueeze(z, -1)
  q = torch.clamp(torch.round(self / s) + z, quant_min, quant_max)
  return (q - z) * s

def _reduced(loss, reduction):
  if reduction == 1:
    return torch.mean(loss)
  if reduction == 2:
    return torch.sum(loss)
  return loss

def margin_ranking_loss(input1, input2, target, margin=0., reduction=1):
  return torch._reduced(torch.clamp_min(torch.neg(target) * (input1 - input2) + margin, 0), reduction)

def hinge_embedding_loss(self, target, margin=1., reduction=1):
  zero = torch.zeros_like(self)
  near = torch.where(torch.eq(target, 1), self, zero)
  far = torch.where(torch.eq(target, -1), torch.clamp_min(margin - self, 0), zero)
  return torch._reduced(near + far, reduction)

def triplet_margin_loss(anchor, positive, negative, margin=1., p=2., eps=1e-06, swap=False, reduction=1):
  far = torch.pairwise_distance(anchor, negative, p, eps)
  if swap:
    far = torch.minimum(far, torch.pairwise_distance(positive, negative, p, eps))
  return torch._reduced(torch.clamp_min(torch.pairwise_distance(anchor, positive, p, eps) - far + margin, 0), reduction)

def cosine_embedding_loss(input1, input2, target, margin=0., reduction=1):
  c = torch.cosine_similarity(input1, input2, 1, 1e-08)
  zero = torch.zeros_like(c)
  near = torch.where(torch.eq(target, 1), 1 - c, zero)
  far = torch.where(torch.eq(target, -1), torch.clamp_min(c - margin, 0), zero)
  return torch._reduced(near + far, reduction)

def poisson_nll_loss(input, target, log_input, full, eps, reduction):
  loss = torch.exp(input) - target * input if log_input else input - target * torch.log(input + eps)
  if full:
    stirling = target * torch.log(target) - target + torch.log(target * 6.283185307179586) * 0.5
    loss = loss + torch.where(torch.gt(target, 1), stirling, torch.zeros_like(stirling))
  return torch._reduced(loss, reduction)
)py";

}  // namespace

std::string_view arithmetic_definitions() { return kArithmetic; }

}  // namespace buda::torchscript
