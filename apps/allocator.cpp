// SPDX-License-Identifier: Apache-2.0
// How the tools' allocator takes memory from the system.
//
// In large pages where the system gives them on demand: what a stage holds of a large graph or tensor is touched all over, and with small
// pages the processor looks up where they lie again and again. The variable MIMALLOC_LARGE_OS_PAGES=0 takes it back.
//
// What is freed is kept for a second before the system gets it: the tensors of an evaluation follow each other in less, and pages that come
// back from the system are cleared first, which takes longer than what most operators do with them.
#include <mimalloc.h>

namespace {

#if MI_MALLOC_VERSION >= 210
constexpr mi_option_t kReturnDelay = mi_option_purge_delay;
#else
constexpr mi_option_t kReturnDelay = mi_option_decommit_delay;
#endif
constexpr long kReturnDelayMs = 1000;

// Before main, and so before nearly all memory.
const bool kAsked =
    (mi_option_set_enabled_default(mi_option_large_os_pages, true), mi_option_set_default(kReturnDelay, kReturnDelayMs), true);

}  // namespace
