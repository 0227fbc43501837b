// SPDX-License-Identifier: Apache-2.0
// The placement that policies work with, and the check of what they return.
#include <buda/balance/models/alike.hpp>
#include <buda/balance/policy/check_choice.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/tensor/tensor.hpp>

#include "unit/balance/fixture.hpp"
#include "unit/balance/random_graph.hpp"

namespace buda::balance {
namespace {

using ::testing::HasSubstr;

// A space over a graph, with all legal models.
struct Space {
  explicit Space(graph::Graph graph, const std::string& device = "n150", ModelOptions options = {}, std::vector<std::string> breaks = {}) {
    normalize(graph);
    auto made = make_problem(graph, schedule(graph, SchedulePolicy::module_inputs_bfs), board(device));
    EXPECT_TRUE(made.ok());
    problem = std::move(*made);
    space.problem = std::make_shared<const Problem>(problem);
    space.options = options;
    space.overrides.resize(problem.ops.size());
    for (std::size_t i = 0; i < problem.ops.size(); ++i) {
      space.models.push_back(legal_models(problem.ops[i], *problem.device, options, nullptr));
      for (const auto& name : breaks)
        if (name == problem.ops[i].node_name) space.overrides[i].epoch_break = true;
    }
  }
  Problem problem;
  ChoiceSpace space;
};

// The model with the most cores, or with the fewest.
const OpModel& largest(const Placement& c, OpId op) { return c.space().models_of(op).back(); }
const OpModel& smallest(const Placement& c, OpId op) { return c.space().models_of(op).front(); }

std::string first_message(const std::vector<Diagnostic>& all) { return all.empty() ? "" : all.front().message; }

TEST(Placer, TakesTheFirstFreePlace) {
  Placer p({4, 6});
  EXPECT_EQ(p.find({2, 3}, {}), (Place{{0, 0}, false}));
  p.take({{0, 0}, {2, 3}});
  EXPECT_EQ(p.free_cores(), 18);
  EXPECT_EQ(p.find({2, 3}, {}), (Place{{0, 3}, false}));
  EXPECT_EQ(p.find({1, 6}, {}), (Place{{2, 0}, false}));
  EXPECT_EQ(p.find({4, 4}, {}), std::nullopt);
  EXPECT_EQ(p.find({6, 1}, {}), std::nullopt);
  EXPECT_EQ(p.find({6, 1}, {.transposed = true}), (Place{{2, 0}, true}));
  EXPECT_FALSE(p.is_free({{1, 2}, {1, 1}}));
  EXPECT_FALSE(p.is_free({{3, 5}, {2, 1}}));
  EXPECT_FALSE(p.is_free({{-1, 0}, {1, 1}}));
  p.release({{0, 0}, {2, 3}});
  EXPECT_EQ(p.free_cores(), 24);
  p.take({{1, 1}, {3, 5}});
  p.clear();
  EXPECT_EQ(p.find({4, 6}, {}), (Place{{0, 0}, false}));
}

TEST(Placer, KeepsToAFixedPlace) {
  Placer p({4, 6});
  EXPECT_EQ(p.find({2, 3}, {.at = GridCoord{1, 2}}), (Place{{1, 2}, false}));
  EXPECT_EQ(p.find({2, 3}, {.at = GridCoord{3, 2}}), std::nullopt);
  EXPECT_EQ(p.find({2, 3}, {.at = GridCoord{1, 4}, .transposed = true}), (Place{{1, 4}, true}));
  p.take({{1, 2}, {1, 1}});
  EXPECT_EQ(p.find({2, 3}, {.at = GridCoord{1, 2}, .transposed = true}), std::nullopt);
}

TEST(Placer, KeepsToAnOrientation) {
  Placer p({4, 6});
  const PlaceRule turned{.at = {}, .upright = false, .transposed = true};
  EXPECT_EQ(p.find({3, 2}, turned), (Place{{0, 0}, true}));
  EXPECT_EQ(p.find({2, 2}, turned), (Place{{0, 0}, true}));
  EXPECT_EQ(p.find({6, 5}, turned), std::nullopt);
  EXPECT_TRUE(turned.fits({6, 4}, {4, 6}));
  EXPECT_FALSE(turned.fits({4, 6}, {4, 6}));
  EXPECT_FALSE(turned.allows({{0, 0}, false}));
}

TEST(Placement, PlacesOpsWhereTheUserWants) {
  Space s(perceptron(288, {256, 256}));
  s.space.overrides[0].place = GridCoord{2, 3};
  Placement c(s.space);
  OpId a = c.schedule()[0];
  EXPECT_FALSE(c.place_at(a, smallest(c, a), {{0, 0}, false}));
  EXPECT_FALSE(c.place(a, largest(c, a))) << "it does not fit below and to the right";
  ASSERT_TRUE(c.place(a, smallest(c, a)));
  EXPECT_EQ(c.placed(a).place, (Place{{2, 3}, false}));
  for (OpId op : c.schedule())
    if (op != a) ASSERT_TRUE(c.place_best(op, [](const OpModel& m, const OpModel& n) { return m.cores() < n.cores(); }).ok());
  Choice choice = *c.choice();
  EXPECT_THAT(check_choice(s.space, choice), ::testing::IsEmpty());
  choice.ops[0].place.at = {0, 1};
  EXPECT_THAT(first_message(check_choice(s.space, choice)), HasSubstr("placed at [0, 1], which the options or its override do not allow"));
}

TEST(Placement, PlacesAndTakesBack) {
  Space s(perceptron(288, {256, 256, 256}));
  Placement c(s.space);
  OpId a = c.schedule()[0], b = c.schedule()[1];
  EXPECT_THAT(c.objection(b, smallest(c, b))->message, HasSubstr("its producer is not placed yet"));
  EXPECT_EQ(c.objection(b, smallest(c, b))->code, "BL012");
  ASSERT_TRUE(c.place(a, largest(c, a)));  // 9 x 8: the whole chip
  EXPECT_EQ(c.placer().free_cores(), 0);
  EXPECT_THAT(c.objection(a, largest(c, a))->message, HasSubstr("placed already"));
  EXPECT_EQ(c.objection(a, largest(c, a))->code, "BL013");
  EXPECT_FALSE(c.place(b, smallest(c, b)));
  EXPECT_FALSE(c.choice().ok());
  c.next_epoch();
  EXPECT_EQ(c.epoch(), 1);
  c.next_epoch();  // an empty epoch is not left
  EXPECT_EQ(c.epoch(), 1);
  // One core cannot read the 72 buffers that the first op writes.
  EXPECT_THAT(c.objection(b, smallest(c, b))->message, HasSubstr("DRAM buffers read by one core: "));
  ASSERT_TRUE(c.place_at(b, largest(c, b), {{0, 0}, false}));
  ASSERT_TRUE(c.choice().ok());
  EXPECT_EQ(c.choice()->epochs(), 2);
  EXPECT_TRUE(check_choice(s.space, *c.choice()).empty());
  c.rewind(a);
  EXPECT_EQ(c.epoch(), 0);
  EXPECT_FALSE(c.is_placed(a));
  EXPECT_FALSE(c.is_placed(b));
  EXPECT_EQ(c.placer().free_cores(), 72);
  ASSERT_TRUE(c.place(a, smallest(c, a)));
  ASSERT_TRUE(c.place(b, smallest(c, b)));
  c.rewind(b);
  EXPECT_EQ(c.placer().free_cores(), 71);
  EXPECT_EQ(c.in_epoch(), std::vector<OpId>{a});
}

// Problems of random graphs, with all that is legal. Those of which some op has no model are left out.
void for_each_random_space(std::uint64_t seeds, const std::function<void(const ChoiceSpace&)>& visit) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    graph::Graph graph = random_graph(seed);
    normalize(graph);
    auto problem = make_problem(graph, schedule(graph, SchedulePolicy::module_inputs_bfs), board("n150"));
    if (!problem) continue;
    ChoiceSpace space;
    space.problem = std::make_shared<const Problem>(*problem);
    space.overrides.resize(problem->ops.size());
    for (const OpSpec& op : problem->ops) space.models.push_back(legal_models(op, board("n150"), {}, nullptr));
    if (std::all_of(space.models.begin(), space.models.end(), [](const LegalModels& m) { return !m.models.empty(); })) visit(space);
  }
}

