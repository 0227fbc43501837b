// Comparison of outputs with what was expected.
#pragma once

#include "apps/runner/options.hpp"

#include <buda/diag/result.hpp>
#include <buda/tensor/tensor_file.hpp>

namespace buda::runner {

// Prints a table of all measures on standard error and fails (Fault::mismatch) where a limit does not hold. Every expected tensor needs an
// output of its name; outputs that nothing is expected of are told in a note.
Result<void> compare_outputs(const Options& options, const NamedTensors& outputs, Host& host);

}  // namespace buda::runner
