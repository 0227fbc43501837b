// SPDX-License-Identifier: Apache-2.0
// Comparison of outputs with what was expected.
#pragma once

#include "apps/runner/options.hpp"

#include <buda/diag/result.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <string>
#include <vector>

namespace buda::runner {

// Prints a table of all measures on standard error and fails (Fault::mismatch) where a limit does not hold. Every expected tensor needs an
// output of its name; outputs that nothing is expected of are told in a note.
// `order`: the names of the outputs in the order in which the model has them; empty: by name.
Result<void> compare_outputs(const Options& options, const NamedTensors& outputs, std::vector<std::string> order, Host& host);

// Prints a table of the outputs on standard error: type, shape, and the range of their elements. `order`: as above.
void print_outputs(const NamedTensors& outputs, std::vector<std::string> order, Host& host);

}  // namespace buda::runner