TEST(Placement, MayStandWhereThereIsNoObjection) {
  std::size_t refused = 0, allowed = 0;
  for_each_random_space(20, [&](const ChoiceSpace& space) {
    Placement c(space);
    for (OpId op : c.schedule()) {
      std::optional<std::size_t> first;
      for (std::size_t i = 0; i < c.space().models_of(op).size(); ++i) {
        const bool may_stand = c.may_stand(op, c.space().models_of(op)[i]);
        EXPECT_EQ(may_stand, !c.objection(op, c.space().models_of(op)[i]))
            << c.space().op(op).label << ": " << c.space().models_of(op)[i].text();
        ++(may_stand ? allowed : refused);
        if (may_stand && !first) first = i;
      }
      if (!first || !c.place(op, c.space().models_of(op)[*first]))
        ASSERT_TRUE(c.place_best(op, [](const auto&, const auto&) { return false; }).ok());
      EXPECT_FALSE(c.may_stand(op, c.placed(op).model));
    }
  });
  EXPECT_GT(refused, 20u);
  EXPECT_GT(allowed, 1000u);
}

// What is known of an op is true of all of its kind: with kinds, the same models may stand.
TEST(Placement, OpsOfAKindMayStandAlike) {
  std::size_t shared = 0;
  for_each_random_space(20, [&](const ChoiceSpace& space) {
    ChoiceSpace with_kinds = space;
    with_kinds.kinds = first_alike(*space.problem);
    for (std::size_t i = 0; i < with_kinds.kinds.size(); ++i) shared += with_kinds.kinds[i] != i ? 1 : 0;
    Placement apart(space), together(with_kinds);
    for (OpId op : apart.schedule()) {
      for (const OpModel& model : space.models_of(op)) EXPECT_EQ(apart.may_stand(op, model), together.may_stand(op, model));
      for (Placement* c : {&apart, &together}) ASSERT_TRUE(c->place_best(op, [](const auto&, const auto&) { return false; }).ok());
    }
  });
  EXPECT_GT(shared, 20u);
}

