// SPDX-License-Identifier: Apache-2.0
// Elementwise ops, products, reductions, normalisations and simple movement.
#include "random_ops.hpp"

#include <buda/tensor/tensor.hpp>

#include <cmath>

namespace buda::passes {
namespace {

class BasicOps {
 public:
  explicit BasicOps(RandomPool& pool) : pool_(pool) {}

  void step() {
    switch (pool_.pick(10)) {
      case 0:
      case 1:
        return activation(pool_.recent());
      case 2:
        return arithmetic(pool_.recent());
      case 3:
      case 4:
        return linear(pool_.recent());
      case 5:
        return reduction(pool_.recent());
      case 6:
        return normalisation(pool_.recent());
      case 7:
        return movement(pool_.recent());
      case 8:
        return product(pool_.recent());
      default:
        return pairs(pool_.recent());
    }
  }

 private:
  Shape part_of(const Shape& s) {
    Shape out = s;
    for (std::size_t i = 0; i < out.rank(); ++i)
      if (pool_.chance(45)) out[i] = 1;
    std::vector<std::int64_t> dims = out.dims();
    while (!dims.empty() && dims.front() == 1 && pool_.chance(50)) dims.erase(dims.begin());
    return Shape(dims);
  }

  void activation(RandomValue x) {
    static constexpr const char* kAnywhere[] = {"relu",     "tanh", "sigmoid", "gelu", "leaky_relu", "abs",
                                                "negative", "sine", "cosine",  "nop",  "square"};
    switch (pool_.pick(6)) {
      case 0:
        if (x.most < 3) pool_.unary("exp", x);
        return;
      case 1:
        if (x.least > 0.1) pool_.unary(pool_.chance(50) ? "log" : "sqrt", x);
        return;
      case 2:
        if (x.nearest_to_zero > 0.2) pool_.unary("reciprocal", x);
        return;
      case 3: {
        static constexpr double kBounds[] = {-1, -0.5, 0, 0.25, 1};
        std::size_t i = pool_.pick(5), j = i + pool_.pick(5 - i);
        double least = pool_.chance(30) ? -INFINITY : kBounds[i], most = pool_.chance(30) ? INFINITY : kBounds[j];
        return pool_.unary("clip", x, {{"min", least}, {"max", most}});
      }
      default:
        pool_.unary(kAnywhere[pool_.pick(std::size(kAnywhere))], x, {});
    }
  }

  void arithmetic(RandomValue x) {
    static constexpr const char* kOps[] = {"add", "subtract", "multiply", "maximum", "minimum", "divide"};
    const char* op = kOps[pool_.pick(std::size(kOps))];
    Shape s = part_of(x.shape());
    static constexpr float kPlain[] = {0, 1, 2, 0.5f};
    Tensor t = pool_.chance(30) ? Tensor(s, std::vector<float>(static_cast<std::size_t>(*s.volume()), kPlain[pool_.pick(4)]))
                                : pool_.numbers(s, 0.5, 2);
    if (op == std::string("divide") && t.as<float>()[0] == 0) return;
    RandomValue c = pool_.known(t);
    if (pool_.chance(20) && op != std::string("divide")) return pool_.binary(op, c, x);
    pool_.binary(op, x, c);
  }

  void pairs(RandomValue x) {
    static constexpr const char* kOps[] = {"add", "subtract", "multiply", "maximum", "minimum"};
    for (int tries = 0; tries < 6; ++tries) {
      RandomValue y = pool_.any();
      if (!broadcast(x.shape(), y.shape())) continue;
      if (pool_.chance(25) && y.nearest_to_zero > 0.2) return pool_.binary("divide", x, y);
      return pool_.binary(kOps[pool_.pick(std::size(kOps))], x, y);
    }
  }

  void linear(RandomValue x) {
    std::int64_t k = x.shape()[x.shape().rank() - 1], n = pool_.size();
    if (*x.shape().volume() * n > 400000) return;
    double scale = 1 / std::sqrt(static_cast<double>(k));
    Tensor w = pool_.numbers({k, n}, -scale, scale), bias = pool_.numbers({n});
    if (x.shape().rank() == 2 && pool_.chance(50)) {
      bool transposed = pool_.chance(50);
      Tensor weights = transposed ? pool_.numbers({n, k}, -scale, scale) : w;
      RandomValue wv = pool_.known(weights), bv = pool_.known(bias);
      graph::AttrMap attrs = {{"trans_b", transposed}};
      if (pool_.chance(30)) attrs["alpha"] = 0.5;
      if (pool_.chance(30)) attrs["beta"] = 2.0;
      return pool_.take("gemm", {x, wv, bv}, attrs);
    }
    RandomValue wv = pool_.known(w);
    if (pool_.chance(20)) {
      RandomValue bv = pool_.known(bias);
      return pool_.take("matmul", {x, wv, bv});
    }
    pool_.take("matmul", {x, wv});
    if (!pool_.chance(60) || x.shape().rank() < 2) return;
    RandomValue y = pool_.newest();
    pool_.binary("add", y, pool_.known(bias));
  }

