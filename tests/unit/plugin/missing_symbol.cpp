// SPDX-License-Identifier: Apache-2.0
// A plugin that was linked without one of its parts.
#include <buda/plugin/abi.h>

extern "C" const buda_plugin_info* nobody_defines_this();

extern "C" __attribute__((visibility("default"))) const buda_plugin_info* buda_plugin_query(void) { return nobody_defines_this(); }
