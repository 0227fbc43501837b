// SPDX-License-Identifier: Apache-2.0
// How a model runs: its ports, and what its programs take, by its plan and netlist.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/runtime/model.hpp>
#include <buda/runtime/ports.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::runtime {

// The parameter by which the programs of a model are told how many batches wait in their queues (host_plan/phase_parameters.hpp).
inline constexpr const char* kLoopCount = "$p_loop_count";

struct RunProgram {
  std::string name;
  std::vector<std::string> parameters;  // of host_plan/phase_parameters.hpp
  bool takes(std::string_view parameter) const;
};

// Points into the model, which may be moved.
struct ModelRuns {
  Ports ports;
  std::vector<std::vector<RunProgram>> programs;  // by segment of the device
  std::int64_t per_turn = 1;                      // batches that one turn of the programs takes
  std::int64_t max_at_once = 1;                   // batches per run of the programs; whole turns
  bool has_phases = false;                        // a training step in programs
  std::optional<std::size_t> optimizer;           // of such a step on the device: its optimizer's segment, which runs once for a step
};

// RT015, RT016: the plan names programs or values that are not there, or of other types.
Result<ModelRuns> runs_of(const Model& model);

}  // namespace buda::runtime

#pragma GCC visibility pop
