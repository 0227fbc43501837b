// The policy that spreads each epoch's work over the chip.
#include <buda/balance/solve/relieve_links.hpp>
#include <buda/balance/solve/spread.hpp>
#include <buda/balance/solve/tighten_epochs.hpp>
#include <buda/balance/solve/trials.hpp>

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
  PacedPlacer placer(context, PlaceGoal::first);
  const auto found = tightened(placer, small);
  ASSERT_TRUE(found.ok()) << text_of(found.failure());
  EXPECT_TRUE(check_choice(c.space, *found).empty());
  EXPECT_LT(pipelined_cycles(*found), 0.9 * pipelined_cycles(small));
  for (std::size_t i = 0; i < small.ops.size(); ++i) EXPECT_EQ(found->ops[i].epoch, small.ops[i].epoch) << i;
}

TEST(PacedEpochs, TakeAnotherPaceWhereTheChipHasRoom) {
  const Chosen c(uneven());
  const Choice large = by_size(c.space, true);
  PolicyContext context(c.space, 1);
  PacedPlacer placer(context, PlaceGoal::first);
  const auto slow = paced(placer, large, [](double, double interval) { return 2 * interval; });
  ASSERT_TRUE(slow.ok()) << text_of(slow.failure());
  EXPECT_TRUE(check_choice(c.space, *slow).empty());
  std::int64_t before = 0, after = 0;
  for (const PlacedOp& op : large.ops) before += op.model.cores();
  for (const PlacedOp& op : slow->ops) after += op.model.cores();
  EXPECT_LT(after, before);
  // There is no faster one.
  const auto same = paced(placer, large, [](double, double) { return 0.0; });
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(*same, large);
}

TEST(JoinedEpochs, AreTakenFromSeveralChoices) {
  const Chosen c(perceptron(8 * 32, {64, 256, 128, 64}), {"fc2"});
  const Choice large = by_size(c.space, true);
  PolicyContext context(c.space, 1);
  PacedPlacer placer(context, PlaceGoal::first);
  auto slow = paced(placer, large, [](double, double interval) { return 3 * interval; });
  ASSERT_TRUE(slow.ok());
  ASSERT_EQ(slow->epochs(), large.epochs());
  ASSERT_GT(large.epochs(), 1);
  std::vector<std::size_t> from(static_cast<std::size_t>(large.epochs()), 0);
  from.back() = 1;
  const auto both = joined(placer, {&large, &*slow}, from);
  ASSERT_TRUE(both.ok()) << text_of(both.failure());
  EXPECT_TRUE(check_choice(c.space, *both).empty());
  for (std::size_t i = 0; i < both->ops.size(); ++i)
    EXPECT_EQ(both->ops[i], (large.ops[i].epoch == large.epochs() - 1 ? *slow : large).ops[i]) << i;
}

// Ops that mind the links stand as legally as others, with or without an eye on the op before.
TEST(PacedEpochs, MindLinks) {
  const Chosen c(uneven());
  for (PlaceGoal goal : {PlaceGoal::links, PlaceGoal::pairs}) {
    PolicyContext context(c.space, 1);
    LinkModel links(context);
    PacedPlacer placer(context, goal, &links);
    for (double part : {1.0, 0.5, 0.1}) {
      const auto choice = paced(placer, c.choice, [part](double, double interval) { return part * interval; });
      ASSERT_TRUE(choice.ok()) << text_of(choice.failure());
      EXPECT_TRUE(check_choice(c.space, *choice).empty());
    }
  }
}

