// SPDX-License-Identifier: Apache-2.0
// The commands of profiler.
#pragma once

#include "apps/profiler/options.hpp"

namespace buda::profiler {

Result<void> profile_device(const Options& options, const Outside& outside, Host& host);
Result<void> profile_ops(const Options& options, const Outside& outside, Host& host);

}  // namespace buda::profiler
