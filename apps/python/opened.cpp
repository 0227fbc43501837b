// SPDX-License-Identifier: Apache-2.0
// Makes targets.
#include "apps/python/opened.hpp"

#include <buda/device/load.hpp>

namespace buda::python {

Result<void> OnTarget::make(const std::string& name, const std::string& device_name, const schema::OptionValues& options,
                            const runtime::MergedModel& models) {
  Host& host = environment->host();
  BUDA_ASSIGN(target, plugin::make(plugins(), plugins().targets, plugin::Kind::target, name, options, host));
  if (device_name.empty()) {
    device = models.whole.device.value();
    return success();
  }
  BUDA_ASSIGN(device, device::load_device(host, device_name));
  return success();
}

}  // namespace buda::python
