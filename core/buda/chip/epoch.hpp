// SPDX-License-Identifier: Apache-2.0
// An epoch on the chip's cores. Internal to the module.
#pragma once

#include <buda/chip/bus.hpp>
#include <buda/chip/device.hpp>
#include <buda/chip/firmware.hpp>
#include <buda/chip/op_programs.hpp>
#include <buda/movers/lower.hpp>
#include <buda/overlay/blob/blob.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace buda::chip {

struct EpochRequest {
  std::size_t number = 0;
  const overlay::Blob& blob;
  movers::Execution execution;                          // inputs, and where queues begin
  const std::map<std::string, const OpPrograms*>& ops;  // by name
  const std::map<std::string, const netlist::Op*>& names;
};

class ChipCores {
 public:
  // The bus and the device outlive it.
  ChipCores(Bus& bus, const device::DeviceDescriptor& device, Firmware firmware, const DeviceOptions& options)
      : bus_(bus), device_(device), firmware_(std::move(firmware)), options_(options) {}

  // Loads it, lets its cores go, and waits for their end. CP003: it waits for ever, with what each core has.
  Result<void> run(EpochRequest request);
  std::uint64_t cycles() const { return cycles_; }

 private:
  Result<void> load(const EpochRequest& request, std::size_t core, const movers::CoreTables& tables);
  Result<void> reset(const overlay::Blob& blob, std::uint32_t bits);
  Result<bool> has_ended(const EpochRequest& request, std::size_t core);
  Result<std::uint64_t> moved(const overlay::Blob& blob);
  Result<void> wait(const EpochRequest& request, const movers::Tables& tables);
  // CP003.
  Result<void> hung(const EpochRequest& request, const movers::Tables& tables);
  Result<std::string> state_of(const EpochRequest& request, std::size_t core, const movers::CoreTables& tables);

  Bus& bus_;
  const device::DeviceDescriptor& device_;
  Firmware firmware_;
  const DeviceOptions& options_;
  std::uint64_t cycles_ = 0;
};

}  // namespace buda::chip
