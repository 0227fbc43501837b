// Targets: things that can hold a compiled model and run its programs. The runner speaks to all of them through these two classes.
//
// To write one, derive Target and Device and register the target in a plugin (docs/plugins/target.md). A target executes what the
// netlist means; how (functionally on the host, tile by tile with time, on silicon) is its own affair.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/io/node.hpp>
#include <buda/netlist/netlist.hpp>
#include <buda/runtime/observer.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace buda::runtime {

// What is loaded into a device: the netlist, and the further products of compilation for targets that need them (stream programs,
// kernels), as files by their name in the image, such as "temporal_epoch_0/overlay/blob.yaml". A bare netlist has no files.
struct Program {
  netlist::Netlist netlist;
  std::map<std::string, io::Bytes> files;
};

// Counters of a device, for reports: name and value, in a stable order, like "epochs", "tiles_moved", "cycles".
using Telemetry = std::map<std::string, double>;

// A device with a program loaded. Tensors are 4-D (w, z, r, c) in the host's element types: w counts queue entries, (z, r, c) is what
// one entry holds, r and c in datums, tile-aligned. The device converts to the queue's format and block layout and back.
// Errors name the queue, program, op or tile concerned. Calls come from one thread.
class Device {
 public:
  virtual ~Device() = default;

  // Appends entries to a queue of type `queue`; an error when it has no room for them.
  virtual Result<void> push(const std::string& queue, const Tensor& entries) = 0;
  // Writes slots: of a ram, or over the present contents of a queue from its read pointer on, which then holds as many as before.
  virtual Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) = 0;
  // Runs a program to its end; parameters by name with their `$`.
  virtual Result<void> run(const std::string& program, const std::map<std::string, std::int64_t>& parameters) = 0;
  // Takes entries from the front of a queue; an error when it holds fewer.
  virtual Result<Tensor> pop(const std::string& queue, std::int64_t entries) = 0;
  // How many entries a queue of type `queue` holds: what can be popped now.
  virtual Result<std::int64_t> waiting(const std::string& queue) = 0;
  // Looks at slots without taking them: of a ram, or the present contents of a queue from its read pointer on.
  virtual Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) = 0;

  virtual Telemetry telemetry() const { return {}; }

  // From now on tells the observer what happens inside; it outlives the device. False where the device cannot look inside.
  virtual bool observe(Observer& observer) {
    (void)observer;
    return false;
  }
};

class Target {
 public:
  virtual ~Target() = default;

  // Loads a program for a device. The netlist has been validated against the descriptor. The device keeps what it needs of the program; the
  // host outlives it.
  virtual Result<std::unique_ptr<Device>> open(const Program& program, const device::DeviceDescriptor& descriptor, Host& host) = 0;

  // The device that this target is, when the user names none; most targets take any and have none of their own.
  virtual const device::DeviceDescriptor* describe() const { return nullptr; }
};

}  // namespace buda::runtime
