// SPDX-License-Identifier: Apache-2.0
/* The C side of a plugin: what the host reads before it calls any C++.
 *
 * A plugin is a shared library that exports one function, buda_plugin_query. The host checks the fields of the struct in the order in
 * which they stand, and calls register_fn only when all fit. Most plugins use the macro BUDA_PLUGIN of <buda/plugin/plugin.hpp>. */
#ifndef BUDA_PLUGIN_ABI_H
#define BUDA_PLUGIN_ABI_H

#include <buda/plugin/abi_headers.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BUDA_PLUGIN_MAGIC 0x41445542u /* "BUDA" in memory */

/* Of this struct, and of all that is not seen in a header: raised by hand, together with the folder in which plugins are looked for. */
#define BUDA_ABI_GENERATION 1u

typedef struct buda_plugin_info {
  uint32_t magic, struct_size;
  uint32_t abi_generation; /* BUDA_ABI_GENERATION */
  uint32_t abi_headers;    /* BUDA_PLUGIN_INTERFACE: a digest of the public headers that the plugin was compiled with */
  const char *name, *version, *description, *license;
  const char* cxx_abi;                             /* compiler, standard library and libbuda that the C++ side was built with */
  int (*register_fn)(void* registrar, void* host); /* 0: registered; must not throw */
} buda_plugin_info;

typedef const buda_plugin_info* (*buda_plugin_query_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