TEST(Placement, PlacesOutsideTheChipOrOnOthersAreRefused) {
  Space s(perceptron(64, {64, 64, 64}));
  Placement c(s.space);
  OpId a = c.schedule()[0], b = c.schedule()[1];
  EXPECT_FALSE(c.place_at(a, largest(c, a), {{8, 7}, false}));
  EXPECT_FALSE(c.place_at(a, smallest(c, a), {{0, 0}, true}));  // turning is not allowed
  ASSERT_TRUE(c.place_at(a, largest(c, a), {{0, 0}, false}));
  EXPECT_FALSE(c.place_at(b, largest(c, b), {{1, 1}, false}));
}

// A model that is worth an epoch gets one, unless it could not stand there, either.
TEST(Placement, BeginsAnEpochForWhatIsWorthIt) {
  const auto larger = [](const OpModel& a, const OpModel& b) { return a.cores() > b.cores(); };
  Space s(perceptron(288, {256, 256, 256}));
  Placement c(s.space);
  const OpId a = c.schedule()[0], b = c.schedule()[1];
  ASSERT_TRUE(c.place(a, smallest(c, a)));
  EXPECT_FALSE(c.place_preferred(b, larger, larger));
  EXPECT_FALSE(c.is_placed(b));
  ASSERT_TRUE(c.place_preferred(b, larger));
  EXPECT_LT(c.placed(b).model.cores(), largest(c, b).cores());
  c.rewind(b);
  ASSERT_TRUE(c.place_best(b, larger, larger).ok());
  EXPECT_EQ(c.placed(b).epoch, 1);
  EXPECT_EQ(c.placed(b).model.cores(), largest(c, b).cores());

  s.space.overrides[b.index()].place = GridCoord{8, 7};
  Placement corner(s.space);
  ASSERT_TRUE(corner.place(a, smallest(corner, a)));
  ASSERT_TRUE(corner.place_best(b, larger, larger).ok());
  EXPECT_EQ(corner.placed(b).epoch, 0);
  EXPECT_EQ(corner.placed(b).model.cores(), 1);
}

TEST(Placement, EpochBreaksAreKept) {
  Space s(perceptron(32, {32, 32, 32}), "n150", {}, {"fc2"});
  Placement c(s.space);
  OpId a = c.schedule()[0], b = c.schedule()[1];
  ASSERT_TRUE(c.place(a, smallest(c, a)));
  EXPECT_THAT(c.objection(b, smallest(c, b))->message, HasSubstr("it must begin an epoch"));
  ASSERT_TRUE(c.place_best(b, [](const auto&, const auto&) { return false; }).ok());
  EXPECT_EQ(c.placed(b).epoch, 1);
}

// A copy has what was placed before, and nothing of what either does after.
TEST(Placement, CopiesGoTheirOwnWay) {
  Space s(perceptron(64, {64, 64, 64}));
  Placement one(s.space);
  const OpId a = one.schedule()[0], b = one.schedule()[1];
  ASSERT_TRUE(one.place(a, smallest(one, a)));
  Placement other = one;
  ASSERT_TRUE(one.place(b, largest(one, b)));
  EXPECT_FALSE(other.is_placed(b));
  EXPECT_EQ(other.placer().free_cores(), one.placer().free_cores() + largest(one, b).cores());
  other.next_epoch();
  ASSERT_TRUE(other.place(b, smallest(other, b)));
  EXPECT_EQ(one.choice()->epochs(), 1);
  EXPECT_EQ(other.choice()->epochs(), 2);
  EXPECT_TRUE(check_choice(s.space, *one.choice()).empty());
  EXPECT_TRUE(check_choice(s.space, *other.choice()).empty());
  other = one;
  EXPECT_EQ(*other.choice(), *one.choice());
}

