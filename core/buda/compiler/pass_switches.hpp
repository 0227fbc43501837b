// SPDX-License-Identifier: Apache-2.0
// Options that switch passes on and off.
#pragma once

#include <buda/compiler/optimizer_options.hpp>
#include <buda/passes/pipeline/pipeline.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace buda::compiler {

struct PassSwitch {
  std::string_view option;
  std::string_view pass;
  // false: the pass is left out; true: it runs at every optimisation level; nothing: where the pipeline has it.
  std::optional<bool> on;
};

std::vector<PassSwitch> pass_switches(const OptimizerOptions& options);

// The stages of the pipeline that run at this optimisation level, with the passes that the switches leave in and bring in. Of a stage of a
// higher level only what is switched on runs, and the dead-code-elimination that clears away after it.
passes::Pipeline switched(passes::Pipeline pipeline, std::int64_t level, const std::vector<PassSwitch>& switches);

bool contains(const passes::Pipeline& pipeline, std::string_view pass);

}  // namespace buda::compiler
