# SPDX-License-Identifier: Apache-2.0
# Kernels of others, compiled and tested. Installed.
#
#   buda_add_kernels(my_kernel NETLIST net.yaml KERNELS folder…)
#
# compiles the kernels of a netlist into the build folder, those of the folders (each has a kernel.yaml) in the place of some ops'.
#
#   enable_testing()
#   buda_test_kernels(my_kernel)
#
# makes a test: with random inputs they compute on target tensix what golden does with the same functions, bit by bit.
function(_buda_tool variable name)
  if(TARGET buda_warnings)
    set(${variable} "${PROJECT_BINARY_DIR}/bin/${name}" PARENT_SCOPE)
  else()
    find_program(BUDA_TOOL_${name} ${name} HINTS "${_BUDA_BIN}" REQUIRED)
    set(${variable} "${BUDA_TOOL_${name}}" PARENT_SCOPE)
  endif()
endfunction()

function(buda_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NETLIST" "KERNELS")
  if(NOT arg_NETLIST OR NOT arg_KERNELS)
    message(FATAL_ERROR "buda_add_kernels(${name}): NETLIST and KERNELS are needed")
  endif()
  _buda_tool(kernelc kernelc)
  get_filename_component(netlist "${arg_NETLIST}" ABSOLUTE)
  set(options "")
  foreach(folder IN LISTS arg_KERNELS)
    get_filename_component(folder "${folder}" ABSOLUTE)
    list(APPEND folders "${folder}")
    list(APPEND options --kernel-path "${folder}")
  endforeach()
  set(product "${CMAKE_CURRENT_BINARY_DIR}/${name}.kernels")
  add_custom_command(OUTPUT "${product}/manifest.json"
    COMMAND "${kernelc}" "${netlist}" -o "${product}" ${options} -MD -MF "${product}.d" -MT "${product}/manifest.json" DEPENDS "${netlist}" DEPFILE "${product}.d"
    COMMENT "Kernels of ${name}" VERBATIM)
  add_custom_target(kernels_${name} ALL DEPENDS "${product}/manifest.json")
  set_target_properties(kernels_${name} PROPERTIES BUDA_NETLIST "${netlist}" BUDA_FOLDERS "${folders}" BUDA_PRODUCT "${product}")
endfunction()

function(buda_test_kernels name)
  _buda_tool(runner runner)
  foreach(property NETLIST FOLDERS PRODUCT)
    get_target_property(${property} kernels_${name} BUDA_${property})
  endforeach()
  set(options "")
  foreach(folder IN LISTS FOLDERS)
    list(APPEND options --set "target.golden.kernel-path=${folder}")
  endforeach()
  set(run "${runner}" "${NETLIST}" --bare --stimulus -q)
  add_test(NAME kernel.${name}.golden COMMAND ${run} --target golden --set target.golden.mode=bits ${options} -o "${PRODUCT}.npz")
  add_test(NAME kernel.${name} COMMAND ${run} --target tensix --set "target.tensix.kernels=${PRODUCT}" --expect "${PRODUCT}.npz" --max-error 0)
  set_tests_properties(kernel.${name}.golden PROPERTIES FIXTURES_SETUP kernel.${name} LABELS "kernel")
  set_tests_properties(kernel.${name} PROPERTIES FIXTURES_REQUIRED kernel.${name} LABELS "kernel")
endfunction()
