// SPDX-License-Identifier: Apache-2.0
// Numbers found by comparing and ordering: buckets, medians, distances; embeddings in bags; weights by length and direction.
#include "call.hpp"
#include "promotion.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/angles.hpp>
#include <buda/tensor/tensor.hpp>

#include <cmath>
#include <numeric>

namespace buda::torchscript {
namespace {

// The number of boundaries below x (with `right`: not above it), which is where x belongs among them.
Result<Value> import_bucketize(Call& n) {
  const bool search = n.importer().name == "searchsorted";
  const std::string_view of = search ? "sorted_sequence" : "boundaries";
  BUDA_ASSIGN(bool right, n.flag_or("right", false));
  BUDA_ASSIGN(bool narrow, n.flag_or("out_int32", false));
  BUDA_ASSIGN(std::string side, n.text_or("side", right ? "right" : "left"));
  if (side != "left" && side != "right") return n.refuse(cat("its side is '", side, "', not left or right"));
  if (n.has("sorter")) return n.refuse("its boundaries come with an order (sorter), which is not supported");
  BUDA_ASSIGN(DType dtype, promoted_type(n, {"self", of}));
  BUDA_ASSIGN(Ref x, operand(n, "self", dtype));
  BUDA_ASSIGN(Ref bounds, operand(n, of, dtype));
  BUDA_ASSIGN(Shape shape, n.shape_of(x));
  BUDA_ASSIGN(Shape given, n.shape_of(bounds));
  if (given.rank() != 1) {
    // A list for each row.
    const bool rows = given.rank() == shape.rank() && given.rank() > 0 && std::equal(given.begin(), given.end() - 1, shape.begin());
    if (!search || !rows) return n.refuse(cat("its boundaries are ", given.text(), ", and its input ", shape.text()));
    bounds = n.step("boundaries").unsqueeze(bounds, {static_cast<std::int64_t>(given.rank()) - 1});
  }
  const auto last = static_cast<std::int64_t>(shape.rank());
  Shape apart = shape;
  apart.push_back(1);
  Ref column = n.step("column").reshape(x, apart);
  Ref below = n.step("below").op(side == "right" ? "greater_equal" : "greater", {column, bounds});
  Ref ones = n.cast(below, DType::f32, "ones");
  Ref count = n.step("count").reduce_sum(ones, {last}, false);
  return n.tensor(n.cast(count, narrow ? DType::i32 : DType::i64, "bucket"));
}

Result<Value> import_atan2(Call& n) {
  BUDA_ASSIGN(Ref y, real_operand(n, "self"));
  BUDA_ASSIGN(Ref x, real_operand(n, "other"));
  return n.tensor(frontend::arc_tangent(n, y, x, DType::f32));
}

// Of the elements along an axis the one that has `place` smaller ones, and its index.
Result<Value> ordered_element(Call& n, Ref x, std::int64_t axis, std::int64_t place, bool keep) {
  Ref y = n.result().op("topk", {x}, {{"dim", axis}, {"k", place + 1}, {"largest", false}});
  if (!y.valid()) return Value(Failed{});
  std::vector<Value> out;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::string name = i == 0 ? "value" : "index";
    Ref last = n.step(name + ".last").slice(Ref(y.node, i), axis, place, place + 1);
    out.push_back(n.tensor(keep ? last : n.step(name).squeeze(last, {axis})));
  }
  return tuple_of(std::move(out));
}

// Of an even number the lower one of the two in the middle. Without an axis of all elements.
Result<Value> import_median(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(bool keep, n.flag_or("keepdim", false));
  Ref x = n.ref("self");
  if (!n.has("dim")) {
    const std::int64_t count = shape.volume().value_or(0);
    if (count < 1) return n.refuse(cat("its input is ", shape.text()));
    Ref flat = n.step("flat").reshape(x, Shape{count});
    BUDA_ASSIGN(Value both, ordered_element(n, flat, 0, (count - 1) / 2, false));
    const auto* pair = both.as<SequenceRef>();
    return pair == nullptr ? both : (*pair)->items[0];
  }
  BUDA_ASSIGN(auto axis, n.axis_or("dim", -1, shape.rank()));
  if (shape.rank() == 0) return n.refuse("its input is a single number");
  return ordered_element(n, x, axis, (shape[static_cast<std::size_t>(axis)] - 1) / 2, keep);
}

Result<Value> import_kthvalue(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("self"));
  BUDA_ASSIGN(auto k, n.integer("k"));
  BUDA_ASSIGN(auto axis, n.axis_or("dim", -1, shape.rank()));
  BUDA_ASSIGN(bool keep, n.flag_or("keepdim", false));
  if (shape.rank() == 0 || k < 1 || k > shape[static_cast<std::size_t>(axis)])
    return n.refuse(cat("its input is ", shape.text(), " and its k ", k));
  return ordered_element(n, n.ref("self"), axis, k - 1, keep);
}

