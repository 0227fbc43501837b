// SPDX-License-Identifier: Apache-2.0
// What the body of a reduction does, and applying it to whole tensors.
#pragma once

#include "op_call.hpp"

namespace buda::stablehlo {

// The operation that a body of two arguments for each of `count` values consists of: "add" of stablehlo.add; "second" where it returns the
// second argument; empty for any other.
std::string combination(const Region& body, std::size_t count);

// As an op of ours that reduces numbers ("sum", "prod", "max", "min"); for booleans `or` and `and` too. Empty for any other.
std::string_view reduction_of(const std::string& combination, bool boolean);

// Is a known value the one that a reduction does not change by?
bool is_neutral(OpCall& n, Ref value, std::string_view reduction);

// The body applied to two lists of values of equal shapes, element by element.
Result<std::vector<Value>> combined(OpCall& n, std::size_t region, std::vector<Value> a, const std::vector<Value>& b);

// f applied to the real tensor, and to the imaginary one where there is one.
template <class F>
Value of_parts(OpCall& n, const Value& value, F f) {
  auto part = [&](const frontend::Operand& x) { return frontend::computed_value({}, f(n.ref(x))); };
  Value out;
  out.real = part(value.real);
  if (value.is_complex()) out.imaginary = part(value.imaginary);
  return out;
}

// x with borders of a value and elements of it between neighbours; negative borders cut off.
Result<Ref> with_padding(OpCall& n, Ref x, Ref value, const Dims& low, const Dims& high, const Dims& interior);

}  // namespace buda::stablehlo
