# SPDX-License-Identifier: Apache-2.0
# Settings of this project's own build: compiler flags, output folders, install folders. Not installed.
# Tools look for libraries, plugins and data next to themselves, in lib and share.
if(DEFINED CMAKE_INSTALL_LIBDIR AND NOT CMAKE_INSTALL_LIBDIR STREQUAL "lib")
  message(WARNING "Libraries are installed in lib, where the tools look for them; CMAKE_INSTALL_LIBDIR=${CMAKE_INSTALL_LIBDIR} is not used")
endif()
set(CMAKE_INSTALL_LIBDIR lib CACHE PATH "Libraries are in lib" FORCE)
include(GNUInstallDirs)
include(CheckLinkerFlag)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# -O3, which CMake has for itself, costs a third more build time and gains nothing outside a few numeric loops, which ask for it themselves.
if(CMAKE_CXX_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()

# Sources of a target are compiled a dozen at a time: headers are read, and templates instantiated, once for all of them, which more than
# halves the time of a build from nothing and of one after a change of a central header. Names in unnamed namespaces must therefore differ
# within a target. OFF compiles each file alone: shorter turns while only .cpp files change.
option(BUDA_UNITY "Compile sources together, a dozen at a time" ON)
set(CMAKE_UNITY_BUILD ${BUDA_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The build tree mirrors the install tree, so that a tool finds its plugins and data in both in the same way.
set(BUDA_ABI 1)
set(BUDA_PLUGIN_SUBDIR "lib/buda/plugins/abi${BUDA_ABI}")
set(BUDA_SHARE_SUBDIR "share/buda")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
# The two trees have the same shape. CMake's own path for the build tree would be padded with empty entries, which mean the current folder.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
# Libraries of Debian's packages are in the linker's own folders.
if(BUDA_PACKAGES)
  set(CMAKE_BUILD_WITH_INSTALL_RPATH OFF)
  set(CMAKE_SKIP_INSTALL_RPATH ON)
endif()
# A tool or plugin is the same whatever libbuda's functions do: it is linked anew when its own objects change, as they do when what they call is
# declared otherwise.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

# Paths are taken relative to the source folder, so that other checkouts, and the copies that tests make, find what this one compiled.
find_program(BUDA_CCACHE ccache)
if(BUDA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_PCH_EXTSUM=true
    "CCACHE_SLOPPINESS=pch_defines,time_macros" "${BUDA_CCACHE}")
endif()

# GNU ld takes three times as long. On one thread, for several are linked beside each other, and threads cost a sixth of the time.
find_program(BUDA_LLD ld.lld)
if(BUDA_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  check_linker_flag(CXX "-fuse-ld=lld;-Wl,--threads=1" BUDA_LINKS_WITH_LLD)
  if(BUDA_LINKS_WITH_LLD)
    add_link_options(-fuse-ld=lld -Wl,--threads=1)
  endif()
endif()

include(BudaHardening)

# Warnings and sanitizers of our own code; never passed on to users of the installed package.
add_library(buda_warnings INTERFACE)
target_compile_options(buda_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  # gcc 12 takes moved-from optionals and variants for uninitialised memory (GCC bug 105562), and sees overlaps in string concatenation
  # that are not there (105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${BUDA_WERROR}>:-Werror>)
if(BUDA_SANITIZE)
  # Halves the build, and line numbers are all that a sanitizer's report needs.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  target_compile_options(buda_warnings INTERFACE "-fsanitize=${BUDA_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(buda_warnings INTERFACE "-fsanitize=${BUDA_SANITIZE}")
endif()
if(BUDA_FUZZ)
  # The fuzzer steers by the branches that an input takes, so everything counts them, not just its own main.
  target_compile_options(buda_warnings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# What stands in tests only: its own speed does not matter, and what it calls in libbuda is optimised all the same.
add_library(buda_test_code INTERFACE)
target_link_libraries(buda_test_code INTERFACE buda_warnings)
target_compile_options(buda_test_code INTERFACE $<$<CONFIG:Release>:-O0>)

# What runs a few times in a program, and calls what runs often: rules of decomposition, readers of models, tools. A quarter less to compile,
# and no tool is slower (docs/decisions/0021).
add_library(buda_rarely_run INTERFACE)
buda_check_flags("-mllvm -inline-threshold=10" BUDA_HAS_INLINE_THRESHOLD)
if(BUDA_HAS_INLINE_THRESHOLD)
  target_compile_options(buda_rarely_run INTERFACE $<$<CONFIG:Release>:-O1> "$<$<CONFIG:Release>:SHELL:-mllvm -inline-threshold=10>")
endif()

include(BudaPrecompiled)
find_package(Threads REQUIRED)

# Makes the object library TARGET a part of libbuda, of which only what public headers declare is seen from outside (docs/decisions/0019).
function(buda_part target)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_sources(buda PRIVATE $<TARGET_OBJECTS:${target}>)
  target_link_libraries(buda PRIVATE ${ARGN})
endfunction()

# buda_units(TARGET [UNIT a.cpp b.cpp…]…): the sources of each UNIT are compiled together, the target's others by the dozen. A unit holds
# sources that include the same central header, such as the graph's, so that a change of it leaves the others as they are.
function(buda_units target)
  if(NOT BUDA_UNITY)
    return()
  endif()
  set(number 0)
  set(placed "")
  foreach(word IN LISTS ARGN)
    if(word STREQUAL "UNIT")
      math(EXPR number "${number} + 1")
    else()
      set_source_files_properties("${word}" PROPERTIES UNITY_GROUP "unit${number}")
      list(APPEND placed "${word}")
    endif()
  endforeach()
  get_target_property(others ${target} SOURCES)
  get_target_property(size ${target} UNITY_BUILD_BATCH_SIZE)
  list(REMOVE_ITEM others ${placed})
  set(count 0)
  foreach(source IN LISTS others)
    math(EXPR batch "${count} / ${size}")
    math(EXPR count "${count} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "batch${batch}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# buda_module(NAME SOURCES a.cpp… [UNIT b.cpp…]… [LINK targets…]): one module of libbuda, in core/buda/NAME; UNIT as for buda_units.
function(buda_module name)
  set(list "")
  set(sources "")
  set(units "")
  set(libraries "")
  foreach(word IN LISTS ARGN)
    if(word MATCHES "^(SOURCES|UNIT|LINK)$")
      set(list "${word}")
      if(list STREQUAL "UNIT")
        list(APPEND units UNIT)
      endif()
    elseif(list STREQUAL "LINK")
      list(APPEND libraries "${word}")
    else()
      list(APPEND sources "${word}")
      if(list STREQUAL "UNIT")
        list(APPEND units "${word}")
      endif()
    endif()
  endforeach()
  add_library(buda_${name} OBJECT ${sources})
  if(units)
    buda_units(buda_${name} ${units})
  endif()
  target_include_directories(buda_${name} PRIVATE "${PROJECT_SOURCE_DIR}/core")
  target_link_libraries(buda_${name} PRIVATE buda_warnings Threads::Threads ${libraries})
  buda_use_precompiled(buda_${name} library)
  buda_part(buda_${name} ${libraries})
  target_sources(buda_private INTERFACE $<TARGET_OBJECTS:buda_${name}>)
  foreach(library IN LISTS libraries)
    target_link_libraries(buda_private INTERFACE $<LINK_ONLY:${library}>)
  endforeach()
  if(name IN_LIST BUDA_GROUND)
    target_sources(buda_ground INTERFACE $<TARGET_OBJECTS:buda_${name}>)
    foreach(library IN LISTS libraries)
      target_link_libraries(buda_ground INTERFACE $<LINK_ONLY:${library}>)
    endforeach()
  endif()
endfunction()

# buda_late_library(NAME SOURCES a.cpp… LINK targets…): libbuda_NAME.so, which libbuda loads when it is first needed (base/late_library.hpp).
# Sets BUDA_LATE_NAME to its soname.
function(buda_late_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(buda_late_${name} SHARED ${arg_SOURCES})
  set_target_properties(buda_late_${name} PROPERTIES OUTPUT_NAME buda_${name} VERSION ${PROJECT_VERSION} SOVERSION ${BUDA_ABI}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(buda_late_${name} PRIVATE "${PROJECT_SOURCE_DIR}/core")
  target_link_libraries(buda_late_${name} PRIVATE buda buda_warnings ${arg_LINK})
  buda_use_precompiled(buda_late_${name} library)
  # As of plugins: what libbuda does not export is found missing here.
  if(NOT BUDA_SANITIZE AND NOT BUDA_FUZZ)
    target_link_options(buda_late_${name} PRIVATE LINKER:-z,defs)
  endif()
  set_property(GLOBAL APPEND PROPERTY BUDA_LATE_LIBRARIES buda_late_${name})
  install(TARGETS buda_late_${name} LIBRARY DESTINATION lib COMPONENT library NAMELINK_SKIP)
  set(BUDA_LATE_${name} "libbuda_${name}.so.${BUDA_ABI}" PARENT_SCOPE)
endfunction()

# Tools use mimalloc in place of the C library's allocator, which takes a quarter of the time of a large graph: it joins and splits free
# pieces all over memory. Sanitizers bring their own.
if(NOT BUDA_SANITIZE)
  find_package(mimalloc REQUIRED)
  add_library(buda_mimalloc OBJECT "${PROJECT_SOURCE_DIR}/apps/allocator.cpp")
  target_link_libraries(buda_mimalloc PRIVATE buda_warnings mimalloc)
  add_library(buda_process_hooks OBJECT "${PROJECT_SOURCE_DIR}/apps/process_hooks.cpp")
  target_link_libraries(buda_process_hooks PRIVATE buda_headers buda_warnings mimalloc)
endif()
function(buda_allocator target)
  if(NOT BUDA_SANITIZE)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:buda_mimalloc>)
    target_link_libraries(${target} PRIVATE mimalloc)
  endif()
endfunction()

# buda_app(NAME [SOURCES …] [LINK …]): the tool NAME from options.cpp, run.cpp and what is listed, which are the object library app_NAME, for
# tests in process, and a part of libbuda, since they use its private symbols; the executable is main.cpp alone. Dashes are part of the
# tool's name.
function(buda_app name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(app_${name} OBJECT options.cpp run.cpp ${arg_SOURCES})
  target_include_directories(app_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(app_${name} PUBLIC buda_headers PRIVATE buda_warnings buda_rarely_run ${arg_LINK})
  buda_use_precompiled(app_${name} library)
  buda_part(app_${name} ${arg_LINK})
  # The target has a prefix, because the library's target is called like one of the tools.
  add_executable(tool_${name} main.cpp)
  set_target_properties(tool_${name} PROPERTIES OUTPUT_NAME ${name})
  target_include_directories(tool_${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(tool_${name} PRIVATE buda buda_warnings)
  get_property(late GLOBAL PROPERTY BUDA_LATE_LIBRARIES)
  add_dependencies(tool_${name} ${late})
  buda_use_precompiled(tool_${name} library)
  buda_allocator(tool_${name})
  if(NOT BUDA_SANITIZE)
    target_sources(tool_${name} PRIVATE $<TARGET_OBJECTS:buda_process_hooks>)
  endif()
  set_property(GLOBAL APPEND PROPERTY BUDA_APPS tool_${name})
  install(TARGETS tool_${name} RUNTIME DESTINATION bin COMPONENT tools)
endfunction()

# buda_unit_test(MODULE SOURCES … [LINK …]): the GoogleTest executable unit_MODULE with label fast. That of a module of BUDA_GROUND needs these
# modules alone.
function(buda_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(unit_${name} ${arg_SOURCES})
  set(objects buda_private)
  if(name IN_LIST BUDA_GROUND)
    set(objects buda_ground)
  endif()
  target_include_directories(unit_${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(unit_${name} PRIVATE ${objects} buda_test_code GTest::gtest GTest::gmock GTest::gtest_main ${arg_LINK})
  buda_use_precompiled(unit_${name} tests)
  set_target_properties(unit_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests"
    # GoogleTest's templates cost more than the tests themselves.
    UNITY_BUILD_BATCH_SIZE 40)
  if(objects STREQUAL "buda_private")
    get_property(late GLOBAL PROPERTY BUDA_LATE_LIBRARIES)
    add_dependencies(unit_${name} ${late})
  endif()
  add_test(NAME unit.${name} COMMAND unit_${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS "fast;unit" ENVIRONMENT "BUDA_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
endfunction()
