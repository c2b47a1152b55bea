# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
#[[
Finds an nvcc that fits the torch of FindLibTorch, and compiles kernels with it. Include it after
find_package(LibTorch). CMake's own CUDA language is not used: its compiler check fails on the split nvcc of PyPI.

  NANSCOPE_NVCC                   the compiler, or NANSCOPE_NVCC-NOTFOUND
  NANSCOPE_NVCC_FOUND             it compiles, links with torch's CUDA runtime and may be used
  NANSCOPE_NVCC_REASON            one sentence when it may not
  nanscope_cuda_sources(TARGET a.cu ...)   compiles the files and adds them to TARGET; links LibTorch::cudart
]]
find_program(NANSCOPE_NVCC nvcc
  HINTS ENV CUDACXX
  PATHS "$ENV{CUDA_HOME}/bin" "/usr/local/cuda/bin" "${PROJECT_SOURCE_DIR}/.deps/cuda/nvidia/cu13/bin"
  DOC "CUDA compiler for the kernels")
set(NANSCOPE_CUDA_ARCHITECTURES "80;90" CACHE STRING "GPU architectures of the kernels; newer GPUs take the last as PTX")

set(_nanscope_nvcc_flags -std=c++17 -O3 --expt-relaxed-constexpr -Wno-deprecated-gpu-targets "-ccbin=${CMAKE_CXX_COMPILER}")
foreach(_nanscope_arch IN LISTS NANSCOPE_CUDA_ARCHITECTURES)
  list(APPEND _nanscope_nvcc_flags "-gencode=arch=compute_${_nanscope_arch},code=sm_${_nanscope_arch}")
endforeach()
list(GET NANSCOPE_CUDA_ARCHITECTURES -1 _nanscope_arch)
list(APPEND _nanscope_nvcc_flags "-gencode=arch=compute_${_nanscope_arch},code=compute_${_nanscope_arch}")

# The whole way once: nvcc, host compiler and torch's runtime have to agree, and no version table can promise it.
function(_nanscope_nvcc_try reason)
  set(${reason} "" PARENT_SCOPE)
  set(dir "${PROJECT_BINARY_DIR}/CMakeFiles/nvcc-check")
  file(MAKE_DIRECTORY "${dir}")
  file(WRITE "${dir}/check.cu" "__global__ void add(int* p) { *p += 1; }\nint main() { add<<<1, 1>>>(nullptr); return cudaGetLastError() == cudaSuccess ? 0 : 1; }\n")
  execute_process(COMMAND "${NANSCOPE_NVCC}" ${_nanscope_nvcc_flags} -c "${dir}/check.cu" -o "${dir}/check.o"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status EQUAL 0)
    get_filename_component(runtime_dir "${LibTorch_CUDART_LIBRARY}" DIRECTORY)
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" "${dir}/check.o" -o "${dir}/check" "${LibTorch_CUDART_LIBRARY}"
        "-Wl,-rpath,${runtime_dir}"
      RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  endif()
  if(NOT status EQUAL 0)
    file(WRITE "${dir}/log.txt" "${output}")
    set(${reason} "${NANSCOPE_NVCC} does not work with this compiler and torch, see ${dir}/log.txt" PARENT_SCOPE)
  endif()
endfunction()

function(_nanscope_nvcc_check)
  set(key "${NANSCOPE_NVCC}|${LibTorch_CUDART_LIBRARY}|${CMAKE_CXX_COMPILER}|${NANSCOPE_CUDA_ARCHITECTURES}")
  if("${_NANSCOPE_NVCC_KEY}" STREQUAL "${key}")
    return()
  endif()
  set(reason "")
  if(NOT LibTorch_CUDA_VERSION OR NOT TARGET LibTorch::cudart)
    set(reason "torch ${LibTorch_FULL_VERSION} is a build without the CUDA runtime")
  elseif(NOT NANSCOPE_NVCC)
    set(reason "no nvcc found; install a CUDA ${LibTorch_CUDA_VERSION} toolkit or set NANSCOPE_NVCC")
  else()
    execute_process(COMMAND "${NANSCOPE_NVCC}" --version OUTPUT_VARIABLE version ERROR_QUIET)
    string(REGEX MATCH "^[0-9]+" torch_major "${LibTorch_CUDA_VERSION}")
    if(NOT version MATCHES "release ${torch_major}\\.")
      set(reason "${NANSCOPE_NVCC} is not of CUDA ${torch_major}, which torch was built with")
    else()
      _nanscope_nvcc_try(reason)
    endif()
  endif()
  set(_NANSCOPE_NVCC_KEY "${key}" CACHE INTERNAL "")
  set(NANSCOPE_NVCC_REASON "${reason}" CACHE INTERNAL "")
endfunction()

_nanscope_nvcc_check()
if(NANSCOPE_NVCC_REASON)
  set(NANSCOPE_NVCC_FOUND OFF)
else()
  set(NANSCOPE_NVCC_FOUND ON)
endif()

function(nanscope_cuda_sources target)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE input)
    get_filename_component(name "${source}" NAME)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/${name}.o")
    add_custom_command(OUTPUT "${object}"
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${NANSCOPE_NVCC}" ${_nanscope_nvcc_flags}
        "-Xcompiler=-fPIC,-Wall,-Wextra" "-I${PROJECT_SOURCE_DIR}" -MD -MF "${object}.d" -c "${input}" -o "${object}"
      DEPENDS "${input}" DEPFILE "${object}.d" COMMENT "Compiling CUDA kernel ${name}" VERBATIM)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${target} PRIVATE "${object}")
  endforeach()
  target_link_libraries(${target} PUBLIC LibTorch::cudart)
endfunction()
