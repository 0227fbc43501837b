// Ops and devices for the tests of costs.
#pragma once

#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>
#include <buda/netlist/model/op.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace buda::cost {

inline constexpr DataFormat kBfp8 = DataFormat::bfp8_b, kHalf = DataFormat::float16_b;

// A device that ships, read once.
inline const device::DeviceDescriptor& shipped(const std::string& name) {
  static std::map<std::string, device::DeviceDescriptor> cache;
  if (auto found = cache.find(name); found != cache.end()) return found->second;
  const char* source = std::getenv("BUDA_SOURCE_DIR");
  EXPECT_NE(source, nullptr) << "run through ctest, which sets BUDA_SOURCE_DIR";
  auto fs = io::make_real_file_system();
  CollectingSink sink;
  Host host(*fs, sink);
  host.share_dir = std::string(source == nullptr ? "." : source) + "/share";
  auto device = device::load_device(host, name);
  EXPECT_TRUE(device.ok()) << name;
  return cache.emplace(name, device.ok() ? *device : device::DeviceDescriptor{}).first->second;
}

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
