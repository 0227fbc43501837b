// SPDX-License-Identifier: Apache-2.0
// Operators on what is known while a program is evaluated: numbers, texts, lists, dictionaries.
#pragma once

#include "op_table.hpp"
#include "value.hpp"

#include <string_view>
#include <vector>

namespace buda::torchscript {

// Null where there is no such operator for arguments of these kinds: then it is one on tensors, if any.
const OpImporter* find_known_op(std::string_view name, const std::vector<Value>& arguments);

std::span<const OpImporter> number_ops();      // no argument is or holds a tensor
std::span<const OpImporter> collection_ops();  // the first argument is no tensor
std::span<const OpImporter> language_ops();    // any arguments

}  // namespace buda::torchscript
