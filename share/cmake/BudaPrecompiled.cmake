# SPDX-License-Identifier: Apache-2.0
# Headers of the standard library, and for tests those of GoogleTest, are parsed once. Only with clang: they save it half a second of each unit of
# the library and a second of each of the tests; gcc gains nothing. No header of this project is among them, so that a change of one compiles
# what includes it and nothing else. Not installed.
set(can_precompile OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT BUDA_SANITIZE)
  set(can_precompile ON)
endif()
option(BUDA_PRECOMPILE "Parse the standard library's headers once" ${can_precompile})

set(BUDA_STANDARD_HEADERS algorithm array atomic bit charconv chrono cmath condition_variable cstddef cstdint cstdio cstdlib cstring deque exception
  filesystem fstream functional iostream iterator limits list map memory mutex numeric optional queue random set span sstream stdexcept string
  string_view system_error thread tuple type_traits unordered_map unordered_set utility variant vector)
list(TRANSFORM BUDA_STANDARD_HEADERS REPLACE "(.+)" "<\\1>")

# buda_precompile(OWNER HEADERS…): OWNER, an object library, compiles these headers with its own flags.
#
# A precompiled header names the folder that it was made in, so the compiler cache does not keep it, and identifies it not by its bytes but by
# the file .sum beside it: what the headers say, here.
function(buda_precompile owner)
  set_target_properties(${owner} PROPERTIES EXCLUDE_FROM_ALL ON UNITY_BUILD OFF CXX_COMPILER_LAUNCHER "")
  target_precompile_headers(${owner} PRIVATE ${ARGN})
  set(includes "${ARGN}")
  list(TRANSFORM includes REPLACE "(.+)" "#include \\1\n")
  list(JOIN includes "" text)
  set(folder "${PROJECT_BINARY_DIR}/CMakeFiles/${owner}.dir")
  file(CONFIGURE OUTPUT "${folder}/identity.cpp" CONTENT "${text}" @ONLY)
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -std=c++20 -E -P -MD -MF "${folder}/identity.d" "${folder}/identity.cpp"
    OUTPUT_VARIABLE preprocessed COMMAND_ERROR_IS_FATAL ANY)
  string(SHA256 sum "${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS} ${preprocessed}")
  file(CONFIGURE OUTPUT "${folder}/cmake_pch.hxx.pch.sum" CONTENT "${sum}" @ONLY)
  # Objects wait for what a custom target makes, but not for objects of other libraries.
  add_custom_target(${owner}_ready)
  add_dependencies(${owner}_ready ${owner})
  # The sum follows the headers.
  file(READ "${folder}/identity.d" dependencies)
  string(REGEX MATCHALL "/usr/[^ \n\\]+" headers "${dependencies}")
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
endfunction()

# The owner of the headers of tests, and that of all else.
if(BUDA_PRECOMPILE)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/precompiled/empty.cpp" CONTENT "")
  add_library(buda_precompiled_library OBJECT "${PROJECT_BINARY_DIR}/precompiled/empty.cpp")
  set_target_properties(buda_precompiled_library PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(buda_precompiled_library PRIVATE buda_warnings buda_hardening)
  buda_precompile(buda_precompiled_library ${BUDA_STANDARD_HEADERS})
  if(BUDA_BUILD_TESTS)
    find_package(GTest REQUIRED)
    add_library(buda_precompiled_tests OBJECT "${PROJECT_BINARY_DIR}/precompiled/empty.cpp")
    target_link_libraries(buda_precompiled_tests PRIVATE buda_test_code GTest::gtest GTest::gmock)
    buda_precompile(buda_precompiled_tests ${BUDA_STANDARD_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endif()

# buda_use_precompiled(TARGET library|tests): what users run is hardened, with precompiled headers or without. Not by REUSE_FROM, whose options the compiler cache does not take relative to the source folder.
function(buda_use_precompiled target kind)
  if(kind STREQUAL "library")
    target_link_libraries(${target} PRIVATE buda_hardening)
  endif()
  if(NOT BUDA_PRECOMPILE)
    return()
  endif()
  set(owner buda_precompiled_${kind})
  add_dependencies(${target} ${owner}_ready)
  target_compile_options(${target} PRIVATE "SHELL:-include-pch \"${PROJECT_BINARY_DIR}/CMakeFiles/${owner}.dir/cmake_pch.hxx.pch\"")
  # As its owner is compiled.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  if(kind STREQUAL "library")
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
endfunction()
