// SPDX-License-Identifier: Apache-2.0
// How long it takes to move data on a device: the one model of the balancer, its estimate and the simulator.
//
// Everything comes from the device's parameters (device::TransferParameters), which say where they were measured. Rates are in bytes per
// cycle, times in cycles.
#pragma once

#include <buda/device/descriptor.hpp>

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::cost {

class TransferModel {
 public:
  // The device must outlive it.
  explicit TransferModel(const device::DeviceDescriptor& device) : device_(device), given_(device.cost.transfers) {}

  const device::TransferParameters& parameters() const { return given_; }

  // ---- rates
  // Of a link in theory; more than 0.
  double ideal_link_rate() const;
  // Of a stream: looked at alone, and next to the others of an epoch.
  double stream_rate() const { return ideal_link_rate() * given_.stream_share; }
  double shared_stream_rate() const { return ideal_link_rate() * given_.shared_stream_share; }
  // Of a channel of DRAM, and of all of a chip together.
  double channel_rate() const;
  double dram_rate() const;
  // What an epoch moves through queues: the rate of DRAM, or of the few links that pass what goes in and out of its ports.
  double queue_rate() const;
  double ethernet_rate() const { return device_.cost.eth_link_gbs / device_.cost.clock_ghz; }
  double host_rate() const { return device_.cost.host_gbs / device_.cost.clock_ghz; }

  // ---- times
  // What is sent needs no request; what is asked for crosses the links twice. `hops`: links of one way.
  double send_latency(double hops) const { return given_.latency_cycles / 2 + given_.hop_cycles * hops; }
  double request_latency(double hops) const { return given_.latency_cycles + given_.hop_cycles * 2 * hops; }
  // Over two networks with something between them, `hops` in all.
  double relayed_latency(double hops) const { return given_.latency_cycles + given_.hop_cycles * hops; }

  // ---- epochs
  // Until each of `cores` cores of a chip has its kernels and a stream program of so many bytes, after `fixed` cycles. All cores share the
  // channels of DRAM equally.
  double epoch_change(std::int64_t cores, double program_bytes, double fixed) const;
  double epoch_change(std::int64_t cores, double program_bytes = 0) const {
    return epoch_change(cores, program_bytes, given_.epoch_switch_cycles);
  }
  // Of an epoch that uses all cores of the chip.
  double full_epoch_change() const { return epoch_change(device_.grid().volume()); }

 private:
  const device::DeviceDescriptor& device_;
  const device::TransferParameters& given_;
};

}  // namespace buda::cost

#pragma GCC visibility pop
