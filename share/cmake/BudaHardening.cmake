# SPDX-License-Identifier: Apache-2.0
# buda_hardening: what Debian compiles its packages with. A flag is used where compiler and linker have it, and where nobody who builds has chosen
# otherwise: a distribution's flags and those of a sanitizer stand. Not installed.
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)

# Sets `known` in the cache to whether the compiler has all of the flags.
function(buda_check_flags flags known)
  set(CMAKE_REQUIRED_FLAGS "${flags}")
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # a linker does not use all of them
  check_cxx_source_compiles("int main() {}" ${known} FAIL_REGEX "[Uu]nknown|[Uu]nrecognized|ignored|not supported|unused")
endfunction()

add_library(buda_hardening INTERFACE)

# Sanitizers have checks of their own, and see less where the C library checks first.
set(_buda_given "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_RELEASE}")
if(BUDA_SANITIZE OR BUDA_FUZZ OR _buda_given MATCHES "-fsanitize=")
  return()
endif()

# The flags, unless what is given has a word about the same.
function(_buda_harden flags about)
  string(MAKE_C_IDENTIFIER "BUDA_HAS ${flags}" known)
  if(NOT _buda_given MATCHES "${about}")
    buda_check_flags("${flags}" ${known})
    if(${known})
      separate_arguments(list UNIX_COMMAND "${flags}")
      target_compile_options(buda_hardening INTERFACE ${list})
    endif()
  endif()
endfunction()
_buda_harden("-fstack-protector-strong" "-f(no-)?stack-protector")
_buda_harden("-Wformat -Werror=format-security" "-W(no-|error=|no-error=)?format")

# Checked forms of the C library's functions need optimisation. Compilers that define the level themselves keep theirs.
if(NOT _buda_given MATCHES "_FORTIFY_SOURCE")
  set(CMAKE_REQUIRED_FLAGS "${CMAKE_CXX_FLAGS_RELEASE}")
  check_cxx_source_compiles("
    #if !defined(__OPTIMIZE__) || defined(_FORTIFY_SOURCE)
    #error
    #endif
    int main() {}" BUDA_WANTS_FORTIFY)
  set(CMAKE_REQUIRED_DEFINITIONS -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  check_cxx_source_compiles("#include <cstring>\nint main() { char a[2]; std::memset(a, 0, sizeof a); return a[0]; }" BUDA_HAS_FORTIFY)
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_REQUIRED_DEFINITIONS)
  if(BUDA_WANTS_FORTIFY AND BUDA_HAS_FORTIFY)
    target_compile_options(buda_hardening INTERFACE $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
  endif()
endif()

check_linker_flag(CXX "LINKER:-z,relro" BUDA_HAS_RELRO)
if(BUDA_HAS_RELRO AND NOT "${CMAKE_SHARED_LINKER_FLAGS} ${CMAKE_EXE_LINKER_FLAGS} ${CMAKE_MODULE_LINKER_FLAGS}" MATCHES "z,(no)?relro")
  target_link_options(buda_hardening INTERFACE LINKER:-z,relro)
endif()