// The p-norm of all differences of rows of x1 and x2.
Result<Value> import_cdist(Call& n) {
  BUDA_ASSIGN(double p, n.real_or("p", 2));
  BUDA_ASSIGN(Ref a, real_operand(n, "x1"));
  BUDA_ASSIGN(Ref b, real_operand(n, "x2"));
  BUDA_ASSIGN(Shape x, n.shape_of(a));
  BUDA_ASSIGN(Shape y, n.shape_of(b));
  if (x.rank() < 2 || y.rank() < 2 || x[x.rank() - 1] != y[y.rank() - 1] || p < 0)
    return n.refuse(cat("its inputs are ", x.text(), " and ", y.text(), ", and its p ", p));
  a = n.step("rows").unsqueeze(a, {static_cast<std::int64_t>(x.rank()) - 1});
  b = n.step("columns").unsqueeze(b, {static_cast<std::int64_t>(y.rank()) - 2});
  Ref apart = n.step("apart").subtract(a, b);
  if (p == 2) {
    Ref squares = n.step("squares").square(apart);
    Ref sum = n.step("sum").reduce_sum(squares, {-1}, false);
    return n.tensor(n.result().sqrt(sum));
  }
  Ref sizes = n.step("sizes").abs(apart);
  if (p == 1) return n.tensor(n.result().reduce_sum(sizes, {-1}, false));
  if (std::isinf(p)) return n.tensor(n.result().reduce_max(sizes, {-1}, false));
  if (p == 0) return n.refuse("its p is 0, which is not supported");
  Ref exponent = n.number(p, DType::f32), root = n.number(1 / p, DType::f32);
  Ref powers = n.step("powers").power(sizes, exponent);
  Ref sum = n.step("sum").reduce_sum(powers, {-1}, false);
  return n.tensor(n.result().power(sum, root));
}

// ---- embedding_bag: rows of a table, each bag of them summed, or their mean or maximum

struct Bags {
  Dims begin, end;  // among the indices
};

Result<Bags> bags_of(Call& n, std::int64_t indices) {
  BUDA_ASSIGN(bool with_last, n.flag_or("include_last_offset", false));
  BUDA_ASSIGN(Tensor given, n.known("offsets"));
  const Tensor wide = given.cast(DType::i64);
  const auto list = wide.as<std::int64_t>();
  Bags out{Dims(list.begin(), list.end()), {}};
  if (with_last && !out.begin.empty()) out.begin.pop_back();
  for (std::size_t i = 0; i < out.begin.size(); ++i) {
    out.end.push_back(i + 1 < list.size() ? list[i + 1] : indices);
    if (out.begin[i] < 0 || out.end[i] < out.begin[i] || out.end[i] > indices)
      return n.refuse(cat("its offsets ", given.describe(), " do not fit ", indices, " indices"));
  }
  if (out.begin.empty()) return n.refuse("it has no bags");
  return out;
}

Result<Ref> reduced_bag(Call& n, Ref rows, std::int64_t mode, const std::string& name) {
  if (mode == 0) return n.step(name).reduce_sum(rows, {-2}, false);
  if (mode == 1) return n.step(name).reduce_avg(rows, {-2}, false);
  return n.step(name).reduce_max(rows, {-2}, false);
}

