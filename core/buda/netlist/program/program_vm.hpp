// SPDX-License-Identifier: Apache-2.0
// Runs the programs of a netlist: variables, loops, and which graph executes with which queue settings.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::netlist {

// A queue setting with all variables read and the queue kind's defaults filled in.
struct ResolvedSetting {
  std::size_t queue = 0;  // in Netlist::queues
  bool prologue = false, epilogue = false, zero = false, read_only = false;
  std::optional<std::int32_t> rd_ptr_local, rd_ptr_global, wr_ptr_global;
  // Per input of the graph. Defaults: queue 1, 0, 1; ram 0, 0, 0.
  std::int32_t rd_ptr_autoinc = 0, global_rdptr_autoinc = 0, global_wrptr_autoinc = 0;
  friend bool operator==(const ResolvedSetting&, const ResolvedSetting&) = default;
};

// One execution of a graph: an epoch.
struct Execution {
  std::size_t graph = 0;  // in Netlist::graphs
  std::vector<ResolvedSetting> settings;
  friend bool operator==(const Execution&, const Execution&) = default;
};

// What a program does, in order. A failure ends the run.
class ProgramEvents {
 public:
  virtual ~ProgramEvents() = default;
  virtual Result<void> execute(const Execution& execution) = 0;
  virtual Result<void> allocate(std::size_t queue) {
    (void)queue;
    return success();
  }
  virtual Result<void> deallocate(std::size_t queue) {
    (void)queue;
    return success();
  }
  // The variable that gave rd_ptr_global in the queue's last execution has changed: the header's read pointer follows, which is how a
  // program tells the queue's writer that entries were taken. (Programs advance their pointers after an execute; were the header to
  // wait for the next one, a queue as deep as one batch would stay full.)
  virtual void read_pointer_moved(std::size_t queue, std::int32_t value) {
    (void)queue;
    (void)value;
  }
};

// Values of a program's parameters by name, with or without the "$".
using ProgramParameters = std::map<std::string, std::int32_t>;

// Steps (instructions executed) after which a run is taken for endless.
inline constexpr std::uint64_t kDefaultStepLimit = 10'000'000;

// Semantics (docs/formats/netlist.md): locals and parameters live for one run; statics belong to the program, are created by their first
// declaration and keep their values from run to run. A loop reads its count once and runs at least once. Integers are 32-bit; an
// overflow is an error. incwrap(a, mod): out = (out + a + k * mod) mod `mod` with the smallest k that makes a + k * mod >= 0.
class ProgramVm {
 public:
  // Compiles all programs; reports unknown graphs and queues, unbalanced loops and misplaced declarations of all of them. The netlist
  // must outlive the machine.
  static Result<ProgramVm> make(const Netlist& netlist);

  ProgramVm(ProgramVm&&) noexcept;
  ProgramVm& operator=(ProgramVm&&) noexcept;
  ~ProgramVm();

  Result<void> run(const std::string& program, const ProgramParameters& parameters, ProgramEvents& events);

  // The same in steps, for devices that cannot do all that an event asks for at once: `start` makes the program the one at work (one that
  // has not ended is given up), and each `step` executes one instruction. False when the program has ended, and when none was started.
  Result<void> start(const std::string& program, const ProgramParameters& parameters);
  Result<bool> step(ProgramEvents& events);

  // The names of a program's parameters, with "$"; empty for an unknown program.
  std::vector<std::string> parameters(const std::string& program) const;
  // The value of a static variable, if the program has created it.
  std::optional<std::int32_t> static_value(const std::string& program, const std::string& variable) const;
  // Forgets all statics, as at the start of the first run.
  void reset();

  void set_step_limit(std::uint64_t steps);

 private:
  struct State;
  explicit ProgramVm(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A graph together with the way its queues are loaded and stored: what one compiled epoch is for.
struct StaticEpoch {
  std::size_t program = 0;  // in which it occurs first
  std::size_t graph = 0;
  std::vector<ResolvedSetting> settings;  // of its first execution; of these only prologue and epilogue tell epochs apart
};

// All epochs that the programs execute, in the order of their first execution, found by running every program once with all
// parameters 1, as TT-Buda's net2pipe does.
Result<std::vector<StaticEpoch>> static_epochs(const Netlist& netlist);

}  // namespace buda::netlist

#pragma GCC visibility pop
