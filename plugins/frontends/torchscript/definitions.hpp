// SPDX-License-Identifier: Apache-2.0
// Operators that are defined by others, as programs in the language of the archives themselves.
#pragma once

#include "code.hpp"
#include "op_table.hpp"

#include <string_view>
#include <vector>

namespace buda::torchscript {

// The program of an operator; null where it has none. Those of names that begin with an underscore are parts of others.
const Function* find_definition(std::string_view name);
// A row for each of them, without a function.
std::vector<const OpImporter*> defined_ops();

}  // namespace buda::torchscript
