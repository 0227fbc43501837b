// SPDX-License-Identifier: Apache-2.0
// Cores that take the time of core/buda/cost, or one that somebody else knows.
#pragma once

#include <buda/timed/device.hpp>
#include <buda/timed/index_tiles.hpp>

#include <buda/device/descriptor.hpp>
#include <buda/sim/cores/core_model.hpp>

#include <map>
#include <string>

namespace buda::timed {

// The time of an op's kernel for one input is spread over its steps in proportion to their work. What kernels wait for is the simulator's.
class CostCore final : public sim::CoreModel {
 public:
  // `scale`: factors by op, for the ops that are to take another time than they do. `known`: where it knows the cycles of an op, these are
  // taken. All must outlive it.
  CostCore(const device::DeviceDescriptor& device, const IndexTiles& index_tiles, std::map<std::string, double> scale, KernelCyclesOf known)
      : device_(device), index_tiles_(index_tiles), scale_(std::move(scale)), known_(std::move(known)) {}
  Result<sim::KernelPlan> plan(const sim::KernelContext& kernel) const override;

 private:
  const device::DeviceDescriptor& device_;
  const IndexTiles& index_tiles_;
  std::map<std::string, double> scale_;
  KernelCyclesOf known_;
};

}  // namespace buda::timed
