// SPDX-License-Identifier: Apache-2.0
// Texts.
#include "checks.hpp"

#include <buda/base/text.hpp>

namespace buda::tensix {

std::string sentence(Check check, std::string_view what) { return cat(name(check), ": ", what); }

std::string Checks::describe(std::size_t thread, std::string_view what) const {
  return cat(what, place ? cat(": ", place(thread)) : std::string());
}

}  // namespace buda::tensix
