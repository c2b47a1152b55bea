# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0

# prepare_core PACKAGES...: what core and the worker are built with, and these packages.
prepare_core() {
  mkdir -p "$logs" "$deps"
  find_python || set -- "$@" python3-venv
  need_packages "${packages_build[@]}" "$@"
  have "${CXX:-g++}" || fail "no C++ compiler: ${CXX:-g++} is not installed."
  have ninja || fail "ninja is not installed."
  need_cmake
}

prepare() { prepare_core "${packages_window[@]}" "$@"; }

prepare_worker() {
  [ "$worker" = yes ] || return 0
  need_torch || return 1
  need_nvcc
}

require_worker() {
  prepare_worker || fail "no torch for the worker, $torch_reason; --no-worker does without."
}

# A compiler that reads torch's headers takes 2 GB: memory bounds the number of jobs as much as the cores do.
jobs() {
  awk -v cores="$(nproc)" '/^MemAvailable/ { n = int($2 / 2e6) + 1; print n < cores ? n : cores }' /proc/meminfo
}

# configure PRESET OPTIONS...: quiet; what is off, and why, is shown when it changes.
configure() {
  local log=$logs/configure-$1.log dir=$root/build/$1
  if [ -e "$dir/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt"; then
    say "build/$1 was made in another folder: starting it afresh"
    rm -rf "$dir"
  fi
  if ! "$cmake" --preset "$@" >"$log" 2>&1; then
    grep -A 12 'CMake Error' "$log" | head -n 24 >&2 || true
    fail "the configure step failed, see $log."
  fi
  sed -n '/^-- The following features have been disabled/,/^-- /{ /^ [*]/p }' "$log" >"$log.new"
  cmp -s "$log.new" "$log.shown" || sed 's/^ [*]/bootstrap:   off:/' "$log.new"
  mv "$log.new" "$log.shown"
}

configure_release() {
  local options=(-DNANSCOPE_WORKER=OFF)
  if [ "$worker" = yes ]; then
    options=(-DNANSCOPE_WORKER=ON "-DNANSCOPE_TORCH_PYTHON=$torch_python" "-DNANSCOPE_NVCC=${nvcc:-nvcc-NOTFOUND}")
  fi
  [ "${CI:-}" != true ] || options+=(-DNANSCOPE_WERROR=ON)
  configure release "${options[@]}" "$@"
}

# compile DIR TARGETS...
compile() {
  "$cmake" --build "$1" --parallel "$(jobs)" --target "${@:2}" && return
  [ "$(free_mb "$1")" -gt 50 ] || fail "the build stopped: the disk is full."
  fail "the build stopped at the error above."
}

build_command() {
  prepare
  require_worker
  configure_release -DBUILD_TESTING=OFF -DNANSCOPE_BENCH=OFF
  compile "$build" all
  say "the programs are in build/release/bin/"
}

# For a command line that was installed: its package holds these sources, and `nanscope doctor --build-worker` calls this.
worker_command() {
  local version
  [ -n "$1" ] || wrong_usage "worker needs the FOLDER to put nanscope-worker into"
  # Who asks for a worker means the torch of now, not that of an earlier one; and none is downloaded for it.
  [ -n "$torch_python" ] || torch_python=${VIRTUAL_ENV:+$VIRTUAL_ENV/bin/python}
  [ -n "$torch_python" ] || torch_python=${CONDA_PREFIX:+$CONDA_PREFIX/bin/python}
  [ -n "$torch_python" ] || torch_python=$(command -v python3 || echo python3)
  mkdir -p "$logs" "$deps"
  need_torch
  prepare_core
  need_nvcc
  configure worker "-DNANSCOPE_TORCH_PYTHON=$torch_python" "-DNANSCOPE_NVCC=${nvcc:-nvcc-NOTFOUND}"
  compile "$root/build/worker" nanscope-worker
  mkdir -p "$1" && cp "$root/build/worker/bin/nanscope-worker" "$1/nanscope-worker.new" ||
    fail "nanscope-worker could not be put into $1."
  version=$("$1/nanscope-worker.new" --version) || fail "the worker does not start with the torch of $torch_python."
  mv "$1/nanscope-worker.new" "$1/nanscope-worker"
  rm -rf "$root/build/worker"
  say "$version: $1/nanscope-worker"
}

bench_command() {
  prepare "${packages_test[@]}" "${packages_bench[@]}"
  require_worker
  configure_release -DBUILD_TESTING=ON -DNANSCOPE_BENCH=ON
  compile "$build" all
  local program
  for program in "$build"/bin/bench_*; do "$program"; done
  [ "$worker" = no ] || "$torch_python" tests/bench/compare.py "$build/bin"
}
