// SPDX-License-Identifier: Apache-2.0
// How a tool names its product when -o does not: the same rule for all (docs/tools/buda.md).
#pragma once

#include <buda/compiler/model_name.hpp>

#include <string>
#include <string_view>

namespace buda::cli {

using compiler::model_name;

// `output` as the user gave it. Where that is empty, the input's model name with the product's ending, in the current folder; of standard
// input standard output.
std::string product_path(const std::string& output, const std::string& input, std::string_view ending);

}  // namespace buda::cli
