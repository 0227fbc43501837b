// SPDX-License-Identifier: Apache-2.0
// The parameters of each kind of row, where their fits begin, and how their shape is chosen.
#include "fits.hpp"

#include "least_squares.hpp"

#include <buda/base/text.hpp>
#include <buda/cost/formulas.hpp>
#include <buda/cost/rows.hpp>
#include <buda/ops/table/device_op.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace buda::silicon {
namespace {

using device::AccumulationCost;
using device::KernelCost;
using device::MatmulCost;
using device::SparseCost;
using netlist::OpClass;
using Group = std::vector<const Measurement*>;
using Errors = std::vector<double>;

constexpr std::uint64_t kFolds = 5;

// FNV-1a over the blocking.
std::uint64_t fold(const Measurement& m) {
  std::uint64_t h = 1469598103934665603u;
  for (char c : blocking_text(m.op)) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return (h >> 20) % kFolds;
}

double cycles(const Measurement& m, const KernelCost& row) { return cost::elementwise_cycles(m.op, row, 1).total; }
double cycles(const Measurement& m, const AccumulationCost& row) { return cost::accumulation_cycles(m.op, row).total; }
double cycles(const Measurement& m, const MatmulCost& row) { return cost::matmul_cycles(m.op, row, 1).total; }
double cycles(const Measurement& m, const SparseCost& row) { return cost::sparse_matmul_cycles(m.op, *m.counts, row, 1).total; }

// Members of a row that are fitted.
template <class Row>
using Members = std::vector<double*> (*)(Row&);

template <class Row>
Row fitted(const Group& group, Members<Row> members, const std::vector<Row>& starts) {
  std::vector<double> measured;
  for (const Measurement* m : group) measured.push_back(m->cycles);
  auto row_of = [&](const std::vector<double>& p) {
    Row row = starts.front();
    std::vector<double*> all = members(row);
    for (std::size_t i = 0; i < p.size(); ++i) *all[i] = p[i];
    return row;
  };
  auto formula = [&](const std::vector<double>& p) {
    Row row = row_of(p);
    std::vector<double> out;
    for (const Measurement* m : group) out.push_back(cycles(*m, row));
    return out;
  };
  std::vector<std::vector<double>> from;
  for (Row start : starts) {
    from.emplace_back();
    for (double* p : members(start)) from.back().push_back(*p);
  }
  return row_of(fit_parameters(formula, measured, from));
}

template <class Row>
std::vector<Prediction> held_out(const Group& group, Members<Row> members, const std::vector<Row>& starts) {
  std::vector<Prediction> out;
  for (std::uint64_t f = 0; f < kFolds; ++f) {
    Group seen, unseen;
    for (const Measurement* m : group) (fold(*m) == f ? unseen : seen).push_back(m);
    if (unseen.empty() || seen.empty()) continue;
    Row row = fitted(seen, members, starts);
    for (const Measurement* m : unseen) out.push_back({m, cycles(*m, row)});
  }
  return out;
}

// Four digits are more than a fit is worth.
double rounded(double x) {
  if (x < 0.005) return 0;
  double unit = std::pow(10.0, std::floor(std::log10(x)) - 3);
  return std::round(std::round(x / unit) * unit * 1e6) / 1e6;
}

device::CostOrigin origin(const Group& group, const std::vector<Prediction>& predictions) {
  Errors errors;
  for (const Prediction& p : predictions) errors.push_back(100 * std::fabs(p.error()));
  std::sort(errors.begin(), errors.end());
  double sum = 0;
  for (double e : errors) sum += e;
  auto hundredths = [](double e) { return std::round(100 * e) / 100; };
  device::CostError error{hundredths(sum / static_cast<double>(errors.size())), hundredths(errors[errors.size() * 9 / 10])};
  return {group.front()->file, static_cast<std::int32_t>(group.size()), error};
}

template <class Row>
Row finished(Row row, Members<Row> members, const Group& group, const std::vector<Prediction>& predictions) {
  for (double* p : members(row)) *p = rounded(*p);
  row.format = cost::operand_format(group.front()->op);
  row.origin = origin(group, predictions);
  return row;
}

template <class Row>
std::pair<Row, std::vector<Prediction>> fit_one_shape(const Group& group, Members<Row> members, const std::vector<Row>& starts) {
  auto predictions = held_out(group, members, starts);
  Row row = finished(fitted(group, members, starts), members, group, predictions);
  return {std::move(row), std::move(predictions)};
}

// ---- kernels: one stage, or two where the second explains blockings that were not seen

std::vector<double*> math_alone(KernelCost& r) { return {&r.block, &r.math.ublock, &r.math.tile}; }
std::vector<double*> unpack_alone(KernelCost& r) { return {&r.block, &r.unpack.ublock, &r.unpack.tile}; }
std::vector<double*> math_and_pack(KernelCost& r) { return {&r.block, &r.math.ublock, &r.math.tile, &r.pack.ublock, &r.pack.tile}; }
std::vector<double*> unpack_and_pack(KernelCost& r) { return {&r.block, &r.unpack.ublock, &r.unpack.tile, &r.pack.ublock, &r.pack.tile}; }

double mean_error(const std::vector<Prediction>& predictions) {
  double sum = 0;
  for (const Prediction& p : predictions) sum += std::fabs(p.error());
  return sum / static_cast<double>(predictions.size());
}

std::pair<KernelCost, std::vector<Prediction>> fit_kernel(const Group& group) {
  const netlist::Op& op = group.front()->op;
  KernelCost plain;
  plain.op = netlist::op_type_name(op.type);
  plain.variant = cost::row_variant(op);
  // What a stage cannot be told apart from: on the vector unit, and of reductions, the steep one is math, elsewhere the way in.
  bool on_math =
      ops::device_op(op.type).vector_unit || netlist::op_class(op.type) == OpClass::sfpu || netlist::op_class(op.type) == OpClass::reduce;
  auto steep = on_math ? &KernelCost::math : &KernelCost::unpack;
  auto start = [&](double block, device::StageCost stage, device::StageCost pack) {
    KernelCost row = plain;
    row.block = block;
    row.*steep = stage;
    row.pack = pack;
    return row;
  };
  auto one = fit_one_shape<KernelCost>(group, on_math ? math_alone : unpack_alone, {start(100, {50, 100}, {})});
  const device::StageCost line = one.first.*steep;
  std::vector<KernelCost> starts = {start(one.first.block + 1, {1, line.tile * 1.2}, {line.ublock + 1, line.tile * 0.8}),
                                    start(50, {50, line.tile * 1.1}, {200, 30}), start(200, {10, line.tile * 1.3}, {300, 10})};
  auto two = fit_one_shape<KernelCost>(group, on_math ? math_and_pack : unpack_and_pack, starts);
  if (mean_error(two.second) > 0.9 * mean_error(one.second) - 0.0005) return one;
  // Of a reduction the packer has other tiles than math, and can be told apart.
  bool reduces = netlist::op_class(op.type) == OpClass::reduce;
  if (!reduces && two.first.pack.tile > (two.first.*steep).tile) std::swap(two.first.pack, two.first.*steep);
  return two;
}

// ---- the other kinds

std::vector<double*> of_accumulation(AccumulationCost& r) {
  return {&r.block, &r.first.ublock, &r.first.tile, &r.further.ublock, &r.further.tile};
}

std::pair<AccumulationCost, std::vector<Prediction>> fit_accumulation(const Group& group) {
  AccumulationCost start;
  start.op = netlist::op_type_name(group.front()->op.type);
  start.block = 100;
  start.first = {10, 70};
  start.further = {10, 100};
  return fit_one_shape<AccumulationCost>(group, of_accumulation, {start});
}

std::vector<double*> of_matmul(MatmulCost& r) {
  return {&r.block,     &r.inner_block, &r.unpack.ublock, &r.unpack.row,   &r.unpack.product, &r.math.ublock,
          &r.math.tile, &r.pack.ublock, &r.pack.tile,     &r.spill.ublock, &r.spill.tile};
}

// `narrower`: the row of another format, or null. Where math is always the slowest stage, nothing is learned of the unpacker, and its
// figures stay at what they are there, grown with the size of tiles.
std::pair<MatmulCost, std::vector<Prediction>> fit_matmul(const Group& group, const MatmulCost* narrower) {
  MatmulCost plain;
  plain.l1_acc = group.front()->op.attributes.l1_acc;
  auto start = [&](double block, double inner, device::MatmulUnpackCost unpack, device::StageCost math, device::StageCost pack,
                   device::StageCost spill) {
    MatmulCost row = plain;
    row.block = block;
    row.inner_block = inner;
    row.unpack = unpack;
    row.math = math;
    row.pack = pack;
    row.spill = spill;
    return row;
  };
  std::vector<MatmulCost> starts = {
      start(200, 100, {15, 10, 5}, {10, 20}, {20, 20}, {20, 40}), start(50, 50, {100, 30, 30}, {10, 14}, {10, 10}, {50, 20}),
      start(300, 10, {60, 5, 20}, {10, 16}, {200, 30}, {100, 10}), start(300, 10, {60, 5, 20}, {100, 16}, {200, 30}, {0, 10})};
  if (narrower != nullptr) {
    double larger = static_cast<double>(tile_bytes(cost::operand_format(group.front()->op))) / tile_bytes(narrower->format);
    for (MatmulCost& row : starts) row.unpack = {narrower->unpack.ublock, narrower->unpack.row * larger, narrower->unpack.product * larger};
  }
  return fit_one_shape<MatmulCost>(group, of_matmul, starts);
}

std::vector<double*> of_sparse(SparseCost& r) {
  return {&r.strip,          &r.strip_column,  &r.strip_tile,  &r.decode,      &r.math,     &r.unpack.tile,
          &r.unpack.product, &r.reload.ublock, &r.reload.tile, &r.pack.ublock, &r.pack.tile};
}

std::pair<SparseCost, std::vector<Prediction>> fit_sparse(const Group& group) {
  SparseCost first;
  first.strip = 20;
  first.strip_column = first.strip_tile = 1;
  first.decode = 12;
  first.math = 16;
  first.unpack = {12, 12};
  first.reload = {100, 20};
  first.pack = {50, 20};
  SparseCost second = first;
  second.strip_column = second.strip_tile = 10;
  second.unpack = {30, 2};
  second.reload = {30, 2};
  return fit_one_shape<SparseCost>(group, of_sparse, {first, second});
}

// ---- groups

enum class Kind { kernel, accumulation, matmul, sparse };

Kind kind_of(const netlist::Op& op) {
  if (op.attributes.identity) return Kind::sparse;
  if (op.type == netlist::OpType::matmul) return Kind::matmul;
  if (op.type == netlist::OpType::depthwise || op.attributes.reduce_dim == netlist::Dim::z) return Kind::accumulation;
  return Kind::kernel;
}

// Formats that take the same time are one.
using Key = std::tuple<Kind, std::string, std::string, bool, bool, int>;

std::map<Key, Group> groups_of(const std::vector<Measurement>& measurements, const std::string& arch) {
  std::map<Key, Group> out;
  for (const Measurement& m : measurements) {
    if (m.arch != arch) continue;
    DataFormat format = cost::operand_format(m.op);
    out[{kind_of(m.op), std::string(netlist::op_type_name(m.op.type)), std::string(cost::row_variant(m.op)), m.op.attributes.l1_acc,
         is_integer(format), bits_per_datum(format)}]
        .push_back(&m);
  }
  return out;
}

template <class Row>
void add(std::pair<Row, std::vector<Prediction>> one, std::vector<Row>& rows, Fit& fit) {
  rows.push_back(std::move(one.first));
  fit.predictions.insert(fit.predictions.end(), one.second.begin(), one.second.end());
}

}  // namespace

Fit fit_rows(const std::vector<Measurement>& measurements, const std::string& arch) {
  Fit fit;
  for (const auto& [key, group] : groups_of(measurements, arch)) {
    auto& rows = fit.rows;
    switch (std::get<0>(key)) {
      case Kind::kernel:
        add(fit_kernel(group), rows.kernels, fit);
        break;
      case Kind::accumulation:
        add(fit_accumulation(group), rows.accumulations, fit);
        break;
      case Kind::matmul: {
        const MatmulCost* narrower = nullptr;
        for (const MatmulCost& row : rows.matmuls)
          if (row.l1_acc == std::get<3>(key) && !is_integer(row.format)) narrower = &row;
        add(fit_matmul(group, narrower), rows.matmuls, fit);
        break;
      }
      case Kind::sparse:
        add(fit_sparse(group), rows.sparse_matmuls, fit);
        break;
    }
  }
  return fit;
}

}  // namespace buda::silicon
