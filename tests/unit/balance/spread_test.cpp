// The policy that spreads each epoch's work over the chip.
#include <buda/balance/solve/spread.hpp>
#include <buda/balance/solve/tighten_epochs.hpp>

#include "unit/balance/fixture.hpp"

namespace buda::balance {
namespace {

// What the policy makes of a graph, with the space that it chose from.
struct Chosen {
  explicit Chosen(graph::Graph graph, const std::vector<std::string>& breaks = {}) {
    normalize(graph);
    auto made = make_problem(graph, schedule(graph, SchedulePolicy::module_inputs_bfs), board("n150"));
    EXPECT_TRUE(made.ok());
    problem = std::move(*made);
    space.problem = &problem;
    space.overrides.resize(problem.ops.size());
    for (std::size_t i = 0; i < problem.ops.size(); ++i) {
      space.models.push_back(legal_models(problem.ops[i], *problem.device, {}, nullptr));
      if (std::find(breaks.begin(), breaks.end(), problem.ops[i].node_name) != breaks.end()) space.overrides[i].epoch_break = true;
    }
    PolicyContext context(space, 1);
    auto found = spread(context, {});
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : text_of(found.failure()));
    if (found) choice = std::move(*found);
  }
  Problem problem;
  ChoiceSpace space;
  Choice choice;
};

Choice by_size(const ChoiceSpace& space, bool largest) {
  PolicyContext context(space, 1);
  auto choice = BySize(largest).choose(context);
  EXPECT_TRUE(choice.ok());
  return choice.ok() ? *choice : Choice{};
}

// Layers of very different work.
graph::Graph uneven() { return perceptron(8 * 32, {64, 2048, 1024, 128, 64}); }

TEST(Spread, IsLegalAndBeatsTheExtremes) {
  const Chosen c(uneven());
  EXPECT_TRUE(check_choice(c.space, c.choice).empty());
  const double cycles = pipelined_cycles(c.choice);
  EXPECT_LT(3 * cycles, pipelined_cycles(by_size(c.space, false)));
  EXPECT_LE(cycles, pipelined_cycles(by_size(c.space, true)));
}

TEST(Spread, OpsGetNoMoreCoresThanTheyNeed) {
  const Chosen c(uneven());
  for (const PlacedOp& op : c.choice.ops) {
    double slowest = 0;
    for (const PlacedOp& other : c.choice.ops)
      if (other.epoch == op.epoch) slowest = std::max(slowest, other.model.cycles);
    // A smaller legal model that is as fast as the slowest op may be refused by neighbours, but not one of a quarter of the cores.
    const auto i = static_cast<std::size_t>(&op - c.choice.ops.data());
    for (const OpModel& m : c.space.models[i].models)
      if (4 * m.cores() <= op.model.cores()) {
        EXPECT_GT(m.cycles, slowest) << c.problem.ops[i].label << ": " << m.text();
      }
  }
}

TEST(Spread, EpochBreaksAreKept) {
  const Chosen c(perceptron(32, {32, 32, 32, 32}), {"fc2"});
  ASSERT_EQ(c.choice.ops.size(), 3u);
  EXPECT_EQ(c.choice.ops[0].epoch, 0);
  EXPECT_EQ(c.choice.ops[1].epoch, 1);
  EXPECT_EQ(c.choice.ops[2].epoch, 1);
}

TEST(TightenedEpochs, UseTheCoresThatAreLeft) {
  const Chosen c(uneven());
  const Choice small = by_size(c.space, false);
  PolicyContext context(c.space, 1);
  const auto found = tightened(context, small);
  ASSERT_TRUE(found.ok()) << text_of(found.failure());
  EXPECT_TRUE(check_choice(c.space, *found).empty());
  EXPECT_LT(pipelined_cycles(*found), 0.9 * pipelined_cycles(small));
  for (std::size_t i = 0; i < small.ops.size(); ++i) EXPECT_EQ(found->ops[i].epoch, small.ops[i].epoch) << i;
}

TEST(PipelinedCycles, AreOfTheSlowestOpOfEachEpoch) {
  Choice choice;
  for (auto [epoch, cycles] : {std::pair{0, 5.0}, std::pair{0, 7.0}, std::pair{1, 3.0}}) {
    PlacedOp op;
    op.epoch = epoch;
    op.model.cycles = cycles;
    choice.ops.push_back(op);
  }
  EXPECT_EQ(pipelined_cycles(choice), 10);
  EXPECT_EQ(pipelined_cycles({}), 0);
}

}  // namespace
}  // namespace buda::balance
