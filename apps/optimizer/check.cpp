// SPDX-License-Identifier: Apache-2.0
// The device, formats, rules and names.
#include "apps/optimizer/check.hpp"

#include <buda/compiler/optimize.hpp>
#include <buda/device/load.hpp>

namespace buda::optimizer {

Result<void> check(const Options& o, cli::ToolHost& host) {
  BUDA_TRY(device::load_device(host, o.device));
  return compiler::check_optimizer_options(o, host);
}

}  // namespace buda::optimizer
