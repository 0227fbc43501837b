# SPDX-License-Identifier: Apache-2.0
# buda_add_plugin, for this project's plugins and for those of others: the one function that both use. Installed.
#
#   buda_add_plugin(my_policy KIND policy SOURCES plugin.cpp [LINK targets…] [CHECK arguments…])
#
# builds the module `my_policy.so`. KIND is frontend, decomposition, policy or target. A plugin that includes nothing but the headers of its
# kind (plugin_headers/KIND.txt) stays loadable while these are the same; one that includes others, as long as all public headers are. In an out-of-tree project the module is made in the
# build folder and installed to <prefix>/lib/buda/plugins/abi<N>.
#
#   enable_testing()
#   buda_test_plugin(my_policy KIND policy)
#
# makes the conformance suite of the kind a test of that plugin, with the files of the folder `samples` beside its CMakeLists.txt as samples and
# the arguments after CHECK, which plugin-check --help lists.
set(_BUDA_PLUGIN_HEADERS "${CMAKE_CURRENT_LIST_DIR}/plugin_headers")
set(_BUDA_PLUGIN_EXPORTS "${CMAKE_CURRENT_LIST_DIR}/plugin-exports.map")
# In an installation this file is in <prefix>/lib/cmake/OpenBuda.
set(_BUDA_BIN "${CMAKE_CURRENT_LIST_DIR}/../../../bin")

# Whether all headers of OpenBuda that the sources and the headers of their folder include are ones of the kind.
function(_buda_includes_headers_of kind out)
  file(STRINGS "${_BUDA_PLUGIN_HEADERS}/${kind}.txt" known)
  file(GLOB own RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.hpp" "${CMAKE_CURRENT_SOURCE_DIR}/*.h")
  set(${out} TRUE PARENT_SCOPE)
  foreach(source IN LISTS ARGN own)
    get_filename_component(source "${source}" ABSOLUTE)
    if(NOT EXISTS "${source}")
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]buda/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE ".*[<\"](buda/[^>\"]*)[>\"].*" "\\1" header "${line}")
      if(NOT header IN_LIST known)
        set(${out} FALSE PARENT_SCOPE)
      endif()
    endforeach()
  endforeach()
endfunction()

function(buda_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND" "SOURCES;LINK;CHECK")
  set(kinds frontend decomposition policy target)
  if(NOT arg_KIND IN_LIST kinds)
    message(FATAL_ERROR "buda_add_plugin(${name}): KIND must be one of ${kinds}, not '${arg_KIND}'")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "buda_add_plugin(${name}): SOURCES is empty")
  endif()
  set(target "plugin_${arg_KIND}_${name}")
  add_library(${target} MODULE ${arg_SOURCES})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_definitions(${target} PRIVATE "BUDA_PLUGIN_KIND=\"${arg_KIND}\"")
  _buda_includes_headers_of(${arg_KIND} has_headers_of_kind ${arg_SOURCES})
  if(has_headers_of_kind)
    string(TOUPPER "${arg_KIND}" kind)
    target_compile_definitions(${target} PRIVATE "BUDA_PLUGIN_INTERFACE=BUDA_ABI_${kind}")
  endif()
  if(TARGET buda_warnings)
    target_link_libraries(${target} PRIVATE buda buda_warnings ${arg_LINK})
    buda_use_precompiled(${target} library)
    if(arg_KIND MATCHES "^(frontend|decomposition)$")
      target_link_libraries(${target} PRIVATE buda_rarely_run)
    endif()
  else()
    target_link_libraries(${target} PRIVATE OpenBuda::buda ${arg_LINK})
  endif()
  # Only buda_plugin_query is seen from outside: two plugins cannot disturb each other through equal names.
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME "${arg_KIND}_${name}"
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${BUDA_PLUGIN_SUBDIR}"
    INSTALL_RPATH "$ORIGIN/../../..")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${_BUDA_PLUGIN_EXPORTS}")
  # A symbol that libbuda does not export is found missing here, not when the plugin is loaded. (A sanitizer's are in the executable.)
  if(NOT BUDA_SANITIZE AND NOT BUDA_FUZZ)
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${_BUDA_PLUGIN_EXPORTS}")
  set_target_properties(${target} PROPERTIES BUDA_CHECK_ARGUMENTS "${arg_CHECK}")
  set_property(GLOBAL APPEND PROPERTY BUDA_PLUGINS ${target})
  install(TARGETS ${target} LIBRARY DESTINATION "${BUDA_PLUGIN_SUBDIR}" COMPONENT library)
endfunction()

function(buda_test_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND" "")
  set(target "plugin_${arg_KIND}_${name}")
  if(TARGET buda_warnings)
    set(BUDA_PLUGIN_CHECK "${PROJECT_BINARY_DIR}/bin/plugin-check")
  else()
    find_program(BUDA_PLUGIN_CHECK plugin-check HINTS "${_BUDA_BIN}" REQUIRED)
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(arguments ${target} BUDA_CHECK_ARGUMENTS)
  file(GLOB samples CONFIGURE_DEPENDS "${folder}/samples/*")
  foreach(sample IN LISTS samples)
    list(APPEND arguments --sample "${sample}")
  endforeach()
  add_test(NAME plugin.${arg_KIND}.${name} COMMAND "${BUDA_PLUGIN_CHECK}" "$<TARGET_FILE:${target}>" ${arguments})
  set_tests_properties(plugin.${arg_KIND}.${name} PROPERTIES LABELS "plugin")
endfunction()