TEST(Placement, AForkThatIsTooWideWaitsForTheNextEpoch) {
  // 20 readers of one core: each needs a pipe, and a core can feed 16 (one of them is kept for the queue to later epochs).
  DeviceGraph g;
  Shape s{1, 1, 32, 32};
  auto x = g.input("x", s);
  auto fork = g.op("fork", "exp", {x}, s);
  for (int i = 0; i < 20; ++i) g.output(cat("y", i), g.op(cat("branch", i), "exp", {fork}, s));
  Space space(g.graph);
  Placement c(space.space);
  for (OpId op : c.schedule()) ASSERT_TRUE(c.place_best(op, [](const auto&, const auto&) { return false; }).ok());
  auto choice = c.choice();
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->epochs(), 2);
  int direct = 0;
  for (std::size_t i = 1; i < choice->ops.size(); ++i) direct += choice->ops[i].epoch == 0 ? 1 : 0;
  EXPECT_EQ(direct, 15);
  EXPECT_TRUE(check_choice(space.space, *choice).empty());
  // With one more beside it, the fork is over its limit, and the objection says so.
  Placement again(space.space);
  for (std::size_t i = 0; i < 16; ++i)
    ASSERT_TRUE(again.place(OpId(static_cast<std::uint32_t>(i)), smallest(again, OpId(static_cast<std::uint32_t>(i)))));
  auto d = again.objection(OpId(16), smallest(again, OpId(16)));
  ASSERT_TRUE(d.has_value());
  EXPECT_EQ(d->node, "fork");
  EXPECT_THAT(d->message, HasSubstr("pipes fed by one core: 17 needed, 16 available"));
  EXPECT_THAT(d->notes.back().message, HasSubstr("'branch15'"));
}

// ---- choices that a policy made up

class CheckChoice : public ::testing::Test {
 protected:
  CheckChoice() : s_(perceptron(64, {64, 64, 64})) {
    Placement c(s_.space);
    for (OpId op : c.schedule()) EXPECT_TRUE(c.place(op, largest(c, op)));
    good_ = *c.choice();
  }
  Space s_;
  Choice good_;
};

TEST_F(CheckChoice, AcceptsWhatAPlacementMade) { EXPECT_TRUE(check_choice(s_.space, good_).empty()); }

TEST_F(CheckChoice, FindsMissingOps) {
  good_.ops.pop_back();
  EXPECT_THAT(first_message(check_choice(s_.space, good_)), HasSubstr("placed 1 of 2 ops"));
}

TEST_F(CheckChoice, FindsForeignModels) {
  good_.ops[0].model.block.ublock_ct = 5;
  EXPECT_THAT(first_message(check_choice(s_.space, good_)), HasSubstr("not legal for it"));
}

TEST_F(CheckChoice, FindsOverlaps) {
  good_.ops[1].place.at = {1, 1};
  auto all = check_choice(s_.space, good_);
  EXPECT_THAT(first_message(all), HasSubstr("overlaps another or leaves the chip"));
  EXPECT_EQ(all.front().fault, Fault::bug);
  good_.ops[1].place.at = {8, 7};
  EXPECT_THAT(first_message(check_choice(s_.space, good_)), HasSubstr("leaves the chip"));
}

TEST_F(CheckChoice, FindsWrongEpochs) {
  good_.ops[0].epoch = 1;
  EXPECT_THAT(first_message(check_choice(s_.space, good_)), HasSubstr("before its producer op 'fc1'"));
  good_.ops[0].epoch = -1;
  EXPECT_THAT(first_message(check_choice(s_.space, good_)), HasSubstr("epoch -1"));
}

TEST_F(CheckChoice, FindsTurnedGrids) {
  good_.ops[0].place.transposed = true;
  EXPECT_THAT(first_message(check_choice(s_.space, good_)), HasSubstr("transposed"));
}

// A policy that makes a mistake is named, and the fault is not the user's.
class Careless final : public Policy {
 public:
  Result<Choice> choose(Placement placement, const Estimator&) override {
    for (OpId op : placement.schedule()) BUDA_TRY(placement.place_best(op, [](const auto&, const auto&) { return false; }));
    BUDA_ASSIGN(Choice choice, placement.choice());
    choice.ops[1].place = choice.ops[0].place;
    return choice;
  }
};

TEST(Balance, NamesThePolicyThatWasWrong) {
  auto fs = io::make_real_file_system();
  CollectingSink sink;
  Host host(*fs, sink);
  Careless policy;
  auto result = balance(perceptron(32, {32, 32, 32}), board("n150"), policy, "careless", {}, host);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().diagnostics()[0].fault, Fault::bug);
  EXPECT_EQ(result.failure().diagnostics()[0].code, "BL030");
  EXPECT_THAT(result.failure().diagnostics()[0].message, HasSubstr("policy 'careless' made an illegal choice: "));
}

}  // namespace
}  // namespace buda::balance
