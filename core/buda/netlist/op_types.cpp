// The tables of names.
#include <buda/netlist/op_types.hpp>

namespace buda::netlist {

// In the order of the enumeration, so that info() is an index.
const std::vector<OpTypeInfo>& all_op_types() {
  using T = OpType;
  using C = OpClass;
  static const std::vector<OpTypeInfo> table = {
      {T::add, "add", C::binary, 2, 2, true},
      {T::subtract, "subtract", C::binary, 2, 2, true},
      {T::multiply, "multiply", C::binary, 2, 2, true},
      {T::maximum, "maximum", C::binary, 2, 2, true},
      {T::quantization, "quantization", C::quant, 2, 2, true},
      {T::dequantization, "dequantization", C::quant, 2, 2, true},
      {T::requantization, "requantization", C::quant, 2, 2, true},
      {T::nop, "nop", C::unary, 1, 1, true},
      {T::datacopy, "datacopy", C::unary, 1, 1, true},
      {T::exp, "exp", C::sfpu, 1, 1, true},
      {T::log, "log", C::sfpu, 1, 1, true},
      {T::sqrt, "sqrt", C::sfpu, 1, 1, true},
      {T::gelu, "gelu", C::sfpu, 1, 1, true},
      {T::gelu_derivative, "gelu_derivative", C::sfpu, 1, 1, true},
      {T::reciprocal, "reciprocal", C::sfpu, 1, 1, true},
      {T::sigmoid, "sigmoid", C::sfpu, 1, 1, true},
      {T::tanh, "tanh", C::sfpu, 1, 1, true},
      {T::dropout, "dropout", C::sfpu, 1, 1, true},
      {T::square, "square", C::sfpu, 1, 1, true},
      {T::power, "power", C::sfpu, 1, 1, true},
      {T::sine, "sine", C::sfpu, 1, 1, true},
      {T::cosine, "cosine", C::sfpu, 1, 1, true},
      {T::lrelu, "lrelu", C::sfpu, 1, 1, true},
      {T::abs, "abs", C::sfpu, 1, 1, true},
      {T::matmul, "matmul", C::matmul, 2, 5, true},
      {T::depthwise, "depthwise", C::depthwise, 2, 3, false},
      {T::reduce, "reduce", C::reduce, 1, 1, true},
      {T::splice, "splice", C::splice, 1, 8, false},
      {T::embedding, "embedding", C::embedding, 2, 2, false},
      {T::tilizer, "tilizer", C::tilizer, 1, 1, false},
      {T::topk, "topk", C::topk, 2, 2, false},
      {T::ethernet_datacopy, "ethernet_datacopy", C::ethernet, 1, 1, false},
      {T::fused_op, "fused_op", C::fused, 1, 16, false},
      {T::buffer, "buffer", C::buffer, 1, 2, false},
      {T::drainer, "drainer", C::drainer, 1, 1, false},
  };
  return table;
}

const OpTypeInfo& info(OpType type) { return all_op_types()[static_cast<std::size_t>(type)]; }

std::optional<OpType> op_type_from_name(std::string_view name) {
  for (const auto& row : all_op_types())
    if (row.name == name) return row.type;
  return std::nullopt;
}

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
