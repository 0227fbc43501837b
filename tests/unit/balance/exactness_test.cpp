// SPDX-License-Identifier: Apache-2.0
// Where no number is rounded, neither policy, seed nor override changes a bit: cores, blocks and epochs only say where and when.
#include "unit/balance/fixture.hpp"
#include "unit/balance/golden_model.hpp"
#include "unit/balance/random_graph.hpp"

#include <buda/ops/whole_graph/evaluate.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <optional>

namespace buda::balance {
namespace {

Result<NamedTensors> exactly_on_golden(const Balanced& b, const NamedTensors& inputs) {
  BUDA_ASSIGN(auto session, GoldenSession::open(b, arith::Mode::exact));
  return session.run(inputs);
}

// Overrides that a user may give of an op without knowing its shape; u_kt only of ops that have an inner dimension.
std::map<std::string, std::string> overrides_of(const graph::Graph& graph, std::uint64_t number) {
  const std::string op = some_op(graph, number);
  if (number % 4 == 0) return {{op + ".epoch-break", "true"}};
  if (number % 4 == 1) return {{op + ".dram-parameters", "true"}};
  if (number % 4 == 2 && graph.node(graph.find(op)).op() == "matmul") return {{op + ".u_kt", "1"}};
  return {};
}

class Exactness : public ::testing::TestWithParam<std::string> {};

TEST_P(Exactness, NoChoiceChangesABit) {
  constexpr std::uint64_t kChoices = 6;
  std::uint64_t compared = 0;
  const SeedRange seeds = seeds_wanted(8);
  for (std::uint64_t seed = seeds.first; seed < seeds.end(); ++seed) {
    const graph::Graph graph = random_graph(seed, RandomValues::integers);
    const NamedTensors inputs = integer_inputs(graph, seed);
    auto meant = ops::evaluate_graph(graph, inputs);
    ASSERT_TRUE(meant.ok()) << text_of(meant.failure());
    std::optional<NamedTensors> first;
    for (std::uint64_t choice = 0; choice < kChoices; ++choice) {
      SCOPED_TRACE(cat("seed ", seed, ", choice ", choice));
      BalanceOptions options;
      options.models.allow_transpose = choice % 2 == 0;
      options.models.resident_parameters = choice % 3 != 0;
      if (choice > 2) options.queues.divided_from = 0;
      options.overrides = overrides_of(graph, seed + choice);
      auto balanced = balance_with(graph, GetParam(), options, *some_policy(choice));
      // An override may be one that cannot be met.
      if (!balanced.ok() && !options.overrides.empty()) continue;
      ASSERT_TRUE(balanced.ok()) << text_of(balanced.failure());
      auto found = exactly_on_golden(*balanced, inputs);
      ASSERT_TRUE(found.ok()) << text_of(found.failure());
      if (!first) {
        first = *found;
        ASSERT_EQ(found->size(), meant->size());
        for (const auto& [name, tensor] : *meant) {
          const auto a = tensor.as<float>(), b = found->at(name).as<float>();
          EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << name;
          EXPECT_TRUE(std::all_of(a.begin(), a.end(), [](float v) { return std::abs(v) < 256; })) << name << " is not exact in 16 bits";
        }
      }
      EXPECT_TRUE(*found == *first);
      ++compared;
    }
  }
  EXPECT_GE(compared, seeds.count * kChoices * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(Boards, Exactness, ::testing::Values("e75", "n150", "blackhole"), [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace buda::balance
