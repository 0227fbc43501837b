// SPDX-License-Identifier: Apache-2.0
// A plugin as authors write it, whose body throws.
#include <buda/plugin/plugin.hpp>

#include <stdexcept>

BUDA_PLUGIN(.name = "macro", .version = "1", .description = "throws", .license = "Apache-2.0") {
  throw std::runtime_error("thrown in the plugin");
}
