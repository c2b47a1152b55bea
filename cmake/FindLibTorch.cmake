# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
#[[
The C++ libraries of the torch that NANSCOPE_TORCH_PYTHON imports. Torch's own package file is not used: without
a CUDA toolkit it stops the configure step, and with CUDA 13 it asks for a newer CMake than ours.

  NANSCOPE_TORCH_PYTHON       the interpreter; by default the one in .deps/venv
  LibTorch_FOUND, LibTorch_VERSION (2.11.0), LibTorch_FULL_VERSION (2.11.0+cu130), LibTorch_CUDA_VERSION (13.0 or empty)
  LibTorch_INCLUDE_DIRS, LibTorch_LIBRARY_DIR
  LibTorch::LibTorch          torch, torch_cpu, c10 and, where present, torch_cuda, c10_cuda
  LibTorch::cudart            the CUDA runtime torch itself loads, with its headers; only if both exist
  LibTorch::nccl              NCCL likewise
  LibTorch_CUDA_INCLUDE_DIRS, LibTorch_CUDART_LIBRARY, LibTorch_NCCL_INCLUDE_DIRS, LibTorch_NCCL_LIBRARY
]]
include(FindPackageHandleStandardArgs)

set(NANSCOPE_TORCH_PYTHON "${PROJECT_SOURCE_DIR}/.deps/venv/bin/python" CACHE FILEPATH
    "Python whose torch the worker is built against")
set(_libtorch_script "${CMAKE_CURRENT_LIST_DIR}/torch_info.py")

# Importing torch takes seconds: asked again only when the interpreter or its torch has changed.
function(_libtorch_ask)
  if(_LIBTORCH_INFO AND EXISTS "${_LIBTORCH_STAMP_FILE}")
    file(TIMESTAMP "${_LIBTORCH_STAMP_FILE}" now "%s")
    if("${NANSCOPE_TORCH_PYTHON}@${now}" STREQUAL "${_LIBTORCH_STAMP}")
      return()
    endif()
  endif()
  unset(_LIBTORCH_INFO CACHE)
  execute_process(COMMAND "${NANSCOPE_TORCH_PYTHON}" "${_libtorch_script}"
    OUTPUT_VARIABLE info ERROR_VARIABLE error RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    string(STRIP "${error}" error)
    set(_libtorch_reason "no torch in ${NANSCOPE_TORCH_PYTHON} (${status} ${error})" PARENT_SCOPE)
    return()
  endif()
  string(JSON stamp_file GET "${info}" stamp)
  file(TIMESTAMP "${stamp_file}" now "%s")
  set(_LIBTORCH_INFO "${info}" CACHE INTERNAL "")
  set(_LIBTORCH_STAMP_FILE "${stamp_file}" CACHE INTERNAL "")
  set(_LIBTORCH_STAMP "${NANSCOPE_TORCH_PYTHON}@${now}" CACHE INTERNAL "")
endfunction()

macro(_libtorch_get variable key)
  string(JSON ${variable} ERROR_VARIABLE _libtorch_ignored GET "${_LIBTORCH_INFO}" ${key})
endmacro()

function(_libtorch_import target location)
  if(NOT TARGET ${target})
    add_library(${target} SHARED IMPORTED)
  endif()
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${location}" INTERFACE_INCLUDE_DIRECTORIES "${ARGN}")
endfunction()

_libtorch_ask()
if(_LIBTORCH_INFO)
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_LIBTORCH_STAMP_FILE}")
  _libtorch_get(LibTorch_VERSION version)
  _libtorch_get(LibTorch_FULL_VERSION full_version)
  _libtorch_get(LibTorch_CUDA_VERSION cuda)
  _libtorch_get(LibTorch_LIBRARY_DIR lib_dir)
  _libtorch_get(_libtorch_include include_dir)
  _libtorch_get(LibTorch_CUDA_INCLUDE_DIRS cuda_include_dirs)
  _libtorch_get(LibTorch_CUDA_LIBRARY_DIRS cuda_lib_dirs)
  _libtorch_get(LibTorch_CUDART_LIBRARY cudart)
  _libtorch_get(LibTorch_NCCL_INCLUDE_DIRS nccl_include_dirs)
  _libtorch_get(LibTorch_NCCL_LIBRARY nccl)
  _libtorch_get(_libtorch_abi cxx11_abi)
  _libtorch_get(_libtorch_hip hip)
  set(LibTorch_INCLUDE_DIRS "${_libtorch_include}" "${_libtorch_include}/torch/csrc/api/include")
  if(NOT EXISTS "${_libtorch_include}/torch/csrc/api/include/torch/torch.h")
    set(_libtorch_reason "this torch was installed without its C++ headers")
    unset(LibTorch_LIBRARY_DIR)
  elseif(NOT _libtorch_abi EQUAL 1)
    set(_libtorch_reason "this torch uses the C++ ABI from before gcc 5; take one from PyPI, 2.8 or newer")
    unset(LibTorch_LIBRARY_DIR)
  endif()
