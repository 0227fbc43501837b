# buda_add_plugin, for this project's plugins and for those of others: the one function that both use. Installed.
#
#   buda_add_plugin(my_policy KIND policy SOURCES plugin.cpp [LINK targets…])
#
# builds the module `my_policy.so`. KIND is frontend, decomposition, policy or target. In an out-of-tree project the module is made in the
# build folder and installed to <prefix>/lib/buda/plugins/abi<N>.
set(_BUDA_PLUGIN_EXPORTS "${CMAKE_CURRENT_LIST_DIR}/plugin-exports.map")

function(buda_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND" "SOURCES;LINK")
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
  if(TARGET buda_warnings)
    target_link_libraries(${target} PRIVATE buda buda_warnings ${arg_LINK})
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
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${_BUDA_PLUGIN_EXPORTS}")
  set_property(GLOBAL APPEND PROPERTY BUDA_PLUGINS ${target})
  install(TARGETS ${target} LIBRARY DESTINATION "${BUDA_PLUGIN_SUBDIR}")
endfunction()
