// SPDX-License-Identifier: Apache-2.0
// Counting of n-grams by comparing.
//
//   for grams of n numbers and each skip s    E_j = (x[i + j (s + 1)] = number j of each gram), a row for each place i, a column for each
//   gram
//                                             counts = the sum over places of E_0 E_1 … E_(n-1)
//   result                                    counts × a matrix that brings each gram to its column, times its weight
//
// Numbers are as small as the device compares exactly (exact-integers).
#include <buda/graph/graph.hpp>

#include "rules.hpp"

#include <algorithm>
#include <set>

namespace buda::index {
namespace {

using namespace plugin;
using graph::Graph;
using graph::Node;

// Products of comparisons, one after the other.
constexpr std::int64_t kMaxProducts = 256;

struct Grams {
  std::int64_t length = 0;
  std::vector<Dims> numbers;         // of each gram
  std::vector<std::size_t> columns;  // that count them
};

// Those that count, by length; of equal ones the first.
std::vector<Grams> grams_of(const Dims& pool, const Dims& starts, const Dims& columns, std::int64_t shortest, std::int64_t longest) {
  std::vector<Grams> out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Grams grams{static_cast<std::int64_t>(i) + 1, {}, {}};
    std::set<Dims> seen;
    std::int64_t end = i + 1 < starts.size() ? starts[i + 1] : static_cast<std::int64_t>(pool.size());
    for (std::int64_t at = starts[i]; at < end; at += grams.length) {
      Dims gram(pool.begin() + at, pool.begin() + at + grams.length);
      std::size_t which = next++;
      if (!seen.insert(gram).second) continue;
      grams.numbers.push_back(std::move(gram));
      grams.columns.push_back(static_cast<std::size_t>(columns[which]));
    }
    if (grams.length >= shortest && grams.length <= longest && !grams.numbers.empty()) out.push_back(std::move(grams));
  }
  return out;
}

std::vector<Grams> grams_of(const Rewrite& r) {
  return grams_of(r.integers("pool"), r.integers("starts"), r.integers("columns"), r.integer("shortest"), r.integer("longest"));
}

// How often the grams occur in each row of x [rows, size], as [rows, grams]; nothing where they are longer than the rows.
std::vector<Term> counts_of(Rewrite& r, const Term& x, const Grams& grams, std::int64_t most_skips) {
  std::int64_t rows = r.shape(x)[0], size = r.shape(x)[1], n = grams.length, count = static_cast<std::int64_t>(grams.numbers.size());
  std::vector<Term> numbers;
  for (std::int64_t j = 0; j < n; ++j) {
    std::vector<float> row;
    for (const Dims& gram : grams.numbers) row.push_back(static_cast<float>(gram[static_cast<std::size_t>(j)]));
    numbers.push_back(r.constant(Shape{1, 1, count}, std::move(row)));
  }
  std::vector<Term> out;
  for (std::int64_t skip = 0; skip <= (n == 1 ? 0 : most_skips); ++skip) {
    std::int64_t places = size - (n - 1) * (skip + 1);
    if (places <= 0) break;
    Term all;
    for (std::int64_t j = 0; j < n; ++j) {
      std::int64_t start = j * (skip + 1);
      Term window = r.op("slice", {x}, {{"dims", Dims{1}}, {"starts", Dims{start}}, {"stops", Dims{start + places}}});
      window = r.reshape(window, Shape{rows, places, 1});
      Term equal = hits(window, numbers[static_cast<std::size_t>(j)]);
      all = j == 0 ? equal : all * equal;
    }
    out.push_back(r.reshape(reduce("reduce_sum", all, {1}), Shape{rows, count}));
  }
  return out;
}

Term ngram_counts(Rewrite& r) {
  const Shape& result = r.result().shape;
  r.keep_exact(true);  // numbers and counts
  std::int64_t columns = result[result.rank() - 1], rows = result.rank() == 1 ? 1 : result[0];
  Shape x_shape = r.type(0).shape;
  Term x = r.reshape(r.in(0), Shape{rows, x_shape[x_shape.rank() - 1]});
  bool found = false;
  Term sum;
  for (const Grams& grams : grams_of(r)) {
    auto count = static_cast<std::int64_t>(grams.numbers.size());
    std::vector<float> places(static_cast<std::size_t>(count * columns), 0.0f);
    for (std::size_t g = 0; g < grams.columns.size(); ++g) places[g * static_cast<std::size_t>(columns) + grams.columns[g]] = 1;
    std::vector<Term> counts = counts_of(r, x, grams, r.integer("most_skips"));
    if (counts.empty()) continue;
    Term total = counts[0];
    for (std::size_t i = 1; i < counts.size(); ++i) total = total + counts[i];
    Term part = r.op("matmul", {total, r.constant(Shape{count, columns}, std::move(places))});
    sum = found ? sum + part : part;
    found = true;
  }
  if (!found) return r.constant(result, std::vector<float>(static_cast<std::size_t>(volume_of(result)), 0.0f));
  std::string mode = r.text("mode");
  if (mode == "presence") sum = clip(sum, 0, 1);
  std::vector<double> weights = r.reals("weights");
  if (mode != "count" && !weights.empty()) {
    std::vector<float> row(static_cast<std::size_t>(columns), 1.0f);
    Dims of = r.integers("columns");
    for (std::size_t i = 0; i < weights.size(); ++i) row[static_cast<std::size_t>(of[i])] = static_cast<float>(weights[i]);
    sum = sum * r.constant(Shape{1, columns}, std::move(row));
  }
  return r.reshape(sum, result);
}

bool are_few(const Graph& graph, const Node& n) {
  const Shape& x = graph.type(n.inputs()[0].source)->shape;
  auto integers = [&](const char* name) { return std::get<Dims>(n.attrs.find(name)->second); };
  auto integer = [&](const char* name) { return std::get<std::int64_t>(n.attrs.find(name)->second); };
  if (x.volume() == 0 || n.outputs[0].shape.volume() == 0) return false;
  std::int64_t products = 0, compared = 0, size = x[x.rank() - 1];
  for (const Grams& g : grams_of(integers("pool"), integers("starts"), integers("columns"), integer("shortest"), integer("longest"))) {
    std::int64_t skips = g.length == 1 ? 1 : std::min(integer("most_skips"), size) + 1;
    products += skips * g.length;
    compared = std::max(compared, volume_of(x) * static_cast<std::int64_t>(g.numbers.size()));
  }
  return products <= kMaxProducts && compared <= kMaxCompared;
}

}  // namespace

std::vector<RuleSpec> ngram_rules() {
  return {{.name = "ngram_counts",
           .summary = "sums of products of comparisons",
           .consumes = {"ngram_counts"},
           .produces = index_ops(),
           .build = ngram_counts,
           .takes = Takes::anything,
           .matches = are_few}};
}

}  // namespace buda::index