endif()

find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_LIBRARY_DIR LibTorch_INCLUDE_DIRS
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "${_libtorch_reason}")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  # Program and test find torch where it is now; --no-as-needed keeps libtorch_cuda, which nobody calls by name.
  set(_libtorch_options "LINKER:--no-as-needed" "LINKER:-rpath,${LibTorch_LIBRARY_DIR}")
  foreach(_libtorch_dir IN LISTS LibTorch_LIBRARY_DIR LibTorch_CUDA_LIBRARY_DIRS)
    list(APPEND _libtorch_options "LINKER:-rpath-link,${_libtorch_dir}")
  endforeach()
  set_target_properties(LibTorch::LibTorch PROPERTIES INTERFACE_LINK_OPTIONS "${_libtorch_options}")
  foreach(_libtorch_name torch torch_cpu c10 torch_cuda c10_cuda)
    set(_libtorch_file "${LibTorch_LIBRARY_DIR}/lib${_libtorch_name}.so")
    if(EXISTS "${_libtorch_file}")
      _libtorch_import(LibTorch::${_libtorch_name} "${_libtorch_file}" ${LibTorch_INCLUDE_DIRS})
      target_link_libraries(LibTorch::LibTorch INTERFACE LibTorch::${_libtorch_name})
    endif()
  endforeach()
  # torch's wheels bring the CUDA headers without crt/, which those include: it comes with any nvcc.
  get_filename_component(_libtorch_nvcc_dir "${NANSCOPE_NVCC}" DIRECTORY)
  find_path(LibTorch_CRT_INCLUDE_DIR crt/host_config.h
    HINTS ${LibTorch_CUDA_INCLUDE_DIRS} "${_libtorch_nvcc_dir}/../include"
      "${PROJECT_SOURCE_DIR}/.deps/cuda/nvidia/cu13/include"
    PATHS "$ENV{CUDA_HOME}/include" "/usr/local/cuda/include")
  mark_as_advanced(LibTorch_CRT_INCLUDE_DIR)
  if(LibTorch_CUDART_LIBRARY AND LibTorch_CUDA_INCLUDE_DIRS AND LibTorch_CRT_INCLUDE_DIR AND NOT _libtorch_hip)
    list(APPEND LibTorch_CUDA_INCLUDE_DIRS "${LibTorch_CRT_INCLUDE_DIR}")
    list(REMOVE_DUPLICATES LibTorch_CUDA_INCLUDE_DIRS)
    _libtorch_import(LibTorch::cudart "${LibTorch_CUDART_LIBRARY}" ${LibTorch_CUDA_INCLUDE_DIRS})
  endif()
  if(LibTorch_NCCL_LIBRARY AND LibTorch_NCCL_INCLUDE_DIRS)
    _libtorch_import(LibTorch::nccl "${LibTorch_NCCL_LIBRARY}" ${LibTorch_NCCL_INCLUDE_DIRS})
  endif()
endif()
