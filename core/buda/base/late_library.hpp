// SPDX-License-Identifier: Apache-2.0
// Shared libraries of this project that are loaded when they are first needed: what they are linked with (oneDNN, libarchive) takes the
// loader longer than most tools run.
#pragma once

#include <stdexcept>
#include <string>

namespace buda {

// The installation is not complete, one of its files is damaged, or memory or descriptors are too few. Tools make IO009 of it.
struct LateLibraryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The address of a symbol of the library, which is looked for beside libbuda and where the system has its libraries, and stays loaded.
// Where it cannot be loaded: a LateLibraryError with the loader's text.
const void* late_symbol(const std::string& library, const char* symbol);

// A table of functions, under the same name as its type's in the library.
template <class Functions>
const Functions& late_functions(const std::string& library, const char* symbol) {
  return *static_cast<const Functions*>(late_symbol(library, symbol));
}

}  // namespace buda
