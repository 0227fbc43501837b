# SPDX-License-Identifier: Apache-2.0
# Debian packages, made by `make deb`: openbuda (tools and data), libopenbuda1 (library and plugins), libopenbuda-dev (what a plugin or an
# embedding program is built with), python3-openbuda (the Python module). Not installed.
find_program(BUDA_GZIP gzip REQUIRED)

set(packages openbuda "libopenbuda${BUDA_ABI}" libopenbuda-dev python3-openbuda)
set(components tools library development python)
set(made "${PROJECT_BINARY_DIR}/packages")
set(version "${PROJECT_VERSION}")

# What Debian asks of every package.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT "${made}/changelog" CONTENT
  "openbuda (${version}) unstable; urgency=low\n\n  * Version ${version}.\n\n -- The OpenBuda authors <openbuda@example.org>  ${date}\n" @ONLY)
execute_process(COMMAND "${BUDA_GZIP}" -9nkf "${made}/changelog" COMMAND_ERROR_IS_FATAL ANY)
foreach(package component IN ZIP_LISTS packages components)
  install(FILES "${made}/changelog.gz" "${PROJECT_SOURCE_DIR}/share/packages/copyright" DESTINATION "share/doc/${package}" COMPONENT ${component})
endforeach()

# Completions of the tools.
get_property(targets GLOBAL PROPERTY BUDA_APPS)
list(TRANSFORM targets REPLACE "^tool_" "" OUTPUT_VARIABLE tools)
set(completions "${PROJECT_BINARY_DIR}/${BUDA_SHARE_SUBDIR}/completions")
install(FILES "${completions}/openbuda.zsh" DESTINATION share/zsh/vendor-completions RENAME _openbuda COMPONENT tools)
# bash looks for a file that is called like the command.
list(GET tools 0 first)
file(MAKE_DIRECTORY "${made}/links")
install(FILES "${completions}/openbuda.bash" DESTINATION share/bash-completion/completions RENAME "${first}" COMPONENT tools)
foreach(tool IN LISTS tools)
  if(NOT tool STREQUAL first)
    file(CREATE_LINK "${first}" "${made}/links/${tool}" SYMBOLIC)
    install(FILES "${made}/links/${tool}" DESTINATION share/bash-completion/completions COMPONENT tools)
  endif()
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME openbuda)
set(CPACK_PACKAGE_VERSION "${version}")
set(CPACK_PACKAGE_CONTACT "The OpenBuda authors <openbuda@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler of ML models for tile-grid chips")
set(about "OpenBuda compiles machine-learning models for tile-grid chips, and runs the\nresult in simulators, functional or timed, without hardware.\n.\nThis package has")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME openbuda)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libopenbuda${BUDA_ABI} (= ${version}), python3")  # python3: scripts of the examples
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "${about} the tools, their data and their documentation.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME "libopenbuda${BUDA_ABI}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "${about} the library and its plugins.")
# CPack's own would take the plugins for libraries to link with, and call ldconfig by scripts.
file(WRITE "${made}/shlibs" "libbuda ${BUDA_ABI} libopenbuda${BUDA_ABI} (= ${version})\n")
get_property(late_libraries GLOBAL PROPERTY BUDA_LATE_LIBRARIES)
foreach(late IN LISTS late_libraries)
  get_target_property(late_name ${late} OUTPUT_NAME)
  file(APPEND "${made}/shlibs" "lib${late_name} ${BUDA_ABI} libopenbuda${BUDA_ABI} (= ${version})\n")
endforeach()
file(WRITE "${made}/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${made}/shlibs;${made}/triggers")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libopenbuda-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libopenbuda${BUDA_ABI} (= ${version}), openbuda (= ${version})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${about} what plugins and embedding programs\nare built with.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-openbuda)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "libopenbuda${BUDA_ABI} (= ${version}), openbuda (= ${version}), ${BUDA_PYTHON_VERSIONS}, python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/share/packages/prerm")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "${about} the Python module.")
include(CPack)
