// Shared libraries of this project that are loaded when they are first needed: what they are linked with (oneDNN, libarchive) takes the
// loader longer than most tools run.
#pragma once

#include <string>

namespace buda {

// The address of a symbol of the library, which is looked for beside libbuda and where the system has its libraries, and stays loaded.
// Where it cannot be loaded the installation is not complete: a std::runtime_error with the loader's text.
const void* late_symbol(const std::string& library, const char* symbol);

// A table of functions, under the same name as its type's in the library.
template <class Functions>
const Functions& late_functions(const std::string& library, const char* symbol) {
  return *static_cast<const Functions*>(late_symbol(library, symbol));
}

}  // namespace buda
