// SPDX-License-Identifier: Apache-2.0
// Counting of n-grams: how often each of a fixed list of short sequences of numbers (tokens) occurs in a longer one.
//
// A gram of n numbers may skip: with a skip of s its numbers are s + 1 positions apart. A gram counts once for each place and each skip
// from 0 to the largest one at which it is found (grams of one number: without skips).
#include <buda/ops/indexing/ngrams.hpp>

#include <buda/base/text.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace buda::ops {
namespace {

using Gram = std::vector<std::int64_t>;

constexpr std::int64_t kLongestGram = 1 << 10;

// The grams of each length, and which column of the result counts them.
using Pool = std::map<Gram, std::size_t>;

Result<Pool> pool_of(const Attrs& attrs) {
  const auto &numbers = attrs.integers("pool"), &starts = attrs.integers("starts"), &columns = attrs.integers("columns");
  Pool pool;
  std::size_t next = 0;
  for (std::size_t n = 1; n <= starts.size(); ++n) {
    std::int64_t begin = starts[n - 1], end = n < starts.size() ? starts[n] : static_cast<std::int64_t>(numbers.size());
    if (begin < 0 || end < begin || end > static_cast<std::int64_t>(numbers.size()) || (end - begin) % static_cast<std::int64_t>(n) != 0)
      return shape_error(cat("the grams of ", n, " numbers cannot be at positions ", begin, " to ", end, " of ", numbers.size()));
    for (auto at = numbers.begin() + begin; at != numbers.begin() + end; at += static_cast<std::ptrdiff_t>(n)) {
      if (next >= columns.size()) return shape_error(cat("there are more grams than the ", columns.size(), " columns named"));
      pool.emplace(Gram(at, at + static_cast<std::ptrdiff_t>(n)), static_cast<std::size_t>(columns[next++]));
    }
  }
  if (next != columns.size()) return shape_error(cat("there are ", next, " grams and ", columns.size(), " columns named"));
  return pool;
}

Result<std::vector<ValueType>> infer_ngrams(const InferCall& call) {
  const auto& x = call.inputs[0];
  if (x.dtype != DType::i32 && x.dtype != DType::i64) return dtype_error(cat("tokens must be I32 or I64, not ", dtype_name(x.dtype)));
  if (x.shape.rank() != 1 && x.shape.rank() != 2) return shape_error(cat("expected one or two axes, not ", x.shape.text()));
  std::int64_t shortest = call.attrs.integer("shortest"), longest = call.attrs.integer("longest");
  if (shortest < 1 || longest < shortest || longest > kLongestGram || call.attrs.integer("most_skips") < 0)
    return shape_error(
        cat("grams of ", shortest, " to ", longest, " numbers and skips of up to ", call.attrs.integer("most_skips"), " are impossible"));
  const auto& columns = call.attrs.integers("columns");
  std::int64_t count = 0;
  for (auto c : columns) {
    if (c < 0 || c > std::int64_t{1} << 40) return shape_error(cat("column ", c, " is impossible"));
    count = std::max(count, c + 1);
  }
  const auto& weights = call.attrs.reals("weights");
  if (!weights.empty() && weights.size() != columns.size())
    return shape_error(cat("there are ", weights.size(), " weights for ", columns.size(), " grams"));
  BUDA_TRY(pool_of(call.attrs));
  return one(DType::f32, x.shape.rank() == 1 ? Shape{count} : Shape{x.shape[0], count});
}

// Adds what is found in one sequence.
void count_in(const std::int64_t* x, std::int64_t size, const Attrs& attrs, const Pool& pool, float* counts) {
  Gram gram;
  for (std::int64_t n = attrs.integer("shortest"); n <= attrs.integer("longest"); ++n) {
    // A stride beyond the sequence finds nothing more.
    std::int64_t most = n == 1 ? 0 : std::min(attrs.integer("most_skips"), size);
    for (std::int64_t skip = 0; skip <= most; ++skip)
      for (std::int64_t i = 0; i + (n - 1) * (skip + 1) < size; ++i) {
        gram.clear();
        for (std::int64_t k = 0; k < n; ++k) gram.push_back(x[i + k * (skip + 1)]);
        if (auto found = pool.find(gram); found != pool.end()) counts[found->second] += 1;
      }
  }
}

Result<std::vector<Tensor>> evaluate_ngrams(const EvaluateCall& call) {
  BUDA_ASSIGN(Pool pool, pool_of(call.attrs));
  const Shape& shape = call.outputs[0].shape;
  std::int64_t columns = shape[shape.rank() - 1], rows = shape.rank() == 1 ? 1 : shape[0];
  Tensor tokens = call.inputs[0].cast(DType::i64);
  std::int64_t size = call.inputs[0].shape()[call.inputs[0].shape().rank() - 1];
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::f32, shape));
  std::fill(out.as<float>().begin(), out.as<float>().end(), 0.0f);
  const auto& weights = call.attrs.reals("weights");
  std::vector<float> factors(static_cast<std::size_t>(columns), 1);
  for (std::size_t i = 0; i < weights.size(); ++i)
    factors[static_cast<std::size_t>(call.attrs.integers("columns")[i])] = static_cast<float>(weights[i]);
  const std::string& mode = call.attrs.text("mode");
  for (std::int64_t row = 0; row < rows; ++row) {
    float* counts = out.as<float>().data() + row * columns;
    count_in(tokens.as<std::int64_t>().data() + row * size, size, call.attrs, pool, counts);
    for (std::int64_t c = 0; c < columns && mode != "count"; ++c)
      counts[c] = (mode == "presence" ? std::min(counts[c], 1.0f) : counts[c]) * factors[static_cast<std::size_t>(c)];
  }
  return std::vector<Tensor>{std::move(out).take()};
}

}  // namespace

OpDef ngram_counts_op() {
  auto integers = [](std::string name, std::string doc) {
    return AttrDef{std::move(name), AttrType::integers, std::nullopt, std::move(doc), {}};
  };
  auto integer = [](std::string name, std::string doc) {
    return AttrDef{std::move(name), AttrType::integer, std::nullopt, std::move(doc), {}};
  };
  return OpDef{.name = "ngram_counts",
               .level = Level::tensor,
               .family = "search",
               .summary = "how often each gram (short sequence of numbers) of a list occurs in x, or in each row of x; in F32",
               .inputs = {"x"},
               .least_inputs = 1,
               .most_inputs = 1,
               .attrs = {integers("pool", "the numbers of all grams, those of one first"),
                         integers("starts", "where in the pool the grams of one, two, … numbers begin"),
                         integers("columns", "for each gram: which element of the result counts it"),
                         integer("shortest", "numbers in the shortest grams that count"),
                         integer("longest", "and in the longest"),
                         integer("most_skips", "numbers of a gram may be up to this many positions further apart"),
                         {"mode",
                          AttrType::text,
                          std::string("count"),
                          "count: the number; presence: the weight where there is one; weighted: the number times the weight",
                          {"count", "presence", "weighted"}},
                         {"weights", AttrType::reals, std::vector<double>{}, "for each gram; none: 1", {}}},
               .infer = infer_ngrams,
               .evaluate = evaluate_ngrams,
               .flops = nullptr};
}

}  // namespace buda::ops
