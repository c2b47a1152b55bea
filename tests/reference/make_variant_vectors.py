# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Makes data/variants: what every variant makes of small inputs of every spectrum and shape, in fp64 and its own format.

    python tests/reference/make_variant_vectors.py [FOLDER]

Each FOLDER/<input>.pt is a flat dict:
    "input"              bf16, (m, n) or (batch, m, n)
    "epsilon"            float, what the caller passed
    "<variant>/fp64"     the variant's ops in fp64; likewise in the variant's own format, fp32, bf16 or fp16
    "<variant>/bf16"     also for the variants whose own format is fp32, which run in bf16 on request
Every fp64 result is checked against an SVD while it is made.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import Tensor

from make_replay_vectors import EPSILON, FORMATS, composed, with_spectrum
from newton_schulz import OWN_DTYPE, VARIANTS
from schedules import (
    CANS,
    CUBIC5,
    EMERGING_AOL,
    EMERGING_POLAR_EXPRESS,
    GNS,
    HYBRID,
    KELLER_JORDAN,
    POLAR_EXPRESS,
    POLAR_EXPRESS_2E2,
    POLAR_EXPRESS_PACKAGE,
    POLAR_EXPRESS_PAPER,
    TURBO_MUON,
    YOU,
)
from torch_ops import Step

SEED = 8102
NAMES = {dtype: name for name, dtype in FORMATS.items()}


def spectrum(name: str, count: int) -> Tensor:
    """Singular values, largest first."""
    if name.startswith("log"):
        return torch.logspace(0, -int(name[3:]), count, dtype=torch.float64)
    if name.startswith("rank"):
        return torch.linspace(1, 0.5, int(name[4:]), dtype=torch.float64)
    values = torch.linspace(0.99, 0.1, count, dtype=torch.float64)
    return values[: count // 2] if name == "half" else values


def matrix(name: str, rows: int, cols: int, generator: torch.Generator) -> Tensor:
    if name == "gaussian":
        return (0.01 * torch.randn(rows, cols, dtype=torch.float64, generator=generator)).bfloat16()
    values = spectrum(name, min(rows, cols))
    return (0.05 * with_spectrum(values, rows, cols, generator)).bfloat16()


def inputs() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(SEED)
    made = {
        f"wide_12x20_{name}": matrix(name, 12, 20, generator)
        for name in ("gaussian", "log3", "log7", "rank1", "half", "linspace")
    }
    made["tall_20x12_gaussian"] = matrix("gaussian", 20, 12, generator)
    made["tall_20x12_linspace"] = matrix("linspace", 20, 12, generator)
    made["square_18x18_rank16"] = matrix("rank16", 18, 18, generator)
    made["batch_3x12x8_mixed"] = torch.stack(
        [matrix(name, 12, 8, generator) for name in ("gaussian", "log3", "linspace")]
    )
    padded = matrix("gaussian", 12, 20, generator)
    padded[-3:] = 0
    padded[:, -4:] = 0
    made["padded_12x20"] = padded
    made["row_1x16"] = matrix("gaussian", 1, 16, generator)
    made["column_16x1"] = matrix("gaussian", 16, 1, generator)
    made["zero_2x8x12"] = torch.stack([torch.zeros(8, 12).bfloat16(), matrix("gaussian", 8, 12, generator)])
    return made


def schedule(name: str) -> list[Step]:
    """What each name runs, said once more and by name alone."""
    exact: dict[str, list[Step]] = {
        "emerging-polar-express": EMERGING_POLAR_EXPRESS,
        "emerging-polar-express-5": EMERGING_POLAR_EXPRESS[:5],
        "emerging-aol": EMERGING_AOL,
        "emerging-cubic5": CUBIC5,
        "turbo-muon": TURBO_MUON,
        "polar-express": POLAR_EXPRESS_PAPER,
        "polar-express-5": POLAR_EXPRESS_PAPER[:5],
        "polar-express-package": POLAR_EXPRESS_PACKAGE[:8],
        "polar-express-unprotected": POLAR_EXPRESS,
        "polar-express-unprotected-5": POLAR_EXPRESS[:5],
    }
    if name in exact:
        return exact[name]
    for part, steps in (
        ("hybrid", HYBRID),
        ("cans", CANS),
        ("ns5", YOU),
        ("quintic", YOU),
        ("double", YOU),
        ("polar", POLAR_EXPRESS_2E2),
        ("nano", POLAR_EXPRESS_2E2),
        ("gns", GNS),
        ("gram-no", GNS),
    ):
        if part in name:
            return steps
    return KELLER_JORDAN


def start(name: str, x: Tensor) -> Tensor:
    """The input as it enters the first step, exactly."""
    if name == "turbo-muon":
        wide = x if x.shape[-2] <= x.shape[-1] else x.mT
        sums = (wide @ wide.mT).abs().sum(-1, keepdim=True).clamp(min=EPSILON)
        scaled = wide / sums.sqrt()
        return scaled if x.shape[-2] <= x.shape[-1] else scaled.mT
    if name == "nanochat":
        rows = x.norm(dim=-1, keepdim=True).clamp(min=1e-6)
        x = x * x.norm(dim=(-2, -1), keepdim=True) / x.shape[-2] ** 0.5 / rows
    norm = x.norm(dim=(-2, -1), keepdim=True)
    if name == "emerging-double-norm":
        return x / norm
    if name.startswith("emerging") or name == "torch-muon":
        return x / norm.clamp(min=EPSILON)
    return x / (factor(name) * norm + (EPSILON if name.startswith("dion") else 1e-6 if "nano" in name else 1e-7))


def factor(name: str) -> float:
    """What the norm is multiplied by."""
    if name.startswith(("dion-polar", "modded")):
        return 1.02
    return 1.01 if name == "nanochat" or (name.startswith("polar-express") and "unprotected" not in name) else 1.0


def check_against_svd(name: str, x: Tensor, result: Tensor) -> None:
    """U p(s) V^T of what enters the first step."""
    first = start(name, x.double())
    if not bool(first.isfinite().all()):
        assert not bool(result.isfinite().all()), f"{name}: finite where 0 / 0 was taken"
        return
    u, s, vh = torch.linalg.svd(first, full_matrices=False)
    truth = (u * torch.from_numpy(composed(schedule(name), s.numpy())).unsqueeze(-2)) @ vh
    if name == "nanochat":
        norm = truth.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-6)
        truth = truth * min(x.shape[-2:]) ** 0.5 / norm
    error = (truth - result).norm() / truth.norm()
    assert error < 1e-7, f"{name}: {error:.1e} from the SVD"


def vectors(x: Tensor) -> dict[str, Tensor | float]:
    out: dict[str, Tensor | float] = {"input": x, "epsilon": EPSILON}
    for name, variant in VARIANTS.items():
        formats = [torch.float64, OWN_DTYPE[name]]
        if OWN_DTYPE[name] == torch.float32:
            formats.append(torch.bfloat16)
        for dtype in formats:
            out[f"{name}/{NAMES[dtype]}"] = variant(x, EPSILON, dtype=dtype).contiguous()
        check_against_svd(name, x, out[f"{name}/fp64"])
    return out


def main() -> None:
    default = Path(__file__).resolve().parent / "data" / "variants"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    folder: Path = parser.parse_args().folder
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    for name, x in inputs().items():
        torch.save(vectors(x), folder / f"{name}.pt")
    total = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{len(VARIANTS)} variants, {len(list(folder.glob('*.pt')))} inputs, {total / 1e6:.2f} MB in {folder}")


if __name__ == "__main__":
    main()
