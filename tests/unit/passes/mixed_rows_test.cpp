// SPDX-License-Identifier: Apache-2.0
// What is said about the rows of random graphs is compared with what they do: one row of the inputs is changed, and the rows change places.
// A value whose rows are said to be independent must agree; how often a dependence is said that does not show is counted.
// BUDA_RANDOM_GRAPHS=FIRST:COUNT runs others.
#include "random_graphs.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/rows/mixed_rows.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

namespace buda::passes::mixed_rows_trial {
namespace {

using graph::NodeId;

// All values with as many rows as the inputs become outputs.
void watch_all(graph::Graph& graph, std::int64_t rows) {
  for (NodeId id : graph.ids()) {
    const graph::Node& n = graph.node(id);
    if (!n.is_op()) continue;
    for (std::size_t port = 0; port < n.outputs.size(); ++port)
      if (const Shape& shape = n.outputs[port].shape; shape.rank() > 0 && shape[0] == rows)
        graph.add(cat("watched", id.index(), '.', port), std::string(graph::kOutputOp),
                  {graph::ValueRef(id, static_cast<std::uint32_t>(port))});
  }
}

std::string row(const Tensor& t, std::int64_t i) {
  const std::size_t bytes = t.bytes().size() / static_cast<std::size_t>(t.shape()[0]);
  return std::string(t.bytes().substr(static_cast<std::size_t>(i) * bytes, bytes));
}

Tensor of_rows(const Tensor& t, const std::vector<std::string>& rows) {
  return *Tensor::from_bytes(t.dtype(), t.shape(), io::Bytes(join(rows, "")));
}

std::vector<std::string> rows_of(const Tensor& t) {
  std::vector<std::string> out;
  for (std::int64_t i = 0; i < t.shape()[0]; ++i) out.push_back(row(t, i));
  return out;
}

// The same rows one place further.
Tensor turned(const Tensor& t) {
  auto rows = rows_of(t);
  std::rotate(rows.begin(), rows.begin() + 1, rows.end());
  return of_rows(t, rows);
}

// Row `i` with its elements in the opposite order: other numbers of the same kind.
Tensor with_other_row(const Tensor& t, std::int64_t i) {
  auto rows = rows_of(t);
  auto& r = rows[static_cast<std::size_t>(i)];
  const std::size_t size = dtype_size(t.dtype());
  std::string other;
  for (std::size_t at = r.size(); at > 0; at -= size) other += r.substr(at - size, size);
  if (other == r) other = rows[(static_cast<std::size_t>(i) + 1) % rows.size()];
  r = other;
  return of_rows(t, rows);
}

// Products of other rows are summed in another order, perhaps.
bool equal_but_for_rounding(const Tensor& a, const Tensor& b) {
  if (a.bytes() == b.bytes()) return true;
  const std::vector<float> x = a.to_f32(), y = b.to_f32();
  double largest = 0;
  for (float v : x)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(static_cast<double>(v)));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i])) && !(std::abs(x[i] - y[i]) <= 1e-5 * largest)) return false;
  return true;
}

template <class F>
NamedTensors changed(const NamedTensors& inputs, F f) {
  NamedTensors out;
  for (const auto& [name, tensor] : inputs) out.emplace(name, f(tensor));
  return out;
}

// Outputs of which a row changes with another row of the inputs, or with its place.
std::set<std::string> dependent(const graph::Graph& graph, const NamedTensors& inputs, std::int64_t rows) {
  std::set<std::string> out;
  const auto before = ops::evaluate_graph(graph, inputs);
  EXPECT_TRUE(before);
  for (std::int64_t i = 0; before && i < rows; ++i) {
    const auto after = ops::evaluate_graph(graph, changed(inputs, [&](const Tensor& t) { return with_other_row(t, i); }));
    for (const auto& [name, tensor] : *before)
      for (std::int64_t other = 0; tensor.shape().rank() > 0 && tensor.shape()[0] == rows && other < rows; ++other)
        if (other != i && row(tensor, other) != row(after->at(name), other)) out.insert(name);
  }
  const auto after = ops::evaluate_graph(graph, changed(inputs, turned));
  for (const auto& [name, tensor] : *before)
    if (tensor.shape().rank() > 0 && tensor.shape()[0] == rows && !equal_but_for_rounding(turned(tensor), after->at(name)))
      out.insert(name);
  return out;
}

struct Tally {
  std::size_t own = 0, mixed = 0, in_vain = 0;
  std::map<std::string, std::size_t> ops_in_vain;
};

void compare(std::uint64_t seed, RandomOps ops, Tally& tally) {
  const std::int64_t rows = 2 + static_cast<std::int64_t>(seed % 3);
  RandomGraph r = random_graph(seed, ops, rows);
  watch_all(r.graph, rows);
  std::map<std::string, std::string> said;
  for (const ops::MixedRows& m : ops::mixed_rows(r.graph))
    said.emplace(r.graph.node(m.output).name(), r.graph.contains(m.mixer) ? r.graph.node(m.mixer).op() : "");
  const std::set<std::string> seen = dependent(r.graph, r.inputs, rows);
  for (NodeId id : r.graph.outputs()) {
    const std::string& name = r.graph.node(id).name();
    const graph::ValueType* type = r.graph.type(r.graph.node(id).inputs()[0].source);
    if (type->shape.rank() == 0 || type->shape[0] != rows) continue;
    const bool says = said.contains(name), shows = seen.contains(name);
    EXPECT_TRUE(says || !shows) << "seed " << seed << ": rows of '" << name << "' depend on each other";
    ++(says ? tally.mixed : tally.own);
    if (says && !shows) ++tally.in_vain, ++tally.ops_in_vain[said.at(name)];
  }
}

class MixedRows : public testing::TestWithParam<RandomOps> {};

TEST_P(MixedRows, AreThoseThatDependOnEachOther) {
  std::uint64_t first = 1, count = 150;
  if (const char* range = std::getenv("BUDA_RANDOM_GRAPHS")) {
    auto parts = split(range, ':');
    first = parse_uint(parts[0]).value_or(1);
    if (parts.size() > 1) count = parse_uint(parts[1]).value_or(count);
  }
  Tally tally;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) compare(seed, GetParam(), tally);
  std::string in_vain;
  for (const auto& [op, times] : tally.ops_in_vain) in_vain += cat(' ', op, ' ', times);
  RecordProperty("own", cat(tally.own));
  RecordProperty("mixed", cat(tally.mixed));
  RecordProperty("in_vain", cat(tally.in_vain, ':', in_vain));
  std::printf("own %zu, mixed %zu, of these in vain %zu:%s\n", tally.own, tally.mixed, tally.in_vain, in_vain.c_str());
  EXPECT_GT(tally.own, count);
  EXPECT_GT(tally.mixed - tally.in_vain, count);
  EXPECT_LT(tally.in_vain * 10, tally.own + tally.mixed);
}

INSTANTIATE_TEST_SUITE_P(Ops, MixedRows, testing::Values(RandomOps::basic, RandomOps::batches, RandomOps::all), [](const auto& info) {
  return std::string(info.param == RandomOps::all ? "All" : info.param == RandomOps::batches ? "Batches" : "Basic");
});

}  // namespace
}  // namespace buda::passes::mixed_rows_trial
