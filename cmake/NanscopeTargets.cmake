# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0

# What every target of the project is compiled with. Linked privately by the functions below.
add_library(nanscope_options INTERFACE)
target_compile_features(nanscope_options INTERFACE cxx_std_20)
target_include_directories(nanscope_options INTERFACE "${PROJECT_SOURCE_DIR}")
# -pthread for all: a precompiled header serves only those who are compiled like it.
target_compile_options(nanscope_options INTERFACE -pthread -Wall -Wextra -Wpedantic
  # gcc 12 sees overlaps in std::string's operator+ that are not there (gcc bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # Several sources of a target are compiled as one, and gcc takes all but that one for headers.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13
    AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  # And overflows, where <string> comes from a precompiled header and is no system header any more.
  target_compile_options(nanscope_options INTERFACE -Wno-array-bounds -Wno-stringop-overflow)
endif()
if(NANSCOPE_WERROR)
  target_compile_options(nanscope_options INTERFACE -Werror)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

# Files with precompiled headers are served by ccache under these terms alone (ccache manual, "Precompiled headers").
find_program(NANSCOPE_CCACHE ccache)
if(NANSCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${NANSCOPE_CCACHE}")
endif()
target_compile_options(nanscope_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

# nanscope_headers(NAME HEADERS... [LINK LIBS...]): headers that are compiled once for all targets that say
# target_precompile_headers(TARGET REUSE_FROM NAME). Of other people only: a change of ours would compile everything.
function(nanscope_headers name)
  cmake_parse_arguments(H "" "" "HEADERS;LINK" ${ARGN})
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${name}.cpp" CONTENT "")
  add_library(${name} STATIC "${PROJECT_BINARY_DIR}/${name}.cpp")
  target_link_libraries(${name} PRIVATE nanscope_options ${H_LINK})
  target_precompile_headers(${name} PRIVATE ${H_HEADERS})
endfunction()

find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
set(NANSCOPE_COMMON_HEADERS
  <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string>
  <string_view> <utility> <vector> <fmt/format.h> <tl/expected.hpp>)
nanscope_headers(nanscope_common_headers HEADERS ${NANSCOPE_COMMON_HEADERS} LINK fmt::fmt)
set_target_properties(nanscope_common_headers PROPERTIES POSITION_INDEPENDENT_CODE ON)

# nanscope_room(NAME [SOURCES MADE...] [EXCEPT REGEX] LINK LIBS...): one room of core as a static library
# nanscope::core_NAME, of every .cpp below its folder: a new file is one file, and no list names it.
function(nanscope_room name)
  cmake_parse_arguments(ROOM "" "EXCEPT" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" *.cpp)
  if(ROOM_EXCEPT)
    list(FILTER found EXCLUDE REGEX "${ROOM_EXCEPT}")
  endif()
  add_library(nanscope_core_${name} STATIC ${found} ${ROOM_SOURCES})
  add_library(nanscope::core_${name} ALIAS nanscope_core_${name})
  target_link_libraries(nanscope_core_${name} PUBLIC nanscope_options ${ROOM_LINK} PRIVATE ${ROOM_PRIVATE_LINK} fmt::fmt)
  set_target_properties(nanscope_core_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_precompile_headers(nanscope_core_${name} REUSE_FROM nanscope_common_headers)
endfunction()

# nanscope_kernels(ROOM FILE SET TABLE [LINK LIBS...] [OPTIONS ...]): FILE, compiled for one instruction set as a part of a
# room; it defines the table of functions <SET><TABLE>. Without precompiled headers: its instructions and its rules of
# floating point are its own.
function(nanscope_kernels room file set table)
  cmake_parse_arguments(K "" "" "LINK;OPTIONS" ${ARGN})
  set(objects nanscope_${room}_kernels_${set})
  add_library(${objects} OBJECT "${file}")
  target_link_libraries(${objects} PRIVATE nanscope_options ${K_LINK})
  target_compile_options(${objects} PRIVATE ${K_OPTIONS})
  target_compile_definitions(${objects} PRIVATE
    NANSCOPE_KERNELS=${set}${table} NANSCOPE_SET_NAME="${set}" Eigen=Eigen_${set})
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_sources(nanscope_core_${room} PRIVATE $<TARGET_OBJECTS:${objects}>)
endfunction()

# nanscope_test(NAME SOURCES... LINK LIBS... [LABELS ...]): a GoogleTest program; each TEST is one ctest case.
function(nanscope_test name)
  cmake_parse_arguments(T "NO_MAIN;OWN_HEADERS" "" "SOURCES;LINK;LABELS;ENVIRONMENT" ${ARGN})
  add_executable(test_${name} ${T_SOURCES})
  if(T_NO_MAIN)
    target_link_libraries(test_${name} PRIVATE nanscope_options ${T_LINK} GTest::gtest GTest::gmock)
  else()
    target_link_libraries(test_${name} PRIVATE nanscope_options ${T_LINK} GTest::gmock GTest::gtest_main)
  endif()
  if(NOT T_OWN_HEADERS)
    target_precompile_headers(test_${name} REUSE_FROM nanscope_test_headers)
    target_link_libraries(test_${name} PRIVATE fmt::fmt)
  endif()
  # Half of what the gate compiles: a third of the time goes into optimising what runs once.
  target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_compile_definitions(test_${name} PRIVATE
    NANSCOPE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/reference/data"
    NANSCOPE_SHARED_DATA="${PROJECT_SOURCE_DIR}/../shared/data"
    NANSCOPE_SAMPLE="${PROJECT_SOURCE_DIR}/resources/sample")
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  # An empty value would make the next name the value: only what is given is passed on.
  set(properties TIMEOUT 300)
  foreach(key LABELS ENVIRONMENT)
    if(T_${key})
      list(APPEND properties ${key} "${T_${key}}")
    endif()
  endforeach()
  # Listing the tests loads torch's libraries: from a cold disk that takes longer than the default, 5 s.
  gtest_discover_tests(test_${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 300
    PROPERTIES ${properties})
endfunction()
