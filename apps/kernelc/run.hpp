// SPDX-License-Identifier: Apache-2.0
// The work of kernelc.
#pragma once

#include "apps/kernelc/options.hpp"

namespace buda::kernelc {

Result<void> run(Options& options, Host& host);

}  // namespace buda::kernelc
