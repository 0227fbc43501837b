// SPDX-License-Identifier: Apache-2.0
// Element types of results, as PyTorch derives them from those of operands.
#pragma once

#include "call.hpp"

namespace buda::torchscript {

// Of a kind of number (boolean, integer, real) the widest type counts, among tensors with axes first; scalars and numbers of the program
// count only where they are of a higher kind.
Result<DType> promoted_type(Call& n, const std::vector<Value>& operands);
Result<DType> promoted_type(Call& n, std::initializer_list<std::string_view> names);

// The operand as a value of this type; a number of the program becomes a constant.
Result<Ref> value_operand(Call& n, const Value& value, DType dtype);
Result<Ref> operand(Call& n, std::string_view name, DType dtype);

// Integers and booleans become F32, as in functions that give real numbers.
Result<Ref> real_operand(Call& n, std::string_view name);

}  // namespace buda::torchscript
