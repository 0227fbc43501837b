// Growing graphs op by op from a pool of values.
#include "random_graphs.hpp"

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/builder.hpp>
#include <buda/ops/evaluate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::ValueRef;

struct Value {
  ValueRef ref;
  Tensor tensor;
  double least = 0, most = 0, nearest_to_zero = 0;
  bool is_input = false;
  const Shape& shape() const { return tensor.shape(); }
};

class Generator {
 public:
  Generator(std::uint64_t seed, bool mixes_batch) : rng_(seed), b_(cat("random", seed)), mixes_batch_(mixes_batch) {}

  RandomGraph run() {
    std::size_t inputs = 1 + pick(3);
    for (std::size_t i = 0; i < inputs; ++i) add_input(cat("x", i));
    std::size_t ops = 3 + pick(20);
    for (std::size_t i = 0; i < 8 * ops && made_ < ops; ++i) step();
    RandomGraph out;
    std::size_t outputs = 1 + pick(3);
    for (std::size_t i = 0; i < outputs; ++i)
      b_.output(cat("y", i), Edge(values_[values_.size() - 1 - pick(std::min<std::size_t>(values_.size(), 4))].ref));
    auto graph = b_.finish();
    if (!graph) {
      ADD_FAILURE() << graph.failure().diagnostics().front().message;
      return out;
    }
    out.graph = std::move(*graph);
    out.inputs = std::move(inputs_);
    return out;
  }