  void product(RandomValue x) {
    for (int tries = 0; tries < 6; ++tries) {
      RandomValue y = pool_.any();
      if (x.shape().rank() < 2 || y.shape().rank() < 2) continue;
      std::size_t rx = x.shape().rank(), ry = y.shape().rank();
      if (x.shape()[rx - 1] != y.shape()[ry - 2] && x.shape()[rx - 1] == y.shape()[ry - 1]) {
        std::vector<std::int64_t> perm(ry);
        for (std::size_t i = 0; i < ry; ++i) perm[i] = static_cast<std::int64_t>(i);
        std::swap(perm[ry - 1], perm[ry - 2]);
        pool_.unary("transpose", y, {{"perm", perm}});
        y = pool_.newest();
      }
      if (x.shape()[rx - 1] != y.shape()[y.shape().rank() - 2]) continue;
      Shape lead_x(std::vector<std::int64_t>(x.shape().begin(), x.shape().end() - 2));
      Shape lead_y(std::vector<std::int64_t>(y.shape().begin(), y.shape().end() - 2));
      if (!broadcast(lead_x, lead_y)) continue;
      return pool_.take("matmul", {x, y});
    }
  }

  void reduction(RandomValue x) {
    static constexpr const char* kOps[] = {"reduce_sum", "reduce_avg", "reduce_max"};
    std::vector<std::int64_t> dims = {pool_.inner_axis(x)};
    if (pool_.chance(20) && pool_.inner_axis(x) != dims[0]) dims = {-1, x.shape().rank() > 1 ? -2 : -1};
    std::sort(dims.begin(), dims.end());
    dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
    pool_.unary(kOps[pool_.pick(3)], x, {{"dims", dims}, {"keep_dims", true}});
  }

  void normalisation(RandomValue x) {
    if (pool_.chance(25)) {
      auto n = x.shape()[x.shape().rank() - 1];
      if (n < 3) return;  // little but rounding is left of two numbers that are alike
      Tensor w = pool_.numbers({n}), c = pool_.numbers({n});
      RandomValue wv = pool_.known(w), cv = pool_.known(c);
      return pool_.take("layernorm", {x, wv, cv}, {{"epsilon", 0.1}});
    }
    pool_.unary(pool_.chance(70) ? "softmax" : "log_softmax", x, {{"dim", pool_.inner_axis(x)}});
  }

  void movement(RandomValue x) {
    std::size_t rank = x.shape().rank();
    std::vector<std::int64_t> dims = x.shape().dims();
    switch (pool_.pick(4)) {
      case 0: {
        if (rank < 2) return;
        std::vector<std::int64_t> perm(rank);
        for (std::size_t i = 0; i < rank; ++i) perm[i] = static_cast<std::int64_t>(i);
        std::swap(perm[rank - 1], perm[rank - 2]);
        return pool_.unary("transpose", x, {{"perm", perm}});
      }
      case 1:
        if (rank >= 4) return;
        return pool_.unary("unsqueeze", x, {{"dims", std::vector<std::int64_t>{0}}});
      case 2:
        if (rank < 2 || dims[0] != 1) return;
        return pool_.unary("squeeze", x, {{"dims", std::vector<std::int64_t>{0}}});
      default:
        // A model's input under any shape; other values as the chip can.
        if (x.is_input) {
          std::int64_t volume = *x.shape().volume();
          return pool_.unary("reshape", x,
                             {{"shape", volume % 2 == 0 && pool_.chance(50) ? std::vector<std::int64_t>{2, volume / 2}
                                                                            : std::vector<std::int64_t>{1, volume}}});
        }
        if (rank == 3 && dims[1] % 32 == 0)
          return pool_.unary("reshape", x, {{"shape", std::vector<std::int64_t>{dims[0] * dims[1], dims[2]}}});
    }
  }

  RandomPool& pool_;
};

}  // namespace

void basic_step(RandomPool& pool) { BasicOps(pool).step(); }

}  // namespace buda::passes
