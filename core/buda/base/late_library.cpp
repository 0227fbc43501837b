// SPDX-License-Identifier: Apache-2.0
// Loading by soname: the loader looks in the RUNPATH of libbuda, and in that of a program that has libbuda's objects in it.
#include <buda/base/late_library.hpp>

#include <dlfcn.h>

namespace buda {

const void* late_symbol(const std::string& library, const char* symbol) {
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  const void* found = loaded == nullptr ? nullptr : dlsym(loaded, symbol);
  if (found != nullptr) return found;
  const char* why = dlerror();
  throw LateLibraryError(why == nullptr ? library : std::string(why));
}

}  // namespace buda