 private:
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(rng_.below(n)); }
  bool chance(int percent) { return pick(100) < static_cast<std::size_t>(percent); }
  const Value& any() { return values_[pick(values_.size())]; }
  // Newer values more often: graphs get deep.
  const Value& recent() { return chance(60) ? values_[values_.size() - 1 - pick(std::min<std::size_t>(values_.size(), 3))] : any(); }

  std::int64_t size() {
    static constexpr std::int64_t kSizes[] = {1, 2, 3, 5, 10, 31, 32, 33, 40, 64, 70};
    return kSizes[pick(std::size(kSizes))];
  }

  Shape shape() {
    Shape s;
    std::size_t rank = mixes_batch_ ? 3 + pick(3) : 1 + pick(4);
    for (std::size_t i = 0; i < rank; ++i) s.push_back(i + 2 < rank ? 1 + static_cast<std::int64_t>(pick(3)) : size());
    return s;
  }

  Tensor numbers(const Shape& s, double least = -1, double most = 1) {
    std::vector<float> v(static_cast<std::size_t>(*s.volume()));
    for (float& x : v) x = static_cast<float>(rng_.uniform(least, most));
    return Tensor(s, std::move(v));
  }

  void keep(ValueRef ref, Tensor t, bool is_input = false) {
    Value v{ref, std::move(t), 1e30, -1e30, 1e30, is_input};
    for (float x : v.tensor.as<float>()) {
      v.least = std::min(v.least, static_cast<double>(x));
      v.most = std::max(v.most, static_cast<double>(x));
      v.nearest_to_zero = std::min(v.nearest_to_zero, std::abs(static_cast<double>(x)));
    }
    values_.push_back(std::move(v));
  }

  void add_input(const std::string& name) {
    Shape s = shape();
    // Now and then without zero, which the padding has all the same.
    Tensor t = chance(40) ? numbers(s, 0.5, 2) : numbers(s, -2, 2);
    inputs_.emplace(name, t);
    ValueRef ref = b_.input(name, s);
    keep(ref, std::move(t), true);
  }

  // What an op just built gives; a result out of all proportion is left out of the pool (its node has no users then).
  void take(ValueRef ref, const std::vector<Tensor>& inputs) {
    if (!ref.valid()) return;
    auto out = ops::evaluate_node(b_.graph().node(ref.node), graph::Level::tensor, inputs);
    if (!out) {
      ADD_FAILURE() << out.failure().diagnostics().front().message;
      return;
    }
    keep(ref, std::move((*out)[0]));
    const Value& v = values_.back();
    if (!std::isfinite(v.least) || !std::isfinite(v.most) || std::max(-v.least, v.most) > 100) {
      values_.pop_back();
      return;
    }
    ++made_;
  }

  void unary(const char* op, const Value& x, graph::AttrMap attrs = {}) { take(b_.op(op, {Edge(x.ref)}, std::move(attrs)), {x.tensor}); }

  void binary(const char* op, const Value& x, const Value& y) {
    if (!broadcast(x.shape(), y.shape()) || *broadcast(x.shape(), y.shape())->volume() > 40000) return;
    take(b_.op(op, {Edge(x.ref), Edge(y.ref)}), {x.tensor, y.tensor});
  }

  // A parameter or constant as a value that is not in the pool.
  Value known(const Tensor& t) {
    Value v;
    v.ref = chance(50) ? b_.parameter(cat("w", ++parameters_), t) : b_.named(cat("c", ++parameters_)).constant(t);
    v.tensor = t;
    return v;
  }

  Shape part_of(const Shape& s) {
    Shape out = s;
    for (std::size_t i = 0; i < out.rank(); ++i)
      if (chance(45)) out[i] = 1;
    std::vector<std::int64_t> dims = out.dims();
    while (!dims.empty() && dims.front() == 1 && chance(50)) dims.erase(dims.begin());
    return Shape(dims);
  }

  void step() {
    if (mixes_batch_ && chance(35)) return batch(recent());
    switch (pick(10)) {
      case 0:
      case 1:
        return activation(recent());
      case 2:
        return arithmetic(recent());
      case 3:
      case 4:
        return linear(recent());
      case 5:
        return reduction(recent());
      case 6:
        return normalisation(recent());
      case 7:
        return movement(recent());
      case 8:
        return product(recent());
      default:
        return pairs(recent());
    }
  }

  void activation(Value x) {
    static constexpr const char* kAnywhere[] = {"relu",     "tanh", "sigmoid", "gelu", "leaky_relu", "abs",
                                                "negative", "sine", "cosine",  "nop",  "square"};
    switch (pick(6)) {
      case 0:
        if (x.most < 3) unary("exp", x);
        return;
      case 1:
        if (x.least > 0.1) unary(chance(50) ? "log" : "sqrt", x);
        return;
      case 2:
        if (x.nearest_to_zero > 0.2) unary("reciprocal", x);
        return;
      case 3: {
        static constexpr double kBounds[] = {-1, -0.5, 0, 0.25, 1};
        std::size_t i = pick(5), j = i + pick(5 - i);
        double least = chance(30) ? -INFINITY : kBounds[i], most = chance(30) ? INFINITY : kBounds[j];
        return unary("clip", x, {{"min", least}, {"max", most}});
      }
      default:
        unary(kAnywhere[pick(std::size(kAnywhere))], x, {});
    }
  }

  void arithmetic(Value x) {
    static constexpr const char* kOps[] = {"add", "subtract", "multiply", "maximum", "minimum", "divide"};
    const char* op = kOps[pick(std::size(kOps))];
    Shape s = part_of(x.shape());
    static constexpr float kPlain[] = {0, 1, 2, 0.5f};
    Tensor t = chance(30) ? Tensor(s, std::vector<float>(static_cast<std::size_t>(*s.volume()), kPlain[pick(4)])) : numbers(s, 0.5, 2);
    if (op == std::string("divide") && t.as<float>()[0] == 0) return;
    Value c = known(t);
    if (chance(20) && op != std::string("divide")) return binary(op, c, x);
    binary(op, x, c);
  }

  void pairs(Value x) {
    static constexpr const char* kOps[] = {"add", "subtract", "multiply", "maximum", "minimum"};
    for (int tries = 0; tries < 6; ++tries) {
      Value y = any();
      if (!broadcast(x.shape(), y.shape())) continue;
      if (chance(25) && y.nearest_to_zero > 0.2) return binary("divide", x, y);
      return binary(kOps[pick(std::size(kOps))], x, y);
    }
  }

  void linear(Value x) {
    std::int64_t k = x.shape()[x.shape().rank() - 1], n = size();
    if (*x.shape().volume() * n > 400000) return;
    double scale = 1 / std::sqrt(static_cast<double>(k));
    Tensor w = numbers({k, n}, -scale, scale), bias = numbers({n});
    if (x.shape().rank() == 2 && chance(50)) {
      bool transposed = chance(50);
      Tensor weights = transposed ? numbers({n, k}, -scale, scale) : w;
      Value wv = known(weights), bv = known(bias);
      graph::AttrMap attrs = {{"trans_b", transposed}};
      if (chance(30)) attrs["alpha"] = 0.5;
      if (chance(30)) attrs["beta"] = 2.0;
      return take(b_.op("gemm", {Edge(x.ref), Edge(wv.ref), Edge(bv.ref)}, attrs), {x.tensor, weights, bias});
    }
    Value wv = known(w);
    if (chance(20)) {
      Value bv = known(bias);
      return take(b_.op("matmul", {Edge(x.ref), Edge(wv.ref), Edge(bv.ref)}), {x.tensor, w, bias});
    }
    take(b_.op("matmul", {Edge(x.ref), Edge(wv.ref)}), {x.tensor, w});
    if (!chance(60) || x.shape().rank() < 2) return;
    Value y = values_.back();
    binary("add", y, known(bias));
  }

  void product(Value x) {
    for (int tries = 0; tries < 6; ++tries) {
      Value y = any();
      if (x.shape().rank() < 2 || y.shape().rank() < 2) continue;
      std::size_t rx = x.shape().rank(), ry = y.shape().rank();
      if (x.shape()[rx - 1] != y.shape()[ry - 2] && x.shape()[rx - 1] == y.shape()[ry - 1]) {
        std::vector<std::int64_t> perm(ry);
        for (std::size_t i = 0; i < ry; ++i) perm[i] = static_cast<std::int64_t>(i);
        std::swap(perm[ry - 1], perm[ry - 2]);
        unary("transpose", y, {{"perm", perm}});
        y = values_.back();
      }
      if (x.shape()[rx - 1] != y.shape()[y.shape().rank() - 2]) continue;
      Shape lead_x(std::vector<std::int64_t>(x.shape().begin(), x.shape().end() - 2));
      Shape lead_y(std::vector<std::int64_t>(y.shape().begin(), y.shape().end() - 2));
      if (!broadcast(lead_x, lead_y)) continue;
      return take(b_.op("matmul", {Edge(x.ref), Edge(y.ref)}), {x.tensor, y.tensor});
    }
  }

  // Not of the batch, the first of four axes.
  std::int64_t inner_axis(const Value& x) { return -1 - static_cast<std::int64_t>(pick(std::min<std::size_t>(x.shape().rank(), 3))); }

  void reduction(Value x) {
    static constexpr const char* kOps[] = {"reduce_sum", "reduce_avg", "reduce_max"};
    std::vector<std::int64_t> dims = {inner_axis(x)};
    if (chance(20) && inner_axis(x) != dims[0]) dims = {-1, x.shape().rank() > 1 ? -2 : -1};
    std::sort(dims.begin(), dims.end());
    dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
    unary(kOps[pick(3)], x, {{"dims", dims}, {"keep_dims", true}});
  }

  void normalisation(Value x) {
    if (chance(25)) {
      auto n = x.shape()[x.shape().rank() - 1];
      if (n < 3) return;  // little but rounding is left of two numbers that are alike
      Tensor w = numbers({n}), c = numbers({n});
      Value wv = known(w), cv = known(c);
      return take(b_.op("layernorm", {Edge(x.ref), Edge(wv.ref), Edge(cv.ref)}, {{"epsilon", 0.1}}), {x.tensor, w, c});
    }
    unary(chance(70) ? "softmax" : "log_softmax", x, {{"dim", inner_axis(x)}});
  }

  // What lets the elements of a batch meet.
  void batch(Value x) {
    std::size_t rank = x.shape().rank();
    std::vector<std::int64_t> axes(rank), some, dims = x.shape().dims();
    for (std::size_t i = 0; i < rank; ++i) axes[i] = static_cast<std::int64_t>(i);
    auto axis = static_cast<std::int64_t>(pick(rank));
    switch (pick(6)) {
      case 0:
        for (std::size_t i = rank; i > 1; --i) std::swap(axes[i - 1], axes[pick(i)]);
        return unary("transpose", x, {{"perm", axes}});
      case 1: {
        static constexpr const char* kOps[] = {"reduce_sum", "reduce_avg", "reduce_max"};
        for (std::int64_t a : axes)
          if (chance(40)) some.push_back(a);
        if (some.empty()) return;
        return unary(kOps[pick(3)], x, {{"dims", some}, {"keep_dims", some.size() + 2 > rank || chance(60)}});
      }
      case 2: {
        std::int64_t n = dims[static_cast<std::size_t>(axis)], start = static_cast<std::int64_t>(pick(static_cast<std::size_t>(n)));
        return unary("slice", x,
                     {{"dims", std::vector<std::int64_t>{axis}},
                      {"starts", std::vector<std::int64_t>{start}},
                      {"stops", std::vector<std::int64_t>{n}}});
      }
      case 3: {
        if (*x.shape().volume() > 20000) return;
        return take(b_.op("concatenate", {Edge(x.ref), Edge(x.ref)}, {{"dim", axis}}), {x.tensor, x.tensor});
      }
      case 4: {
        if (rank < 3 || axis + 1 == static_cast<std::int64_t>(rank)) return;
        auto at = static_cast<std::size_t>(axis);
        dims[at] *= dims[at + 1];
        dims.erase(dims.begin() + axis + 1);
        return unary("reshape", x, {{"shape", dims}});
      }
      default: {
        std::vector<std::int64_t> wide = dims;
        for (std::size_t i = 0; i < rank; ++i)
          if (dims[i] == 1) wide[i] = 1 + static_cast<std::int64_t>(pick(3));
        if (*Shape(wide).volume() <= 20000) unary("broadcast", x, {{"shape", wide}});
      }
    }
  }

  void movement(Value x) {
    std::size_t rank = x.shape().rank();
    std::vector<std::int64_t> dims = x.shape().dims();
    switch (pick(4)) {
      case 0: {
        if (rank < 2) return;
        std::vector<std::int64_t> perm(rank);
        for (std::size_t i = 0; i < rank; ++i) perm[i] = static_cast<std::int64_t>(i);
        std::swap(perm[rank - 1], perm[rank - 2]);
        return unary("transpose", x, {{"perm", perm}});
      }
      case 1:
        if (rank >= 4) return;
        return unary("unsqueeze", x, {{"dims", std::vector<std::int64_t>{0}}});
      case 2:
        if (rank < 2 || dims[0] != 1) return;
        return unary("squeeze", x, {{"dims", std::vector<std::int64_t>{0}}});
      default:
        // A model's input under any shape; other values as the chip can.
        if (x.is_input) {
          std::int64_t volume = *x.shape().volume();
          return unary(
              "reshape", x,
              {{"shape", volume % 2 == 0 && chance(50) ? std::vector<std::int64_t>{2, volume / 2} : std::vector<std::int64_t>{1, volume}}});
        }
        if (rank == 3 && dims[1] % 32 == 0) return unary("reshape", x, {{"shape", std::vector<std::int64_t>{dims[0] * dims[1], dims[2]}}});
    }
  }

  Rng rng_;
  ops::Builder b_;
  std::vector<Value> values_;
  NamedTensors inputs_;
  std::size_t made_ = 0;
  int parameters_ = 0;
  bool mixes_batch_;
};

}  // namespace

RandomGraph random_graph(std::uint64_t seed, bool mixes_batch) { return Generator(seed, mixes_batch).run(); }

}  // namespace buda::passes
