// SPDX-License-Identifier: Apache-2.0
// Element types of models that are narrower than any of ours.
#pragma once

#include <buda/tensor/dtype.hpp>
#include <buda/tensor/formats/float8.hpp>

#include <optional>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::frontend {

// Tensors of such a type have elements of a wider type that holds the same numbers: 4-bit integers are I8 or U8, 8-bit floats F32. A format
// has one object for each type, and types are the same when their addresses are.
struct NarrowType {
  std::string_view name;  // as the format spells it
  DType dtype = DType::i8;
  std::optional<Float8> float8 = {};  // else an integer
  int min = 0, max = 0;               // of an integer
};

}  // namespace buda::frontend

#pragma GCC visibility pop
