# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Holds our twins against the functions people really import, where this Python has them.

    python tests/reference/originals.py        one line per package; exits 0, or 1 where one differs, 77 where none is

torch.optim.Muon comes with torch; gram-newton-schulz 0.1.6 runs on a CPU from `pip install --no-deps
gram-newton-schulz`. The other projects publish no package that runs without CUDA.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from torch import Tensor

from newton_schulz import VARIANTS

SHAPES = [(12, 20), (20, 12), (16, 16), (1, 16), (16, 1)]


def torch_muon() -> dict[str, Callable[[Tensor], Tensor]]:
    from torch.optim._muon import DEFAULT_A, DEFAULT_B, DEFAULT_C, DEFAULT_NS_STEPS, _zeropower_via_newtonschulz

    def original(x: Tensor) -> Tensor:
        return _zeropower_via_newtonschulz(x.clone(), (DEFAULT_A, DEFAULT_B, DEFAULT_C), DEFAULT_NS_STEPS, 1e-7)

    return {"torch-muon": original}


def gram_newton_schulz() -> dict[str, Callable[[Tensor], Tensor]]:
    import gram_newton_schulz as package

    settings = {"ns_use_kernels": False, "compile_kwargs": None}
    return {
        "gns-gram-0.1.6": package.GramNewtonSchulz(**settings),
        "gns-standard-0.1.6": package.StandardNewtonSchulz(**settings),
    }


def worst_distance(name: str, original: Callable[[Tensor], Tensor]) -> float:
    """Largest relative Frobenius distance of our twin from the original."""
    generator = torch.Generator().manual_seed(5)
    worst = 0.0
    for shape in SHAPES:
        x = (0.01 * torch.randn(*shape, generator=generator)).bfloat16()
        theirs = original(x).double()
        ours = VARIANTS[name](x, 1e-7).double()
        worst = max(worst, ((ours - theirs).norm() / theirs.norm()).item())
    return worst


def main() -> int:
    compared = 0
    for package in (torch_muon, gram_newton_schulz):
        try:
            functions = package()
        except ImportError as missing:
            print(f"skipped {package.__name__}: {missing}")
            continue
        for name, original in functions.items():
            distance = worst_distance(name, original)
            compared += 1
            print(f"{name}: {distance:.1e}")
            # One rounding of the result's bf16; a wrong coefficient or cast is several times as far.
            if not distance < 2**-8:
                return 1
    return 0 if compared else 77


if __name__ == "__main__":
    sys.exit(main())
