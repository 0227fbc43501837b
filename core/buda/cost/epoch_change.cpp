// Bytes by rate.
#include <buda/cost/epoch_change.hpp>

namespace buda::cost {
namespace {

// Kernels of the five processors of a worker together.
constexpr double kKernelBytes = 64 * 1024;

}  // namespace

double dram_rate(const device::DeviceDescriptor& device) {
  return static_cast<double>(device.dram.channels.size()) * device.cost.dram_channel_gbs / device.cost.clock_ghz;
}

double epoch_change_cycles(const device::DeviceDescriptor& device, std::int64_t cores, double program_bytes, double fixed) {
  return fixed + (kKernelBytes + program_bytes) * static_cast<double>(cores) / dram_rate(device);
}

double full_epoch_change_cycles(const device::DeviceDescriptor& device) { return epoch_change_cycles(device, device.grid().volume()); }

}  // namespace buda::cost
