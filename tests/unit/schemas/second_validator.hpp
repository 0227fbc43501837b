// SPDX-License-Identifier: Apache-2.0
// A JSON Schema validator that is not ours.
#pragma once

#include <string>

namespace buda {

// What valijson says of a document, both as JSON text.
bool second_validator_accepts(const std::string& schema, const std::string& document);

}  // namespace buda
