// SPDX-License-Identifier: Apache-2.0
// What to say of models that do not fit in memory.
#pragma once

#include <buda/image/merge_memory.hpp>

#include <functional>
#include <string>

namespace buda::image {

// The options of tti-merge without which the models would fit, found by trying them, as a hint. `fits` is asked for other options than the
// given ones, with which they do not.
std::string helpful_option(const MemoryOptions& given, const std::function<bool(const MemoryOptions&)>& fits);

}  // namespace buda::image