Result<Value> import_embedding_bag(Call& n) {
  BUDA_ASSIGN(auto mode, n.integer_or("mode", 0));
  BUDA_ASSIGN(auto padding, n.integer_or("padding_idx", -1));
  if (mode < 0 || mode > 2) return n.refuse(cat("its mode is ", mode, "; 0, 1 and 2 (sum, mean, max) are supported"));
  if (padding >= 0 && mode != 0) return n.refuse("it leaves out an index (padding_idx) in another mode than sum, which is not supported");
  BUDA_ASSIGN(Shape at, n.shape("indices"));
  BUDA_ASSIGN(DType index_type, n.dtype("indices"));
  BUDA_ASSIGN(Shape table, n.shape("weight"));
  if (at.rank() != 1 || table.rank() != 2 || !is_integer(index_type))
    return n.refuse(cat("its indices are ", dtype_name(index_type), ' ', at.text(), " and its weight ", table.text(),
                        "; a list of integers and a matrix are needed"));
  BUDA_ASSIGN(Bags bags, bags_of(n, at[0]));
  Ref weight = n.ref("weight"), indices = n.ref("indices");
  Ref rows = n.step("rows").op("gather", {weight, indices});
  if (n.has("per_sample_weights")) {
    Ref factors = n.ref("per_sample_weights");
    factors = n.step("factors").unsqueeze(factors, {1});
    rows = n.step("rows.scaled").multiply(rows, factors);
  }
  if (padding >= 0) {
    Ref left_out = n.step("padding").constant(static_cast<double>(padding), index_type);
    Ref counts = n.step("counts").op("equal", {indices, left_out});
    counts = n.step("counts.others").op("logical_not", {counts});
    Ref factors = n.cast(counts, DType::f32, "counts.real");
    factors = n.step("counts.column").unsqueeze(factors, {1});
    rows = n.step("rows.counted").multiply(rows, factors);
  }
  const std::int64_t first = bags.end[0] - bags.begin[0];
  const auto count = static_cast<std::int64_t>(bags.begin.size());
  bool equal = first > 0 && bags.begin[0] == 0 && count * first == at[0];
  for (std::size_t i = 0; i < bags.begin.size(); ++i) equal = equal && bags.end[i] - bags.begin[i] == first;
  Ref out;
  if (equal) {
    Ref apart = n.step("bags").reshape(rows, Shape{count, first, table[1]});
    BUDA_ASSIGN(out, reduced_bag(n, apart, mode, "reduced"));
  } else {
    std::vector<graph::Edge> parts;
    for (std::size_t i = 0; i < bags.begin.size(); ++i) {
      if (bags.begin[i] == bags.end[i]) {
        BUDA_ASSIGN(Tensor zeros, Tensor::zeros(DType::f32, Shape{1, table[1]}));  // an empty bag
        parts.emplace_back(n.constant(std::move(zeros)));
        continue;
      }
      Ref part = n.step(cat("bag", i)).slice(rows, 0, bags.begin[i], bags.end[i]);
      BUDA_ASSIGN(Ref one, reduced_bag(n, part, mode, cat("bag", i, ".reduced")));
      parts.emplace_back(n.step(cat("bag", i, ".row")).unsqueeze(one, {0}));
    }
    out = n.step("reduced").concatenate(std::move(parts), 0);
  }
  // What else it gives serves its gradient.
  return tuple_of({n.tensor(out), Value(Nothing{}), Value(Nothing{}), Value(Nothing{})});
}

// g times v, divided by the norm of v over all axes but one. Known weights are computed while importing.
Result<Value> import_weight_norm(Call& n) {
  BUDA_ASSIGN(Shape shape, n.shape("v"));
  BUDA_ASSIGN(auto given, n.integer_or("dim", 0));
  Ref v = n.ref("v"), g = n.ref("g");
  Dims axes;
  const std::int64_t rank = static_cast<std::int64_t>(shape.rank()), kept = given == -1 ? rank : given < 0 ? given + rank : given;
  for (std::int64_t i = 0; i < rank; ++i)
    if (i != kept) axes.push_back(i);
  Ref squares = n.step("squares").square(v);
  Ref sum = n.step("sum").reduce_sum(squares, axes);
  Ref norm = n.step("norm").sqrt(sum);
  Ref factor = n.step("factor").divide(g, norm);
  Ref w = n.result().multiply(v, factor);
  if (n.importer().name == "_weight_norm") return n.tensor(w);
  return tuple_of({n.tensor(w), n.tensor(norm)});
}

constexpr OpImporter kLookupOps[] = {
    {"_weight_norm", "v g dim", import_weight_norm},
    {"_weight_norm_interface", "v g dim", import_weight_norm},
    {"arctan2", "self other", import_atan2},
    {"atan2", "self other", import_atan2},
    {"bucketize", "self boundaries out_int32 right", import_bucketize},
    {"cdist", "x1 x2 p compute_mode", import_cdist},
    {"embedding_bag", "weight indices offsets scale_grad_by_freq mode sparse per_sample_weights include_last_offset padding_idx",
     import_embedding_bag, "", "offsets known; padding_idx where it sums; only the first result"},
    {"kthvalue", "self k dim keepdim", import_kthvalue},
    {"median", "self dim keepdim", import_median, "", "of equal elements the index may be another one"},
    {"searchsorted", "sorted_sequence self out_int32 right side sorter", import_bucketize, "", "without an order of its own"},
};

}  // namespace

std::span<const OpImporter> lookup_ops() { return kLookupOps; }

}  // namespace buda::torchscript
