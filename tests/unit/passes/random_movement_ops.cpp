// SPDX-License-Identifier: Apache-2.0
// Slices, concatenations, borders, transposes and reshapes of all kinds, and heads of attention.
#include "random_ops.hpp"

#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <numeric>

namespace buda::passes {
namespace {

using Dims = std::vector<std::int64_t>;

class MovementOps {
 public:
  explicit MovementOps(RandomPool& pool) : pool_(pool) {}

  void step() {
    RandomValue x = pool_.recent();
    switch (pool_.pick(7)) {
      case 0:
        return slice(x);
      case 1:
        return concatenate(x);
      case 2:
        return border(x);
      case 3:
        return transpose(x);
      case 4:
        return reshape(x);
      case 5:
        return heads(x);
      default:
        return broadcast_to(x);
    }
  }

 private:
  // The batch, the first of four axes, stays where it is.
  std::size_t first_movable(std::size_t rank) { return rank == 4 ? 1 : 0; }
  std::size_t movable_axis(const RandomValue& x) {
    std::size_t first = first_movable(x.rank());
    return first + pool_.pick(x.rank() - first);
  }

  void slice(const RandomValue& x) {
    if (x.rank() == 0) return;
    auto axis = movable_axis(x);
    std::int64_t size = x.shape()[axis], start = pool_.between(0, size - 1), stop = pool_.between(start + 1, size);
    std::int64_t step = pool_.chance(25) ? 2 : 1;
    if (pool_.chance(10)) return take_slice(x, axis, size - 1, -size - 1, -1);
    take_slice(x, axis, start, stop, step);
  }

  void take_slice(const RandomValue& x, std::size_t axis, std::int64_t start, std::int64_t stop, std::int64_t step) {
    pool_.unary("slice", x,
                {{"dims", Dims{static_cast<std::int64_t>(axis)}}, {"starts", Dims{start}}, {"stops", Dims{stop}}, {"steps", Dims{step}}});
  }

  void concatenate(const RandomValue& x) {
    if (x.rank() == 0) return;
    auto axis = movable_axis(x);
    std::vector<RandomValue> parts = {x};
    for (int tries = 0; tries < 6 && parts.size() < 3; ++tries) {
      RandomValue y = pool_.any();
      if (y.rank() != x.rank()) continue;
      Dims a = x.shape().dims(), b = y.shape().dims();
      a[axis] = b[axis];
      if (a == b) parts.push_back(y);
    }
    if (pool_.chance(20)) {
      Dims known = x.shape().dims();
      known[axis] = pool_.between(1, 5);
      parts.push_back(pool_.known(pool_.numbers(Shape(known))));
    }
    pool_.take("concatenate", parts, {{"dim", static_cast<std::int64_t>(axis)}});
  }

  void border(const RandomValue& x) {
    if (x.rank() == 0) return;
    Dims before(x.rank()), after(x.rank());
    auto axis = movable_axis(x);
    before[axis] = pool_.between(0, 2);
    after[axis] = pool_.between(0, 3);
    pool_.unary("pad", x, {{"before", before}, {"after", after}, {"value", pool_.chance(50) ? 0.0 : 0.75}});
  }

  void transpose(const RandomValue& x) {
    if (x.rank() < 2) return;
    Dims perm(x.rank());
    std::iota(perm.begin(), perm.end(), 0);
    for (std::size_t i = x.rank() - 1, first = first_movable(x.rank()); i > first; --i)
      std::swap(perm[i], perm[first + pool_.pick(i - first + 1)]);
    pool_.unary("transpose", x, {{"perm", perm}});
  }

  // Factors move between neighbouring axes.
  void reshape(const RandomValue& x) {
    Dims dims = x.shape().dims();
    std::size_t first = first_movable(x.rank());
    for (std::size_t i = first; i + 1 < dims.size(); ++i)
      for (std::int64_t factor : {2, 3, 5}) {
        bool up = pool_.chance(50);
        std::int64_t &from = up ? dims[i] : dims[i + 1], &to = up ? dims[i + 1] : dims[i];
        if (from % factor != 0 || !pool_.chance(40)) continue;
        from /= factor;
        to *= factor;
      }
    if (dims.size() == 4 && dims[0] == 1 && pool_.chance(40)) dims.erase(dims.begin());
    if (dims.size() == 3 && pool_.chance(30)) {
      dims[0] *= dims[1];
      dims.erase(dims.begin() + 1);
    }
    pool_.unary("reshape", x, {{"shape", dims}});
  }

  // [rows, heads * size] to [heads, rows, size], with something done there, and back.
  void heads(const RandomValue& x) {
    if (x.rank() != 2 && !(x.rank() == 3 && x.shape()[0] == 1)) return;
    std::int64_t rows = x.shape()[x.rank() - 2], width = x.shape()[x.rank() - 1],
                 count = width % 2 == 0   ? 2
                         : width % 5 == 0 ? 5
                         : width % 3 == 0 ? 3
                                          : 0;
    if (count == 0) return;
    auto cut = pool_.made("reshape", {x}, {{"shape", Dims{rows, count, width / count}}});
    if (!cut) return;
    auto apart = pool_.made("transpose", {*cut}, {{"perm", Dims{1, 0, 2}}});
    if (!apart) return;
    pool_.keep(apart);
    auto other = pool_.made("transpose", {*apart}, {{"perm", Dims{0, 2, 1}}});
    if (!other) return;
    auto scores = pool_.made("matmul", {*apart, *other});
    if (!scores) return;
    auto weights = pool_.made("softmax", {*scores}, {{"dim", std::int64_t{-1}}});
    if (!weights) return;
    auto seen = pool_.made("matmul", {*weights, *apart});
    if (!seen) return;
    auto together = pool_.made("transpose", {*seen}, {{"perm", Dims{1, 0, 2}}});
    if (together) pool_.take("reshape", {*together}, {{"shape", x.shape().dims()}});
  }

  void broadcast_to(const RandomValue& x) {
    Dims dims = x.shape().dims();
    bool changed = false;
    for (std::size_t i = first_movable(x.rank()); i < dims.size(); ++i)
      if (dims[i] == 1 && pool_.chance(60)) {
        dims[i] = pool_.between(2, 5);
        changed = true;
      }
    if (changed) pool_.unary("broadcast", x, {{"shape", dims}});
  }

  RandomPool& pool_;
};

}  // namespace

void movement_step(RandomPool& pool) { MovementOps(pool).step(); }

}  // namespace buda::passes
