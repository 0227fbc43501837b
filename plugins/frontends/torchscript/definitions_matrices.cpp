// SPDX-License-Identifier: Apache-2.0
// Products, and small matrices: inverses by cofactors.
#include "definition_texts.hpp"

namespace buda::torchscript {
namespace {

constexpr std::string_view kMatrices = R"py(
def addr(self, vec1, vec2, beta=1, alpha=1):
  return self * beta + torch.outer(vec1, vec2) * alpha

def addbmm(self, batch1, batch2, beta=1, alpha=1):
  return self * beta + torch.sum(torch.bmm(batch1, batch2), [0]) * alpha

def ger(self, vec2):
  return torch.outer(self, vec2)

def vdot(self, other):
  return torch.dot(self, other)

def inner(self, other):
  if torch.dim(self) == 0 or torch.dim(other) == 0:
    return self * other
  last = torch.size(self, -1)
  product = torch.matmul(torch.reshape(self, [-1, last]), torch.t(torch.reshape(other, [-1, last])))
  return torch.reshape(product, torch.slice(torch.size(self), 0, -1, 1) + torch.slice(torch.size(other), 0, -1, 1))

def tensordot(self, other, dims_self, dims_other):
  left = annotate(List[int], [])
  right = annotate(List[int], [])
  a = annotate(List[int], [])
  b = annotate(List[int], [])
  sizes = annotate(List[int], [])
  count = 1
  for i in dims_self:
    torch.append(a, i + torch.dim(self) if i < 0 else i)
  for i in dims_other:
    torch.append(b, i + torch.dim(other) if i < 0 else i)
  for i in range(torch.dim(self)):
    if i in a:
      count = count * torch.size(self, i)
    else:
      torch.append(left, i)
      torch.append(sizes, torch.size(self, i))
  for i in range(torch.dim(other)):
    if not (i in b):
      torch.append(right, i)
      torch.append(sizes, torch.size(other, i))
  x = torch.reshape(torch.permute(self, left + a), [-1, count])
  y = torch.reshape(torch.permute(other, b + right), [count, -1])
  return torch.reshape(torch.matmul(x, y), sizes)

def kron(self, other):
  a = self
  b = other
  while torch.dim(a) < torch.dim(b):
    a = torch.unsqueeze(a, 0)
  while torch.dim(b) < torch.dim(a):
    b = torch.unsqueeze(b, 0)
  first = annotate(List[int], [])
  second = annotate(List[int], [])
  sizes = annotate(List[int], [])
  for i in range(torch.dim(a)):
    torch.append(first, torch.size(a, i))
    torch.append(first, 1)
    torch.append(second, 1)
    torch.append(second, torch.size(b, i))
    torch.append(sizes, torch.size(a, i) * torch.size(b, i))
  return torch.reshape(torch.reshape(a, first) * torch.reshape(b, second), sizes)

def linalg_multi_dot(tensors):
  product = tensors[0]
  for i in range(1, len(tensors)):
    product = torch.matmul(product, tensors[i])
  return product

def chain_matmul(matrices):
  return torch.linalg_multi_dot(matrices)

def bilinear(input1, input2, weight, bias=None):
  outputs = torch.size(weight, 0)
  width = torch.size(weight, 1)
  other = torch.size(weight, 2)
  matrix = torch.reshape(torch.permute(weight, [1, 0, 2]), [width, outputs * other])
  sizes = torch.slice(torch.size(input1), 0, -1, 1)
  mixed = torch.reshape(torch.matmul(input1, matrix), sizes + [outputs, other])
  y = torch.sum(mixed * torch.unsqueeze(input2, -2), [-1])
  if bias is not None:
    y = y + bias
  return y

def cross(self, other, dim=None):
  if dim is not None:
    return torch.linalg_cross(self, other, dim)
  for i in range(torch.dim(self)):
    if torch.size(self, i) == 3:
      return torch.linalg_cross(self, other, i)
  torch._refuse("a cross product of vectors of other than three elements")

def linalg_cross(self, other, dim=-1):
  a = torch.unbind(self, dim)
  b = torch.unbind(other, dim)
  return torch.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dim)

def linalg_matrix_norm(self, ord="fro", dim=[-2, -1], keepdim=False, dtype=None):
  if isinstance(ord, str):
    if ord != "fro":
      torch._refuse("a matrix norm that needs singular values")
    return torch.sqrt(torch.sum(torch.square(self), dim, keepdim))
  if torch.abs(float(ord)) == 2:
    torch._refuse("a matrix norm that needs singular values")
  summed = dim[1] if torch.abs(float(ord)) == inf else dim[0]
  rest = dim[0] if torch.abs(float(ord)) == inf else dim[1]
  sums = torch.sum(torch.abs(self), [summed], True)
  norm = torch.amax(sums, [rest], True) if float(ord) > 0 else torch.amin(sums, [rest], True)
  return norm if keepdim else torch.squeeze(torch.squeeze(norm, dim[0]), dim[1] if dim[1] < 0 or dim[1] < dim[0] else dim[1] - 1)

def linalg_norm(self, ord=None, dim=None, keepdim=False, dtype=None):
  if isinstance(ord, str):
    return torch.linalg_matrix_norm(self, ord, [-2, -1] if dim is None else dim, keepdim)
  axes = torch._all_axes(self, dim)
  if (ord is not None) and len(axes) == 2:
    return torch.linalg_matrix_norm(self, ord, axes, keepdim)
  return torch.linalg_vector_norm(self, 2. if ord is None else ord, axes, keepdim)

def linalg_det(self):
  return torch._determinant(self)

def det(self):
  return torch._determinant(self)

def logdet(self):
  return torch.log(torch._determinant(self))

def slogdet(self):
  d = torch._determinant(self)
  return (torch.sign(d), torch.log(torch.abs(d)))

def linalg_slogdet(self):
  return torch.slogdet(self)

def _minor(self, row, column):
  size = torch.size(self, -1)
  upper = torch.slice(self, -2, 0, row, 1)
  rows = torch.cat([upper, torch.slice(self, -2, row + 1, size, 1)], -2)
  return torch.cat([torch.slice(rows, -1, 0, column, 1), torch.slice(rows, -1, column + 1, size, 1)], -1)

def _small_determinant(self):
  size = torch.size(self, -1)
  if size == 1:
    return torch.select(torch.select(self, -1, 0), -1, 0)
  if size == 2:
    a = torch.select(self, -2, 0)
    b = torch.select(self, -2, 1)
    return torch.select(a, -1, 0) * torch.select(b, -1, 1) - torch.select(a, -1, 1) * torch.select(b, -1, 0)
  sum = torch.select(torch.select(self, -2, 0), -1, 0) * torch._small_determinant(torch._minor(self, 0, 0))
  for i in range(1, size):
    part = torch.select(torch.select(self, -2, 0), -1, i) * torch._small_determinant(torch._minor(self, 0, i))
    sum = sum + part if i % 2 == 0 else sum - part
  return sum

def linalg_inv(self):
  size = torch.size(self, -1)
  if size > 4 or size != torch.size(self, -2):
    torch._refuse("the inverse of a matrix of more than four rows, or of one that is not square")
  if size == 1:
    return torch.reciprocal(self)
  rows = annotate(List[Tensor], [])
  for i in range(size):
    row = annotate(List[Tensor], [])
    for j in range(size):
      cofactor = torch._small_determinant(torch._minor(self, j, i))
      torch.append(row, cofactor if (i + j) % 2 == 0 else torch.neg(cofactor))
    torch.append(rows, torch.stack(row, -1))
  adjugate = torch.stack(rows, -2)
  return adjugate / torch.unsqueeze(torch.unsqueeze(torch._small_determinant(self), -1), -1)

def inverse(self):
  return torch.linalg_inv(self)

def linalg_solve(A, B, left=True):
  if torch.dim(B) == torch.dim(A) - 1:
    return torch.squeeze(torch.matmul(torch.linalg_inv(A), torch.unsqueeze(B, -1)), -1)
  return torch.matmul(torch.linalg_inv(A), B) if left else torch.matmul(B, torch.linalg_inv(A))

def linalg_matrix_exp(self):
  eye = torch.eye(torch.size(self, -1))
  small = self * 0.00390625
  term = torch.zeros_like(self) + eye
  sum = term
  for i in range(1, 9):
    term = torch.matmul(term, small) * (1. / i)
    sum = sum + term
  for i in range(8):
    sum = torch.matmul(sum, sum)
  return sum

def matrix_exp(self):
  return torch.linalg_matrix_exp(self)

def linalg_matrix_power(self, n):
  if n == 0:
    return torch.zeros_like(self) + torch.eye(torch.size(self, -1))
  base = self if n > 0 else torch.linalg_inv(self)
  product = base
  for i in range((n if n > 0 else -n) - 1):
    product = torch.matmul(product, base)
  return product
)py";

}  // namespace

std::string_view matrix_definitions() { return kMatrices; }

}  // namespace buda::torchscript
