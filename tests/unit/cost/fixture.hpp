// SPDX-License-Identifier: Apache-2.0
// Ops and devices for the tests of costs.
#pragma once

#include "unit/device/source_devices.hpp"

#include <buda/netlist/model/op.hpp>

#include <vector>

namespace buda::cost {

inline constexpr DataFormat kBfp8 = DataFormat::bfp8_b, kHalf = DataFormat::float16_b;

using device::shipped;

// With the block {t, mblock, ublock}, all operands in one format.
inline netlist::Op op_of(netlist::OpType type, DataFormat format, netlist::BlockShape block, std::size_t inputs = 1) {
  netlist::Op op;
  op.type = type;
  op.block = block;
  op.inputs.resize(inputs);
  for (auto& in : op.inputs) in.format = format;
  op.out_format = op.intermed_format = format;
  return op;
}

inline netlist::Op matmul_of(DataFormat format, netlist::MathFidelity fidelity, netlist::BlockShape block, std::int32_t m_k,
                             std::int32_t u_kt) {
  netlist::Op op = op_of(netlist::OpType::matmul, format, block, 2);
  op.fidelity = fidelity;
  op.attributes.m_k = m_k;
  op.attributes.u_kt = u_kt;
  return op;
}

}  // namespace buda::cost
