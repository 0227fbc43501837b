// SPDX-License-Identifier: Apache-2.0
// Which operands have the rows of a result, and selections with more rows.
#include <buda/balance/legalize/row_padding.hpp>

#include <buda/balance/problem/selection.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace buda::balance {
namespace {

using netlist::OpClass;
using netlist::Tm;
using netlist::TmKind;

enum class RowUse : std::uint8_t {
  none,      // the result does not depend on how many rows the operand has
  same,      // row i of the result is made of row i of the operand
  repeated,  // one row of tiles, repeated by a broadcast
  other,
};

// By the op alone.
RowUse use_by_class(const OpSpec& spec, std::size_t input) {
  switch (netlist::op_class(spec.op.type)) {
    case OpClass::binary:
    case OpClass::unary:
    case OpClass::sfpu:
      return RowUse::same;
    case OpClass::matmul:
      return input == 1 ? RowUse::none : input > 2 ? RowUse::other : RowUse::same;
    case OpClass::reduce:
      return spec.op.attributes.reduce_dim == netlist::Dim::r ? RowUse::other : RowUse::same;
    case OpClass::splice:
      return spec.splice.dim == netlist::Dim::r ? RowUse::other : RowUse::same;
    default:
      return RowUse::other;
  }
}

RowUse row_use(const OpSpec& spec, std::size_t input) {
  const RowUse use = use_by_class(spec, input);
  const netlist::EdgeMaps& maps = spec.op.inputs[input].maps;
  if (use != RowUse::same) return use;
  if (maps.pad || maps.unpad) return RowUse::other;
  const std::int64_t rows = spec.operands[input].shape.rt;
  bool is_repeated = false;
  for (const Tm& tm : maps.tms) {
    const bool along_rows = (tm.kind == TmKind::broadcast || tm.kind == TmKind::tile_broadcast) && tm.dim == netlist::Dim::r;
    if (tm.kind == TmKind::transpose || tm.kind == TmKind::vslice || tm.kind == TmKind::vstack || tm.kind == TmKind::pad)
      return RowUse::other;
    if (along_rows && rows != 1) return RowUse::other;
    if (along_rows && tm.kind == TmKind::broadcast) {
      if (is_repeated || tm.factor != spec.out.rt) return RowUse::other;
      is_repeated = true;
    }
  }
  if (is_repeated) return RowUse::repeated;
  return rows == spec.out.rt ? RowUse::same : RowUse::other;
}

// Grows a region from one op to all that its operands and users need.
class RegionSearch {
 public:
  RegionSearch(const Problem& problem, OpId first)
      : problem_(problem), rows_(problem.op(first).out.rt), is_member_(problem.ops.size(), false) {
    add(first);
  }

  std::optional<RowRegion> run() {
    for (std::size_t i = 0; i < region_.ops.size(); ++i)
      if (!visit(problem_.op(region_.ops[i]))) return std::nullopt;
    return std::move(region_);
  }

 private:
  void add(OpId op) {
    if (is_member_[op.index()]) return;
    is_member_[op.index()] = true;
    region_.ops.push_back(op);
  }

  bool visit(const OpSpec& spec) {
    if (spec.outputs > 0 || spec.feeds_loopback || spec.out.rt != rows_) return false;
    for (std::size_t i = 0; !spec.selection && i < spec.operands.size(); ++i) {
      const RowUse use = row_use(spec, i);
      if (use == RowUse::other || (use == RowUse::same && !spec.operands[i].from.op.valid())) return false;
      if (use == RowUse::same) add(spec.operands[i].from.op);
    }
    return std::all_of(spec.users.begin(), spec.users.end(), [this](const OpUse& use) { return add_user(use); });
  }

  bool add_user(const OpUse& use) {
    const OpSpec& user = problem_.op(use.op);
    if (user.selection) {
      region_.selections.push_back(use);
      return user.op.inputs[use.input].maps == netlist::EdgeMaps{};
    }
    if (row_use(user, use.input) != RowUse::same) return false;
    add(use.op);
    return true;
  }

