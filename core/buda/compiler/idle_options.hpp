// SPDX-License-Identifier: Apache-2.0
// Options that have no effect because of others.
#pragma once

#include <buda/compiler/optimizer_options.hpp>
#include <buda/compiler/pass_switches.hpp>
#include <buda/diag/diagnostic.hpp>
#include <buda/passes/pipeline/pipeline.hpp>

#include <vector>

namespace buda::compiler {

// A warning (OZ009) for each option that was given and cannot act, which says why and which option would help. `pipeline` holds the passes
// that will run.
std::vector<Diagnostic> idle_options(const OptimizerOptions& options, const std::vector<PassSwitch>& switches,
                                     const passes::Pipeline& pipeline);

}  // namespace buda::compiler
