// SPDX-License-Identifier: Apache-2.0
// Runs an op's kernel on cores, whatever these are: loads its programs, feeds its inputs tile by tile, and collects what it makes.
//
// Each core runs for itself. What streams do on a chip is done here: tiles are put into the rings of the inputs when there is room, and
// taken from the output's when they are there, with the same counters as on a chip.
#pragma once

#include <buda/arith/op.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/kernels/text/kernel_set.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::kernels {

// A core, from outside.
class Core {
 public:
  // How many messages of a stream were taken, and how many have arrived; 16 bits.
  enum class Counter : std::uint8_t { taken = 3, arrived = 4 };

  virtual ~Core() = default;
  // Of L1.
  virtual void write(std::uint32_t address, std::string_view bytes) = 0;
  virtual void read(std::uint32_t address, char* to, std::size_t count) = 0;
  virtual std::uint32_t counter(std::uint32_t stream, Counter counter) = 0;
  // What a part of L1 is for, so that a core which checks its programs can refuse others: tiles are for the units, too, a program for the
  // processor of its thread.
  enum class Use : std::uint8_t { tiles, shared, unpack_program, math_program, pack_program };
  virtual void allow(std::uint32_t /*address*/, std::uint32_t /*bytes*/, Use /*use*/) {}
  virtual void set_counter(std::uint32_t stream, Counter counter, std::uint32_t value) = 0;

  // Lets the three threads begin.
  virtual void start(const std::array<std::uint32_t, 3>& entries) = 0;
  struct Turn {
    bool busy = false;                 // something has happened
    bool late = false;                 // it has taken all the time that it may
    std::optional<std::string> fault;  // where and why it cannot go on: a sentence without a full stop
  };
  // Lets them go on for a while.
  virtual Turn advance() = 0;
  // What each thread waits for, as far as that can be seen. `name_of` says what a stream is for, and what has come by it: "input 0 from
  // 'exp', of which 4 of 4 tiles have arrived".
  using StreamName = std::function<std::string(std::uint32_t stream)>;
  virtual std::string state(const StreamName& name_of) const = 0;
  // Turns in which nothing happens, after which it waits for ever.
  virtual int patience() const = 0;
};

// Why a core could not do its part of an op: a sentence without a full stop. None where its tiles are in the op's output.
using CoreFailure = std::optional<std::string>;

// One core's part of an op.
struct CoreWork;
CoreFailure run_on(const CoreWork& work, Core& core);

// The numbers of a core's tiles in the op's output, four bytes each: for cores of a process that has its own copy of the output.
std::string tiles_made(const CoreWork& work);
void put_tiles_made(const CoreWork& work, std::string_view bytes);

// What a thread has printed: a line without its end.
struct PrintedLine {
  std::size_t thread = 0;
  std::string text;
};
// Is told what a core has printed, after that has run, in the order of their places.
using Print = std::function<void(GridCoord place, const PrintedLine& line)>;

// Whether any of the kernels was compiled with DPRINT, or with zones.
bool prints(const KernelSet& kernels);
bool has_zones(const KernelSet& kernels);

// Where a thread's zones begin and end, in cycles from the start of the core on, in the order of each thread's time.
struct ZoneMark {
  std::size_t thread = 0;
  std::string zone;
  bool ends = false;
  std::uint32_t cycle = 0;
};
struct ZoneMarks {
  std::vector<ZoneMark> marks;
  std::uint64_t lost = 0;  // for which a thread had no room
};

// Runs a core's part: makes a core and calls run_on. From several threads at once.
using RunCore = std::function<CoreFailure(const CoreWork& work, GridCoord place)>;

arith::Outcome run_op(const KernelSet& kernels, const device::L1Map& l1, const arith::OpCall& call, const RunCore& run_core,
                      const Print& print = {});
// One core's part alone, and what its kernel marks.
CoreFailure run_part(const KernelSet& kernels, const device::L1Map& l1, const arith::OpCall& call, GridCoord place, Core& core,
                     ZoneMarks& marks);

}  // namespace buda::kernels

#pragma GCC visibility pop