  const Problem& problem_;
  std::int64_t rows_;
  std::vector<bool> is_member_;  // by OpId
  RowRegion region_;
};

std::shared_ptr<const SelectionMatrix> with_rows(const SelectionMatrix& matrix, std::int32_t rows) {
  SelectionMatrix out = matrix;
  out.rows = rows;
  for (auto& product : out.products) product.row = product.row / matrix.rows * rows + product.row % matrix.rows;
  out.first.clear();
  std::size_t next = 0;
  for (std::int32_t row = 0; row <= out.slices * rows; ++row) {
    while (next < out.products.size() && out.products[next].row < row) ++next;
    out.first.push_back(next);
  }
  return std::make_shared<const SelectionMatrix>(std::move(out));
}

std::shared_ptr<const SelectionMatrix> with_act_rows(const SelectionMatrix& matrix, std::int32_t rows) {
  SelectionMatrix out = matrix;
  out.act_rows = rows;
  for (auto& product : out.products) product.act = product.act / matrix.act_rows * rows + product.act % matrix.act_rows;
  return std::make_shared<const SelectionMatrix>(std::move(out));
}

void repeat_rows(OpSpec& spec, std::int32_t rows) {
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    if (row_use(spec, i) != RowUse::repeated) continue;
    for (Tm& tm : spec.op.inputs[i].maps.tms)
      if (tm.kind == TmKind::broadcast && tm.dim == netlist::Dim::r) tm.factor = rows;
  }
}

// What the tallest grid leaves to a core.
std::int64_t rows_of_core(std::int64_t rows, std::int64_t most) {
  std::int64_t grid = std::min(rows, most);
  while (rows % grid != 0) --grid;
  return rows / grid;
}

constexpr std::int64_t kMaxRowsAdded = 16;  // one in so many

// Whether no override names an op of the region, or one that reads it.
bool is_open(const RowRegion& region, std::span<const OpOverride> overrides) {
  const auto is_free = [&](OpId id) { return overrides[id.index()].given.empty(); };
  return std::all_of(region.ops.begin(), region.ops.end(), is_free) &&
         std::all_of(region.selections.begin(), region.selections.end(), [&](const OpUse& use) { return is_free(use.op); });
}

// Whether overrides give every op of the region a blocking of so many rows.
bool asks_for(const Problem& problem, const RowRegion& region, std::int64_t rows, std::span<const OpOverride> overrides) {
  return std::all_of(region.ops.begin(), region.ops.end(), [&](OpId id) {
    const OpSpec& spec = problem.op(id);
    const auto blocked = overrides[id.index()].blocked_tiles();
    return blocked && (*blocked)[0] == rows * (spec.selection ? spec.selection->slices : 1);
  });
}

}  // namespace

std::optional<RowRegion> row_region(const Problem& problem, OpId op) { return RegionSearch(problem, op).run(); }

void pad_rows(Problem& problem, const RowRegion& region, std::int64_t rows) {
  const auto count = static_cast<std::int32_t>(rows);
  for (OpId id : region.ops) {
    OpSpec& spec = problem.ops[id.index()];
    if (spec.selection) {
      spec.selection = with_rows(*spec.selection, count);
    } else {
      repeat_rows(spec, count);
    }
    spec.out.rt = rows;
  }
  for (OpId id : region.ops)
    for (const OpUse& use : problem.op(id).users) problem.ops[use.op.index()].operands[use.input].shape = problem.op(id).out;
  for (const OpUse& use : region.selections) {
    OpSpec& user = problem.ops[use.op.index()];
    user.selection = with_act_rows(*user.selection, count);
    user.inner = rows;
  }
}

std::int64_t rows_that_divide(std::int64_t rows, std::int64_t most) {
  std::int64_t best = rows, least = rows_of_core(rows, most) / 2;
  for (std::int64_t more = rows + 1; more <= rows + rows / kMaxRowsAdded; ++more) {
    const std::int64_t left = rows_of_core(more, most);
    if (left > least || (best != rows && left == least)) continue;
    best = more;
    least = left;
  }
  return best;
}

void pad_uneven_rows(Problem& problem, std::span<const OpOverride> overrides) {
  const std::int64_t most = problem.device->grid().rows;
  std::vector<bool> seen(problem.ops.size(), false);
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const OpSpec& spec = problem.ops[i];
    if (!spec.selection || seen[i]) continue;
    const std::int64_t rows = rows_that_divide(spec.out.rt, most);
    if (rows == spec.out.rt) continue;
    const auto region = row_region(problem, OpId(static_cast<OpId::rep>(i)));
    if (!region) continue;
    for (OpId id : region->ops) seen[id.index()] = true;
    if (is_open(*region, overrides) || asks_for(problem, *region, rows, overrides)) pad_rows(problem, *region, rows);
  }
}

}  // namespace buda::balance
