// SPDX-License-Identifier: Apache-2.0
// Which operands have the columns of a matmul's result, and how far they may grow.
#include <buda/balance/legalize/padding.hpp>

#include <buda/balance/policy/neighbours.hpp>
#include <buda/base/checked.hpp>
#include <buda/ops/table/op_traits.hpp>

#include <algorithm>
#include <limits>

namespace buda::balance {
namespace {

using netlist::Tm;
using netlist::TmKind;

// The side of a source's tensor that becomes the columns of an operand.
std::int64_t netlist::TileShape::*columns_of(const netlist::EdgeMaps& maps) {
  std::int64_t netlist::TileShape::*side = &netlist::TileShape::ct;
  if (maps.pad || maps.unpad) return nullptr;
  for (const Tm& tm : maps.tms) {
    if (tm.kind == TmKind::transpose) {
      side = side == &netlist::TileShape::ct ? &netlist::TileShape::rt : &netlist::TileShape::ct;
    } else if (tm.kind != TmKind::broadcast || tm.dim != netlist::Dim::r || side != &netlist::TileShape::ct) {
      return nullptr;
    }
  }
  return side;
}

// A result grows by this part of itself at most.
constexpr std::int64_t kMaxPaddedPart = 8;

// Whether operand `input` has columns that can be filled up: those of a parameter that nobody else reads.
bool can_grow(const Problem& problem, const OpSpec& spec, std::size_t input) {
  const Operand& operand = spec.operands[input];
  return operand.constant && problem.source(operand.from.source).users.size() == 1 && columns_of(spec.op.inputs[input].maps) != nullptr;
}

bool can_pad(const Problem& problem, const OpSpec& spec) {
  if (!ops::multiplies_matrices(spec.op.type) || spec.selection || spec.feeds_loopback) return false;
  for (std::size_t i = 1; i < spec.operands.size(); ++i)
    if (!can_grow(problem, spec, i)) return false;
  return std::all_of(spec.users.begin(), spec.users.end(), [&](const OpUse& use) {
    return !problem.op(use.op).selection && !problem.op(use.op).op.inputs[use.input].maps.unpad;
  });
}

}  // namespace

std::optional<std::int64_t> padded_columns(const Problem& problem, OpId op, const ModelOptions& options, const OpOverride* overrides) {
  if (!can_pad(problem, problem.op(op))) return std::nullopt;
  const std::int64_t columns = problem.op(op).out.ct;
  // What is padded is computed and moved: the next multiples of small powers of two, from near to far.
  std::optional<std::int64_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (const std::int64_t multiple : {2, 4, 8, 16, 32, 64}) {
    const std::int64_t padded = align_up(columns + 1, multiple);
    if (padded - columns > std::max<std::int64_t>(columns / kMaxPaddedPart, 1)) break;
    Problem trial = problem;
    pad_columns(trial, op, padded);
    LegalModels legal = legal_models(trial.op(op), *problem.device, options, overrides);
    std::sort(legal.models.begin(), legal.models.end(), [](const OpModel& x, const OpModel& y) { return x.cycles < y.cycles; });
    for (const OpModel& m : legal.models) {
      if (m.cycles >= least) break;
      if (!fits_with_sources(trial, op, m)) continue;
      least = m.cycles;
      best = padded;
    }
  }
  return best;
}

void pad_columns(Problem& problem, OpId op, std::int64_t columns) {
  OpSpec& spec = problem.ops[op.index()];
  const auto added = static_cast<std::int32_t>(columns - spec.out.ct);
  spec.out.ct = columns;
  for (std::size_t i = 1; i < spec.operands.size(); ++i) {
    const auto side = columns_of(spec.op.inputs[i].maps);
    problem.sources[spec.operands[i].from.source.index()].shape.*side += added;
    spec.operands[i].shape.*side += added;
  }
  for (const OpUse& use : spec.users) {
    OpSpec& user = problem.ops[use.op.index()];
    user.operands[use.input].shape = spec.out;
    user.op.inputs[use.input].maps.unpad = netlist::Unpad{0, added};
  }
}

}  // namespace buda::balance
