// SPDX-License-Identifier: Apache-2.0
// What tti-merge does.
#pragma once

#include "apps/tti-merge/options.hpp"

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>

namespace buda::tti_merge {

Result<void> run(const Options& options, Host& host);

}  // namespace buda::tti_merge
