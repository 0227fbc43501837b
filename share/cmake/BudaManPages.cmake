# SPDX-License-Identifier: Apache-2.0
# Manual pages of the tools and of their commands, from --help: `make install` and `make deb` build the target man_pages. Not installed.
find_program(BUDA_HELP2MAN help2man)
find_program(BUDA_GZIP gzip)

set(man_pages "${PROJECT_BINARY_DIR}/man/man1")
get_property(tools GLOBAL PROPERTY BUDA_APPS)
list(TRANSFORM tools REPLACE "^tool_" "")
if(BUDA_HELP2MAN AND BUDA_GZIP)
  add_custom_command(OUTPUT "${man_pages}" COMMAND rm -rf "${man_pages}"
    COMMAND sh "${PROJECT_SOURCE_DIR}/share/packages/man-pages.sh" "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" "${man_pages}" ${tools}
    COMMAND "${BUDA_GZIP}" -9nr "${man_pages}"
    DEPENDS toolchain "${PROJECT_SOURCE_DIR}/share/packages/man-pages.sh" VERBATIM)
  add_custom_target(man_pages DEPENDS "${man_pages}")
else()
  add_custom_target(man_pages COMMAND "${CMAKE_COMMAND}" -E echo "no manual pages: help2man and gzip make them")
endif()
# cmake --install takes what has been made.
install(DIRECTORY "${man_pages}/" DESTINATION share/man/man1 COMPONENT tools OPTIONAL)
