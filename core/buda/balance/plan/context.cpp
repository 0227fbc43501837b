// SPDX-License-Identifier: Apache-2.0
// A device of one chip has no links.
#include <buda/balance/plan/context.hpp>

namespace buda::balance {

Result<Settings> settings_for(const BalanceOptions& options, const device::DeviceDescriptor& device, Host& host) {
  Settings out{options, {}};
  if (device.chips > 1 || !options.cluster.empty()) {
    BUDA_ASSIGN(out.links, device::load_cluster(host, device, options.cluster));
  }
  return out;
}

}  // namespace buda::balance
