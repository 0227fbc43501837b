// SPDX-License-Identifier: Apache-2.0
// What operations in their short form leave out: the names of attributes.
#pragma once

#include "module.hpp"

#include <string>
#include <vector>

namespace buda::stablehlo {

// The part of an operation between its name and its types, without the operands.
struct ShortForm {
  std::vector<std::string> words;  // without a name: LT, "composite", @function
  Attributes named;                // dims = [0]; a pair such as [0] x [1] is a list of two
  std::vector<Dims> slices;        // [0:2, 1:6:2]: start, stop and step of each axis
};

// Gives the attributes the names that the specification has.
void name_attributes(Operation& op, ShortForm form);

}  // namespace buda::stablehlo
