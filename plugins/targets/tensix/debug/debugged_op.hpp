// SPDX-License-Identifier: Apache-2.0
// What is seen of an op's cores: they run side by side, and what they have to tell comes in the order of their places.
#pragma once

#include "../simulated_core.hpp"
#include "debugger.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace buda::tensix {

class DebuggedOp {
 public:
  DebuggedOp(const RunOptions& options, const netlist::Op& op) : options_(options), op_(op) {}

  // The lines of its programs.
  void read_lines(const kernels::CompiledKernel& kernel);
  // Null where nothing is to be seen.
  std::unique_ptr<Debugger> look_at(Core& core, GridCoord place) const;
  // After the core has run.
  void add(GridCoord place, const Debugger& debugger, const Core& core, bool failed);
  void tell() const;

 private:
  const RunOptions& options_;
  const netlist::Op& op_;
  KernelLines lines_;
  std::mutex mutex_;
  struct Seen {
    std::string trace, state;
  };
  std::map<std::pair<std::int32_t, std::int32_t>, Seen> seen_;
};

}  // namespace buda::tensix