// What is known of links while ops are placed is what streams bring later.
TEST(LinkLoads, AreThoseOfTheReport) {
  std::size_t compared = 0;
  for (const auto& sizes : {std::vector<std::int64_t>{64, 2048, 1024, 128, 64}, {512, 512, 512, 512, 512, 512}, {2048, 256, 2048}}) {
    BySize policy(true);
    BalanceOptions options;
    options.batches = 8;
    auto balanced = balance_with(perceptron(8 * 32, sizes), "n150", options, policy);
    ASSERT_TRUE(balanced.ok()) << text_of(balanced.failure());
    ChoiceSpace space;
    space.problem = &balanced->problem;
    space.overrides.resize(balanced->problem.ops.size());
    for (std::size_t i = 0; i < balanced->problem.ops.size(); ++i) space.models.emplace_back().models.push_back(balanced->choice.ops[i].model);
    PolicyContext context(space, 1);
    LinkModel model(context);
    Choice unmoved = balanced->choice;
    ASSERT_TRUE(for_each_epoch(context, unmoved, [&](std::size_t end) {
                  LinkLoads loads(context, model);
                  loads.follow(end);
                  const auto& epoch = balanced->report.epochs[static_cast<std::size_t>(context.epoch())];
                  for (const ReportPath& path : epoch.paths)
                    if (path.kind == "NoC") {
                      EXPECT_NEAR(loads.busiest(), static_cast<double>(path.cycles), 0.3 * static_cast<double>(path.cycles));
                      ++compared;
                    }
                }).ok());
  }
  EXPECT_GE(compared, 3u);
}

TEST(RelievedLinks, AreNoBusierThanBefore) {
  const Chosen c(uneven());
  const Choice large = by_size(c.space, true);
  PolicyContext context(c.space, 1);
  LinkModel model(context);
  const auto once = relieved(context, model, large);
  ASSERT_TRUE(once.ok()) << text_of(once.failure());
  EXPECT_TRUE(check_choice(c.space, once->choice).empty());
  ASSERT_EQ(once->links.size(), static_cast<std::size_t>(large.epochs()));
  EXPECT_TRUE(for_each_epoch(context, large, [&](std::size_t end) {
                LinkLoads before(context, model);
                before.follow(end);
                EXPECT_LE(once->links[static_cast<std::size_t>(context.epoch())], before.busiest() * (1 + 1e-9));
              }).ok());
}

// What an estimate says counts, and what cannot be built loses.
TEST(Trials, CompareByTheEstimate) {
  const Chosen c(uneven());
  const Choice small = by_size(c.space, false), large = by_size(c.space, true);
  auto trial_of = [](const Choice& choice) {
    Trial out;
    out.choice = choice;
    return out;
  };
  for (bool small_is_best : {false, true}) {
    PolicyContext context(c.space, 1, [&](const Choice& choice) -> std::optional<std::vector<double>> {
      if (choice == c.choice) return std::nullopt;
      return std::vector<double>(static_cast<std::size_t>(choice.epochs()), (choice == small) == small_is_best ? 1 : 1e9);
    });
    LinkModel links(context);
    Trials trials(context, links, 1);
    ASSERT_TRUE(trials.estimates());
    trials.estimate(trial_of(c.choice));
    EXPECT_TRUE(trials.best()->fails);
    EXPECT_EQ(trials.best()->choice, c.choice);
    trials.estimate(trial_of(small));
    trials.estimate(trial_of(large));
    trials.estimate(trial_of(c.choice));
    EXPECT_FALSE(trials.best()->fails);
    EXPECT_EQ(trials.best()->choice, small_is_best ? small : large);
  }
}

TEST(Trials, RateByOpsLinksAndDram) {
  const Chosen c(uneven());
  PolicyContext context(c.space, 1, [](const Choice&) { return std::nullopt; });
  LinkModel links(context);
  Trials trials(context, links, 1);
  const std::size_t before = trials.placements_left();
  const Trial small = trials.rated(by_size(c.space, false)), large = trials.rated(by_size(c.space, true));
  EXPECT_EQ(trials.placements_left() + 2, before);
  EXPECT_FALSE(small.fails);
  EXPECT_GE(small.cycles, pipelined_cycles(small.choice));
  EXPECT_TRUE(large.is_better(small));
  EXPECT_EQ(small.epochs.size(), static_cast<std::size_t>(small.choice.epochs()));
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
