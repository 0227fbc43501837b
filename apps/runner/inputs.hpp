// SPDX-License-Identifier: Apache-2.0
// Tensors from the files that the command line names.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <string>
#include <vector>

namespace buda::runner {

// Which of the model's sides is meant: the option that names the files, the first half of the names that ONNX's tests give to files
// ("input_0.pb" is the first input), and the names of the tensors in the order in which the model has them.
struct Side {
  std::string option;
  std::string file_stem;
  std::vector<std::string> wanted;
};

// What --inputs or --expect name, joined; a name that occurs twice is an error. A file with a single tensor (.npy) fills the only one,
// whatever its own name. A folder stands for its files input_0.pb, input_1.pb, … (output_0.pb, …).
Result<NamedTensors> read_named(Host& host, const std::vector<std::string>& files, const Side& side);

}  // namespace buda::runner
