// SPDX-License-Identifier: Apache-2.0
// The work of tti-pack: one function per command.
#pragma once

#include "apps/tti-pack/options.hpp"

#include <buda/diag/result.hpp>

namespace buda::tti_pack {

Result<void> pack(const Options& options, Host& host);
Result<void> info(const Options& options, Host& host);
Result<void> extract(const Options& options, Host& host);

}  // namespace buda::tti_pack
