// SPDX-License-Identifier: Apache-2.0
// The tables of names.
#include <buda/netlist/model/op_types.hpp>

#include <buda/ops/table/device_op.hpp>

namespace buda::netlist {

const std::vector<OpTypeInfo>& all_op_types() {
  static const std::vector<OpTypeInfo> table = [] {
    std::vector<OpTypeInfo> all;
    for (const ops::DeviceOp& op : ops::device_ops()) all.push_back({op.type, op.name, op.op_class, class_info(op.op_class).sub_op});
    return all;
  }();
  return table;
}

const OpTypeInfo& info(OpType type) { return all_op_types()[static_cast<std::size_t>(type)]; }

std::string_view fidelity_name(MathFidelity fidelity) { return name_of(fidelity); }

std::optional<MathFidelity> fidelity_from_name(std::string_view name) {
  if (name == "HiFi2_A") return MathFidelity::hifi2;
  return from_name<MathFidelity>(name);
}

int fidelity_phases(MathFidelity fidelity) {
  switch (fidelity) {
    case MathFidelity::lofi:
      return 1;
    case MathFidelity::hifi2:
    case MathFidelity::hifi2_b:
      return 2;
    case MathFidelity::hifi3:
      return 3;
    case MathFidelity::hifi4:
      return 4;
  }
  return 1;
}

#define BUDA_SPELLINGS(E, ...)                                   \
  const std::vector<Spelling<E>>& spellings(const E*) {          \
    static const std::vector<Spelling<E>> table = {__VA_ARGS__}; \
    return table;                                                \
  }
BUDA_SPELLINGS(UblockOrder, {UblockOrder::r, "r"}, {UblockOrder::c, "c"})
BUDA_SPELLINGS(QueueKind, {QueueKind::queue, "queue"}, {QueueKind::ram, "ram"})
BUDA_SPELLINGS(QueueLocation, {QueueLocation::dram, "dram"}, {QueueLocation::host, "host"})
BUDA_SPELLINGS(QueueLayout, {QueueLayout::tilized, "tilized"}, {QueueLayout::flat, "flat"})
BUDA_SPELLINGS(ReluMode, {ReluMode::none, "none"}, {ReluMode::min, "min"}, {ReluMode::max, "max"})
BUDA_SPELLINGS(VectorMode, {VectorMode::rc, "rc"}, {VectorMode::r, "r"}, {VectorMode::c, "c"})
BUDA_SPELLINGS(SfpuThread, {SfpuThread::math, "math"}, {SfpuThread::pack, "pack"})
BUDA_SPELLINGS(Dim, {Dim::r, "r"}, {Dim::c, "c"}, {Dim::z, "z"})
BUDA_SPELLINGS(Granularity, {Granularity::ublock, "ublock"}, {Granularity::t, "t"})
BUDA_SPELLINGS(TopkSort, {TopkSort::max, "max"}, {TopkSort::argmax, "argmax"})
BUDA_SPELLINGS(StochasticRounding, {StochasticRounding::none, "none"}, {StochasticRounding::fpu, "fpu"}, {StochasticRounding::pack, "pack"},
               {StochasticRounding::all, "all"})
BUDA_SPELLINGS(VarOp, {VarOp::set, "set"}, {VarOp::add, "add"}, {VarOp::mul, "mul"}, {VarOp::inc, "inc"}, {VarOp::incwrap, "incwrap"})
BUDA_SPELLINGS(MathFidelity, {MathFidelity::lofi, "LoFi"}, {MathFidelity::hifi2, "HiFi2"}, {MathFidelity::hifi2_b, "HiFi2_B"},
               {MathFidelity::hifi3, "HiFi3"}, {MathFidelity::hifi4, "HiFi4"})
#undef BUDA_SPELLINGS

}  // namespace buda::netlist
