// SPDX-License-Identifier: Apache-2.0
// Comparison of outputs with what was expected.
#pragma once

#include "apps/runner/options.hpp"

#include <buda/diag/result.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <string>
#include <vector>

namespace buda::runner {

// The tensors of --expect. It is read before a run, which may take long: RN011, there is none; RN003, one has the name of no output.
// `names`: those of the model's outputs, in its order.
Result<NamedTensors> read_expected(const Options& options, const std::vector<std::string>& names, Host& host);

// Prints a table of all measures on standard error and fails (Fault::mismatch) where a limit does not hold. Outputs that nothing is
// expected of are told in a note.
// `order`: the names of the outputs in the order in which the model has them; empty: by name.
Result<void> compare_outputs(const Options& options, const NamedTensors& expected, const NamedTensors& outputs,
                             std::vector<std::string> order, Host& host);

// Prints a table of the outputs on standard error: type, shape, and the range of their elements. `order`: as above.
void print_outputs(const NamedTensors& outputs, std::vector<std::string> order, Host& host);

}  // namespace buda::runner
