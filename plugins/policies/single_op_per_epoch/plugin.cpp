// SPDX-License-Identifier: Apache-2.0
// The policy `single_op_per_epoch`: every op alone in an epoch, on as many cores as it and its readers can use. What a run measures for an
// epoch then belongs to one op.
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/policy.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace {

using namespace buda;

class SingleOpPerEpoch final : public balance::Policy {
 public:
  // A result lies in as many buffers as its op has cores, and a core reads a few dozen at most: where a reader cannot take that, the op
  // that feeds it from most cores gets fewer.
  Result<balance::Choice> choose(balance::Placement placement, const balance::Estimator&) override {
    const auto& schedule = placement.schedule();
    std::vector<std::int64_t> most(schedule.size(), std::numeric_limits<std::int64_t>::max());  // cores, by OpId
    for (std::size_t i = 0; i < schedule.size();) {
      const balance::OpId op = schedule[i];
      placement.next_epoch();
      auto placed = placement.place_best(op, [&](const auto& a, const auto& b) { return is_preferred(a, b, most[op.index()]); });
      if (placed) {
        ++i;
        continue;
      }
      const auto producer = largest_producer(placement, op);
      if (!producer) return std::move(placed).failure();
      std::int64_t& limit = most[producer->index()];
      limit = std::min(limit, placement.placed(*producer).model.cores()) - 1;
      if (limit == 0) return std::move(placed).failure();
      i = static_cast<std::size_t>(std::find(schedule.begin(), schedule.end(), *producer) - schedule.begin());
      placement.rewind(*producer);
    }
    return placement.choice();
  }

 private:
  static bool is_preferred(const balance::OpModel& a, const balance::OpModel& b, std::int64_t most) {
    if ((a.cores() > most) != (b.cores() > most)) return b.cores() > most;
    if (a.cores() != b.cores()) return a.cores() > b.cores();
    return a.cycles < b.cycles;
  }

  // Nothing where all ops that feed it have one core.
  static std::optional<balance::OpId> largest_producer(const balance::Placement& placement, balance::OpId op) {
    std::optional<balance::OpId> out;
    std::int64_t most = 1;
    for (const balance::Operand& operand : placement.space().op(op).operands) {
      const balance::OpId from = operand.from.op;
      if (!from.valid() || placement.placed(from).model.cores() <= most) continue;
      most = placement.placed(from).model.cores();
      out = from;
    }
    return out;
  }
};

}  // namespace

BUDA_PLUGIN(.name = "single_op_per_epoch", .version = "1.0", .description = "every op in an epoch of its own", .license = "Apache-2.0") {
  registrar.add_policy({.name = "single_op_per_epoch",
                        .summary = "every op alone in an epoch, on the largest grid; to measure ops one by one",
                        .options = {},
                        .make = [](const schema::OptionValues&, Host&) -> Result<std::unique_ptr<balance::Policy>> {
                          return std::unique_ptr<balance::Policy>(std::make_unique<SingleOpPerEpoch>());
                        }});
}
