// SPDX-License-Identifier: Apache-2.0
// A shared library that is no plugin.
extern "C" int buda_plugin_nothing(void) { return 0; }
