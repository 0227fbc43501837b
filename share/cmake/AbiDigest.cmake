# SPDX-License-Identifier: Apache-2.0
# Writes the header that says which public headers this is: digests of their text without comments and white space, of all and of those that
# a kind of plugin can reach. Run as a script:
#   cmake -DLIST=public_headers.txt -DKINDS=plugin_headers -DROOT=core -DOUT=abi_headers.h -P AbiDigest.cmake
function(digest_of list out)
  file(STRINGS "${list}" headers REGEX "^buda/")
  set(digests "")
  foreach(header IN LISTS headers)
    file(READ "${ROOT}/${header}" text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
    string(SHA256 digest "${text}")
    string(APPEND digests "${header} ${digest}\n")
  endforeach()
  string(SHA256 digest "${digests}")
  string(SUBSTRING "${digest}" 0 8 digest)
  set(${out} "${digest}" PARENT_SCOPE)
endfunction()

digest_of("${LIST}" all)
foreach(kind frontend decomposition policy target)
  digest_of("${KINDS}/${kind}.txt" ${kind})
endforeach()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT
"/* The public headers that this OpenBuda was built with, as numbers: they change with all of them (core/public_headers.txt), and with those
 * that a plugin of a kind can reach (share/cmake/plugin_headers). */
#ifndef BUDA_ABI_HEADERS
#define BUDA_ABI_HEADERS 0x${all}u
#define BUDA_ABI_FRONTEND 0x${frontend}u
#define BUDA_ABI_DECOMPOSITION 0x${decomposition}u
#define BUDA_ABI_POLICY 0x${policy}u
#define BUDA_ABI_TARGET 0x${target}u
#endif
/* Of the headers that a plugin was compiled with: buda_add_plugin() says of which kind they all are, if they are. */
#ifndef BUDA_PLUGIN_INTERFACE
#define BUDA_PLUGIN_INTERFACE BUDA_ABI_HEADERS
#endif
")
