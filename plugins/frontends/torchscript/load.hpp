// SPDX-License-Identifier: Apache-2.0
// What an archive's pickles hold, as values of a program.
#pragma once

#include "archive.hpp"
#include "value.hpp"

#include <deque>

namespace buda::torchscript {

struct Loaded {
  std::deque<Object> objects;
  Object* model = nullptr;
  std::vector<Value> constants;     // CONSTANTS.c0, …
  std::vector<std::string> faults;  // of tensors that cannot be read; said where they are used
};

// Tensors are called as the model calls them ("features.0.weight"), constants of the code "constants.0". Their elements are mapped where
// they lie in the file one after the other.
Result<Loaded> load_values(const Archive& archive);

// The element type that TorchScript means by a number.
std::optional<DType> dtype_of_code(std::int64_t code);
std::int64_t code_of_dtype(DType dtype);

}  // namespace buda::torchscript
