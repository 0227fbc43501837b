# Writes the header that says which public headers this is: a digest of their text without comments and white space. Run as a script:
#   cmake -DLIST=public_headers.txt -DROOT=core -DOUT=abi_headers.h -P AbiDigest.cmake
file(STRINGS "${LIST}" headers REGEX "^buda/")
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
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT
"/* The public headers that this OpenBuda was built with, as a number: it changes with them (core/public_headers.txt). */
#ifndef BUDA_ABI_HEADERS
#define BUDA_ABI_HEADERS 0x${digest}u
#endif
")
