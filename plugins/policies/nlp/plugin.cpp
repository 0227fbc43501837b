// SPDX-License-Identifier: Apache-2.0
// The policy `nlp`, after PyBuda's default for transformers: all ops take about the same time, with their weights in L1.
//
// A target is worked out first, from the dense matmuls with weights: the fastest that each is on about one row of cores for every six rows
// of tiles says how fast the slowest of them can be, and the target lies above the time at which the smallest grid that holds the weights
// is not much faster than that. Then each op, in the order of the schedule, gets the slowest model that keeps within the target, preferably
// with the rows of cores that it is to have and with its weights in L1. The facts are those of PyBuda's documents; numbers that it found by
// trial (a sixth of the rows, 0.85, 1.2, the limits of the target) are kept.
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <tuple>

namespace {

using namespace buda;
using balance::Estimator;
using balance::OpId;
using balance::OpModel;
using balance::OpSpec;
using balance::Placement;

constexpr std::int64_t kTileRowsOfACoreRow = 6;
constexpr double kFilterShare = 0.85;                     // of the slowest matmul's fastest time: faster models do not set the target
constexpr double kTargetMargin = 1.2;                     // over the fastest that remains
constexpr double kShortest = 45'000, kLongest = 125'000;  // cycles of a target
constexpr double kNearTarget = 0.8;                       // of the target: from there on large blocks count, not slowness

bool is_dense_matmul(const OpSpec& spec) { return netlist::op_class(spec.op.type) == netlist::OpClass::matmul && !spec.selection; }

bool has_weights(const OpSpec& spec) {
  return std::any_of(spec.operands.begin(), spec.operands.end(), [](const auto& operand) { return operand.constant; });
}

// Of the op's weights.
int streamed_weights(const OpSpec& spec, const OpModel& model) {
  int out = 0;
  for (std::size_t i = 0; i < spec.operands.size(); ++i) out += spec.operands[i].constant && !model.is_resident(i) ? 1 : 0;
  return out;
}

bool keeps_weights(const OpSpec& spec, const OpModel& model) { return streamed_weights(spec, model) == 0; }

// The number of rows of cores nearest to a sixth of the result's rows of tiles that one of the models has.
std::int32_t wanted_rows(const Placement& placement, OpId op) {
  const std::int64_t ideal = std::max<std::int64_t>(1, placement.space().op(op).out.rt / kTileRowsOfACoreRow);
  std::int32_t best = 0;
  for (const OpModel& m : placement.space().models_of(op))
    if (best == 0 || std::abs(m.grid.rows - ideal) < std::abs(best - ideal)) best = m.grid.rows;
  return best;
}

// The least cycles of the models that satisfy a condition.
template <class Condition>
std::optional<double> fastest(const Placement& placement, OpId op, Condition&& condition) {
  std::optional<double> out;
  for (const OpModel& m : placement.space().models_of(op))
    if (condition(m) && (!out || m.cycles < *out)) out = m.cycles;
  return out;
}

// On the smallest grid that keeps the weights.
std::optional<double> cycles_on_smallest_grid(const Placement& placement, OpId op) {
  const OpModel* best = nullptr;
  for (const OpModel& m : placement.space().models_of(op))
    if (keeps_weights(placement.space().op(op), m) &&
        (best == nullptr || std::tuple(m.cores(), m.cycles) < std::tuple(best->cores(), best->cycles)))
      best = &m;
  return best == nullptr ? std::nullopt : std::optional(best->cycles);
}

double target_cycles(const Placement& placement) {
  std::vector<OpId> matmuls;
  for (OpId op : placement.schedule())
    if (is_dense_matmul(placement.space().op(op)) && has_weights(placement.space().op(op))) matmuls.push_back(op);
  double filter = 0;
  for (OpId op : matmuls) {
    const std::int32_t rows = wanted_rows(placement, op);
    // Blocks of fewer tiles are slow for their size, and say nothing of what the op could do.
    auto time = fastest(placement, op, [&](const OpModel& m) {
      return m.grid.rows == rows && m.block.mblock_n * m.block.ublock_ct >= 3 && m.block.mblock_m * m.block.ublock_rt >= 4;
    });
    filter = std::max(filter, kFilterShare * time.value_or(0));
  }
  double least = std::numeric_limits<double>::infinity();
  for (OpId op : matmuls)
    if (auto cycles = cycles_on_smallest_grid(placement, op); cycles && *cycles >= filter) least = std::min(least, *cycles);
  return std::clamp(kTargetMargin * least, kShortest, kLongest);
}

class Nlp final : public balance::Policy {
 public:
  explicit Nlp(double target) : target_(target) {}

  Result<balance::Choice> choose(Placement placement, const Estimator&) override {
    const double target = target_ > 0 ? target_ : target_cycles(placement);
    for (OpId op : placement.schedule()) {
      const std::int32_t rows = wanted_rows(placement, op);
      const OpSpec& spec = placement.space().op(op);
      const auto rank_of = [&](const OpModel& m) { return rank(spec, m, rows, target); };
      BUDA_TRY(placement.place_best(
          op, [&](const OpModel& a, const OpModel& b) { return rank_of(a) < rank_of(b); },
          [&](const OpModel& a, const OpModel& b) { return std::get<0>(rank_of(a)) < std::get<0>(rank_of(b)); }));
    }
    return placement.choice();
  }

 private:
  // What is smaller is tried first: class of the model, which is worth an epoch, then large blocks near the target, then few cores, then
  // time.
  using Rank = std::tuple<int, int, std::int64_t, double>;
  static Rank rank(const OpSpec& spec, const OpModel& m, std::int32_t rows, double target) {
    const int without_weights = 3 * streamed_weights(spec, m);
    if (m.cycles > target) return {2 + without_weights, 0, 0, m.cycles};
    const int kind = (m.grid.rows == rows ? 0 : 1) + without_weights;
    if (m.cycles > kNearTarget * target) return {kind, 0, -m.block.mblock_tiles(), -m.cycles};
    return {kind, 1, 0, -m.cycles};
  }

  double target_;
};

}  // namespace

BUDA_PLUGIN(.name = "nlp", .version = "1.0", .description = "equal op times with weights in L1", .license = "Apache-2.0") {
  schema::OptionSpec target;
  target.name = "target-cycles";
  target.type = schema::OptionType::integer;
  target.summary = "cycles that an op may take for one input; 0: worked out from the matmuls with weights";
  target.value_name = "N";
  target.default_text = "0";
  target.least = 0;
  registrar.add_policy({.name = "nlp",
                        .summary = "all ops within one target time, with weights in L1: PyBuda's policy for transformers",
                        .options = {target},
                        .make = [](const schema::OptionValues& options, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          return std::unique_ptr<balance::Policy>(
                              std::make_unique<Nlp>(static_cast<double>(options.integer("target-cycles"))));
                        }});
}
