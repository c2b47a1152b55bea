# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
#
# What comes from PyPI: always into .deps, never into an environment of the user or the system.

torch_default=2.11.0
cmake_default=3.31.10
cmake='' python='' torch_version='' torch_cuda='' torch_reason='' nvcc=''

# The system's python3 first: a venv dies with the environment it was made from.
find_python() {
  for python in /usr/bin/python3 "$(command -v python3 || true)"; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then return; fi
  done
  return 1
}

need_venv() {
  if "$deps/venv/bin/python" -m pip --version >/dev/null 2>&1; then return; fi
  find_python || fail "no Python 3.10 or newer with its venv module."
  rm -rf "$deps/venv"
  say "creating the private Python environment .deps/venv"
  "$python" -m venv "$deps/venv" >"$logs/venv.log" 2>&1 || fail ".deps/venv could not be created, see $logs/venv.log."
}

pip_run() {
  # Downloads stay on this disk: /tmp is often a small one in memory.
  mkdir -p "$deps/tmp"
  set -- env -u PYTHONPATH -u PYTHONHOME -u PIP_TARGET -u PIP_PREFIX PIP_USER=0 TMPDIR="$deps/tmp" \
    "$deps/venv/bin/python" -m pip --disable-pip-version-check --retries 5 --log "$logs/pip.log" install "$@"
  if [ -t 1 ]; then
    "$@"
  else
    "$@" 2>&1 | { grep --line-buffered '^ *Downloading' || true; }
  fi
}

# pip_install WHAT MB_ON_DISK SIZE ARGUMENTS...: the size is said first; what a failure means is the caller's to say.
pip_install() {
  local what=$1 space=$2 size=$3 status=0
  shift 3
  need_venv
  echo "no space left" >"$logs/pip.log"
  [ "$(free_mb "$deps")" -ge "$space" ] || { say "$what needs $space MB, $(free_mb "$deps") are left in $deps"; return 1; }
  : >"$logs/pip.log"
  say "installing $what from PyPI ($size)"
  twice pip_run "$@" || status=1
  rm -rf "$deps/tmp"
  return $status
}

# The program inside the wheel: pip's wrapper script breaks when the checkout is moved.
venv_cmake() { find "$deps"/venv/lib/python3*/site-packages/cmake/data/bin/cmake 2>/dev/null | head -n 1; }

need_cmake() {
  for cmake in "$(command -v cmake || true)" "$(venv_cmake || true)"; do
    if at_least "$("$cmake" --version 2>/dev/null | awk 'NR == 1 { print $3 }')" 3.27; then return; fi
  done
  [ "$offline" = no ] || fail "CMake 3.27 or newer is missing, and --offline forbids to download it."
  pip_install "CMake $cmake_default" 200 "28 MB to download, 80 MB on disk" "cmake==$cmake_default" ||
    fail "CMake 3.27 or newer could not be installed: $(why_failed "$logs/pip.log")."
  cmake=$(venv_cmake)
}

# torch_of PYTHON: sets torch_version and torch_cuda if the worker can be built against that interpreter's torch.
# The version file is read as text: importing torch would cost seconds at every start.
torch_of() {
  local dir find='import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0])'
  dir=$(cd / && timeout 20 "$1" -c "$find" 2>/dev/null) || return 1
  torch_version=$(sed -n "s/^__version__ *= *['\"]\([^'\"]*\).*/\1/p" "$dir/version.py")
  torch_cuda=$(sed -n "s/^cuda\b[^=]*= *['\"]\([0-9.]*\).*/\1/p" "$dir/version.py")
  at_least "${torch_version:-0}" 2.8 && [ -e "$dir/include/torch/csrc/api/include/torch/torch.h" ]
}

torch_imports() { "$1" cmake/torch_info.py 2>/dev/null | grep -q '"cxx11_abi": 1'; }

# Settled once, so that another active environment does not silently change what the worker replays on.
need_torch() {
  local given=$torch_python settled
  settled=$(cat "$deps/torch-python" 2>/dev/null || true)
  for torch_python in "$given" "$settled" "${VIRTUAL_ENV:-/none}/bin/python" "$(command -v python3 || true)" \
    "$deps/venv/bin/python"; do
    if torch_of "$torch_python" && { [ "$torch_python" = "$settled" ] || torch_imports "$torch_python"; }; then
      [ "$torch_python" = "$settled" ] || say "the worker is built against torch $torch_version of $torch_python"
      echo "$torch_python" >"$deps/torch-python"
      return
    fi
    [ -z "$given" ] || fail "no torch 2.8 or newer, with its C++ headers, can be imported by $given; --torch-python names another."
  done
  torch_reason="it is missing, and --offline forbids to download it"
  [ "$offline" = no ] || return 1
  pip_install "torch $torch_default" 11000 "2.7 GB to download, 4.9 GB on disk; --torch-python takes one you have" \
    "torch==$torch_default" numpy || { torch_reason=$(why_failed "$logs/pip.log"); return 1; }
  torch_python=$deps/venv/bin/python
  torch_reason="the one in .deps/venv is damaged, remove that folder"
  torch_of "$torch_python" && echo "$torch_python" >"$deps/torch-python"
}

# The kernels are worth 105 MB but not a failed build: LibTorch's own operations do the same work, slower.
need_nvcc() {
  local major=${torch_cuda%%.*} own=$deps/cuda/nvidia/cu13/bin/nvcc reason="none is here for CUDA $torch_cuda" wheels=()
  [ -n "$major" ] || return 0
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" "$own"; do
    case $("$nvcc" --version 2>/dev/null || true) in *"release $major."*) return ;; esac
  done
  nvcc=''
  if [ "$major" = 13 ] && [ "$offline" = no ]; then
    wheels=(nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-cccl nvidia-cuda-runtime)
    rm -rf "$deps/cuda"
    pip_install "nvcc $torch_cuda" 600 "105 MB to download, 270 MB on disk" --target "$deps/cuda" \
      "${wheels[@]/%/==$torch_cuda.*}" && nvcc=$own
    reason=$(why_failed "$logs/pip.log")
  fi
  [ -n "$nvcc" ] || say "no nvcc, $reason: LibTorch's own operations replace the CUDA kernels."
}
