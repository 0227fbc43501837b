// Tensors from the files that the command line names.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/tensor/tensor_file.hpp>

#include <string>
#include <vector>

namespace buda::runner {

// What --inputs and --expect name, joined; a name that occurs twice is an error. `wanted` are the names that the model has: a file with a
// single tensor (.npy) fills the only one, whatever its own name.
Result<NamedTensors> read_named(Host& host, const std::vector<std::string>& files, const std::vector<std::string>& wanted,
                                const std::string& option);

}  // namespace buda::runner
