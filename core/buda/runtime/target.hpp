// SPDX-License-Identifier: Apache-2.0
// Targets: things that can hold a compiled model and run its programs. The runner speaks to all of them through these two classes.
//
//   BUDA_ASSIGN(auto device, target.open(program, descriptor, host));
//   BUDA_TRY(device->push("x", entries));
//   BUDA_TRY(device->run("run_fwd", {{"$p_loop_count", 1}}));
//   BUDA_ASSIGN(Tensor y, device->pop("y", 1));
//
// To write one, derive Target and Device and register the target in a plugin (docs/plugins/target.md). A target executes what the
// netlist means; how (functionally on the host, tile by tile with time, on silicon) is its own affair.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/perf/summary.hpp>
#include <buda/perf/time.hpp>
#include <buda/runtime/program.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::perf {
class Sink;
enum class Level : std::uint8_t;
}  // namespace buda::perf

namespace buda::runtime {

class Observer;

// Counters of a device, for reports: name and value, in a stable order, like "epochs", "tiles_moved", "cycles".
using Telemetry = std::map<std::string, double>;

// Parameters of a program by name, with their `$`.
using Parameters = std::map<std::string, std::int64_t>;

// How far Device::advance goes: to a time, to a queue's state, or until nothing happens without the host.
struct Until {
  struct QueueState {
    std::string queue;
    std::int64_t waiting = 0;  // entries that can be popped
  };
  std::optional<perf::SimTime> time;  // devices without a clock do not stop for it
  std::optional<QueueState> queue;

  static Until idle() { return {}; }
  static Until at(perf::SimTime time) { return {time, {}}; }
  static Until holds(std::string queue, std::int64_t entries) { return {{}, QueueState{std::move(queue), entries}}; }
};

enum class State : std::uint8_t {
  idle,        // no program is at work
  running,     // the program goes on with the next advance
  needs_host,  // the program goes on when the host has done one of Progress::waits
  hung,        // nothing that the host can do makes it go on; start() gives it up
};

// Why a program stands still.
struct Wait {
  enum class For : std::uint8_t {
    push,    // entries in a queue that the host fills
    pop,     // room in a queue that the host empties
    device,  // something that only the device itself could give: a deadlock
  };
  For what = For::device;
  std::string queue;         // empty where it is no queue
  std::int64_t entries = 0;  // that have to be pushed or popped at least
  Diagnostic reason;
};

// A queue whose pointers the device has moved: what the host finds there now.
struct QueueChange {
  std::string queue;
  std::int64_t waiting = 0;  // entries that can be popped
  std::int64_t room = 0;     // entries that can be pushed
  friend bool operator==(const QueueChange&, const QueueChange&) = default;
};

struct Progress {
  perf::SimTime now;
  State state = State::idle;
  std::vector<QueueChange> changes;  // during this advance, in the order of the netlist
  std::vector<Wait> waits;           // of needs_host and hung
};

// A device with a program loaded. Tensors are 4-D (w, z, r, c) in the host's element types: w counts queue entries, (z, r, c) is what
// one entry holds, r and c in datums, tile-aligned. The device converts to the queue's format and block layout and back.
// Errors name the queue, program, op or tile concerned. Calls come from one thread. Queues and rams may be accessed between two calls of
// advance() as well as between programs.
class Device {
 public:
  virtual ~Device() = default;

  // Appends entries to a queue of type `queue`; an error when it has no room for them.
  virtual Result<void> push(const std::string& queue, const Tensor& entries) = 0;
  // Writes slots: of a ram, or over the present contents of a queue from its read pointer on, which then holds as many as before.
  virtual Result<void> write(const std::string& queue, std::int64_t slot, const Tensor& entries) = 0;
  // Takes entries from the front of a queue; an error when it holds fewer.
  virtual Result<Tensor> pop(const std::string& queue, std::int64_t entries) = 0;
  // How many entries a queue of type `queue` holds: what can be popped now.
  virtual Result<std::int64_t> waiting(const std::string& queue) = 0;
  // How many entries can be pushed now, where that is another number than those of the queue less those that wait.
  virtual std::optional<std::int64_t> room(const std::string& queue);
  // Looks at slots without taking them: of a ram, or the present contents of a queue from its read pointer on.
  virtual Result<Tensor> read(const std::string& queue, std::int64_t slot, std::int64_t entries) = 0;

  // Begins a program; one that has not ended is given up. An unknown program or parameter is an error. A device may do everything here:
  // then it needs no advance(), and what would wait for the host is an error.
  virtual Result<void> start(const std::string& program, const Parameters& parameters) = 0;
  // Goes on with the program until it has ended (idle), cannot go on (needs_host, hung), or has come as far as asked for (running). After a
  // failure the program is given up. In whatever slices a program advances, its results and times are the same.
  virtual Result<Progress> advance(const Until& until);
  // start, and advance to the end; waiting for the host is an error.
  Result<void> run(const std::string& program, const Parameters& parameters);

  // Of devices that simulate time.
  virtual std::optional<perf::Clock> clock() const { return std::nullopt; }

  // False where what pop() and read() give says nothing about the program's results: zeros in place of them.
  virtual bool has_values() const { return true; }

  virtual Telemetry telemetry() const { return {}; }
  // From now on tells the observer what is computed; it outlives the device. False where the device cannot look inside.
  virtual bool observe(Observer& observer);
  // From now on records when things happen; the sink outlives the device. False for devices without time.
  virtual bool record(perf::Sink& sink, perf::Level level);
  // Of devices that simulate time: of all that has run until now.
  virtual std::optional<perf::Summary> summary() const { return std::nullopt; }
};

// What a target needs of a program beyond its netlist.
struct Needs {
  bool streams = false;  // Program::epochs
  bool kernels = false;  // Program::kernels, where they were compiled
};

class Target {
 public:
  virtual ~Target() = default;

  // Loads a program for a device. The netlist has been validated against the descriptor. The device keeps what it needs of the program; the
  // host outlives it.
  virtual Result<std::unique_ptr<Device>> open(const Program& program, const device::DeviceDescriptor& descriptor, Host& host) = 0;

  // Whoever calls open() has put this into the program (complete_program).
  virtual Needs needs() const { return {}; }

  // The device that this target is, when the user names none; most targets take any and have none of their own.
  virtual const device::DeviceDescriptor* describe() const { return nullptr; }
};

}  // namespace buda::runtime

#pragma GCC visibility pop
