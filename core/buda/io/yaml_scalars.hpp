// SPDX-License-Identifier: Apache-2.0
// How plain scalars of YAML are typed and spelled; both readers of this module use it. Internal to this module.
#pragma once

#include <buda/io/node.hpp>

#include <string>
#include <string_view>

namespace buda::io {

// The kind of a plain scalar by YAML's core schema. Words that look like numbers and are none are strings.
Node::Kind plain_kind(std::string_view text);

// The scalar in the one spelling that the rest of the program knows: `True` is "true", `+4` is "4", null has no text.
std::string canonical_text(Node::Kind kind, std::string_view text);

}  // namespace buda::io
