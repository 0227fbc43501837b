// SPDX-License-Identifier: Apache-2.0
// The grammar of TorchScript's code.
#pragma once

#include "code.hpp"
#include "lexer.hpp"

namespace buda::torchscript {

// What one member defines, added to `program`; names begin with `module`: "__torch__.torchvision.models.resnet".
Result<void> parse_code(const Archive& archive, const std::string& member, const std::string& module, Program& program);
// The same for a text that is no member.
Result<void> parse_text(std::string_view text, const std::string& module, Program& program);

}  // namespace buda::torchscript
