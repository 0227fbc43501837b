// SPDX-License-Identifier: Apache-2.0
// The texts of definitions. Parameters are those of PyTorch's schema, in its order.
#pragma once

#include <string_view>
#include <vector>

namespace buda::torchscript {

std::string_view arithmetic_definitions();
std::string_view arrangement_definitions();
std::string_view matrix_definitions();
std::string_view further_definitions();

inline std::vector<std::string_view> definition_texts() {
  return {arithmetic_definitions(), arrangement_definitions(), matrix_definitions(), further_definitions()};
}

}  // namespace buda::torchscript
