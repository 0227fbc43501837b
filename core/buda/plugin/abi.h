/* The C side of a plugin: what the host reads before it calls any C++.
 *
 * A plugin is a shared library that exports one function, buda_plugin_query. The host checks the fields of the struct in the order in
 * which they stand, and calls register_fn only when all fit. Most plugins use the macro BUDA_PLUGIN of <buda/plugin/plugin.hpp>. */
#ifndef BUDA_PLUGIN_ABI_H
#define BUDA_PLUGIN_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BUDA_PLUGIN_MAGIC 0x41445542u /* "BUDA" in memory */

/* A change of the major number makes older plugins unusable; plugins of an older minor number go on working. Both are the plugin
 * interface's own, not the version of the tools. */
#define BUDA_ABI_MAJOR 1u
#define BUDA_ABI_MINOR 0u

typedef struct buda_plugin_info {
  uint32_t magic, struct_size, abi_major, abi_minor;
  const char *name, *version, *description, *license;
  const char* cxx_abi;                             /* compiler, standard library and libbuda that the C++ side was built with */
  int (*register_fn)(void* registrar, void* host); /* 0: registered; must not throw */
} buda_plugin_info;

typedef const buda_plugin_info* (*buda_plugin_query_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
