# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Makes data/halfsums: products of fp16 matrices whose sums are kept in fp16.

    python tests/reference/make_half_sums.py [FOLDER]

FOLDER/<case>.pt is a flat dict of fp16 tensors: `a` (m, k), `b` (k, n), `c` (m, n), `product` a b, and `sum`
alpha a b + beta c for the scalars `alpha` and `beta`. torch on a CPU has no such product, so that it is built here of
sums and casts of torch: 16 products are added one after the other in fp32, then the sum becomes fp16.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import Tensor

SEED = 2411
PRODUCTS_PER_SUM = 16
ALPHA, BETA = -2.5464635929060884, 3.911484868135431
# Rows, inner and columns are multiples of nothing; the factors make ordinary, overflowing and subnormal sums.
SHAPE = (19, 37, 70)
CASES = {"ordinary": (1.0, 1.0), "overflowing": (100.0, 60.0), "subnormal": (2.0**-12, 2.0**-11)}


def product(a: Tensor, b: Tensor) -> Tensor:
    sums = torch.zeros(a.shape[0], b.shape[1])
    for k in range(a.shape[1]):
        sums = sums + a[:, k, None].float() * b[None, k, :].float()
        if (k + 1) % PRODUCTS_PER_SUM == 0:
            sums = sums.half().float()
    return sums.half()


def case(of_a: float, of_b: float, generator: torch.Generator) -> dict[str, Tensor | float]:
    rows, inner, cols = SHAPE
    a = (of_a * torch.randn(rows, inner, generator=generator)).half()
    b = (of_b * torch.randn(inner, cols, generator=generator)).half()
    c = (of_a * of_b * torch.randn(rows, cols, generator=generator)).half()
    plain = product(a, b)
    alpha, beta = (torch.tensor(x).half().float() for x in (ALPHA, BETA))
    added = (alpha * plain.float() + beta * c.float()).half()
    return {"a": a, "b": b, "c": c, "product": plain, "sum": added, "alpha": ALPHA, "beta": BETA}


def main() -> None:
    default = Path(__file__).resolve().parent / "data" / "halfsums"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(SEED)
    for name, factors in CASES.items():
        made = case(*factors, generator)
        torch.save(made, folder / f"{name}.pt")
        values = made["product"].float()
        print(f"{name}: {int(values.isinf().sum())} infinities, {int(values.isnan().sum())} NaN,"
              f" {int((values.abs() < 2.0**-14).sum())} subnormals or zeros of {values.numel()}")


if __name__ == "__main__":
    main()
