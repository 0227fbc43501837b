// SPDX-License-Identifier: Apache-2.0
// How the tools' allocator takes memory from the system.
//
// In large pages where the system gives them on demand: what a stage holds of a large graph or tensor is touched all over, and with small
// pages the processor looks up where they lie again and again. The variable MIMALLOC_LARGE_OS_PAGES=0 takes it back.
#include <mimalloc.h>

namespace {

// Before main, and so before nearly all memory.
const bool kAsked = (mi_option_set_enabled_default(mi_option_large_os_pages, true), true);

}  // namespace
