// SPDX-License-Identifier: Apache-2.0
// Images of earlier compilations, from a store (--cache).
#pragma once

#include "apps/buda/options.hpp"

#include <string>

namespace buda::driver {

// Names of the products that are kept.
inline constexpr const char* kCachedImage = "image";
inline constexpr const char* kCachedReport = "report";
inline constexpr const char* kCachedRules = "rules";  // of --accuracy

// A digest of all that decides on an image apart from further files that the stages read: the model; the commands of the stages, but for
// where their files are and for what changes no product; the programs, the library and the plugins that there are.
Result<std::string> cache_key(const Options& o, cli::ToolHost& host);

}  // namespace buda::driver
