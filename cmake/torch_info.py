# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Prints, as one JSON object, where the torch of this interpreter lives and what it was built with."""
import glob
import json
import os
import sys


def first(pattern_list):
    for pattern in pattern_list:
        hits = sorted(glob.glob(pattern))
        if hits:
            return hits[0]
    return ""


def main():
    import torch

    root = os.path.dirname(os.path.abspath(torch.__file__))
    try:
        import nvidia
        wheels = list(nvidia.__path__)
    except ImportError:
        wheels = []
    lib_dirs = sorted(d for w in wheels for d in glob.glob(os.path.join(w, "*", "lib")))
    include_dirs = sorted(d for w in wheels for d in glob.glob(os.path.join(w, "*", "include")))
    cuda_headers = [d for d in include_dirs if os.path.exists(os.path.join(d, "cuda_runtime.h"))]
    nccl_headers = [d for d in include_dirs if os.path.exists(os.path.join(d, "nccl.h"))]
    print(json.dumps({
        "version": torch.__version__.split("+")[0],
        "full_version": torch.__version__,
        "cuda": torch.version.cuda or "",
        "hip": getattr(torch.version, "hip", None) or "",
        "cxx11_abi": int(torch.compiled_with_cxx11_abi()),
        "include_dir": os.path.join(root, "include"),
        "lib_dir": os.path.join(root, "lib"),
        "stamp": os.path.join(root, "version.py"),
        "cuda_include_dirs": ";".join(cuda_headers + [d for d in include_dirs if d not in cuda_headers]),
        "cuda_lib_dirs": ";".join(lib_dirs),
        "cudart": first([os.path.join(d, "libcudart.so*") for d in lib_dirs]),
        "nccl_include_dirs": ";".join(nccl_headers[:1]),
        "nccl": first([os.path.join(d, "libnccl.so*") for d in lib_dirs]),
    }))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # the reason goes to CMake as one sentence, never as a traceback
        sys.exit("%s: %s" % (type(error).__name__, str(error).splitlines()[0] if str(error) else ""))
