# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Makes data/replay: inputs, and what the first variants make of them in every format; scalar facts of the schedules.

    python tests/reference/make_replay_vectors.py [FOLDER]

Each FOLDER/<input>.pt is a flat dict:
    "input"              bf16, (m, n) or (batch, m, n): what a dump holds
    "epsilon"            float, what the caller passed (variants with a fixed epsilon ignore it)
    "<variant>/fp64"     the variant's ops in that format, result not cast further; likewise fp32, bf16, fp16
    "<variant>/own"      only where the variant's own format is fp16: its result cast back to bf16. For the others the
                         result in their own format is "<variant>/bf16".
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import newton_schulz
from newton_schulz import FIRST, OWN_DTYPE, SCHEDULES, Step

SEED = 8101
EPSILON = torch.tensor(1e-8).item()
FORMATS = {"fp64": torch.float64, "fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def with_spectrum(values: Tensor, rows: int, cols: int, generator: torch.Generator) -> Tensor:
    """(rows, cols) fp64 with these singular values and random bases."""
    count = len(values)
    u = torch.linalg.qr(torch.randn(rows, rows, dtype=torch.float64, generator=generator)).Q[:, :count]
    v = torch.linalg.qr(torch.randn(cols, cols, dtype=torch.float64, generator=generator)).Q[:, :count]
    return u @ torch.diag(values) @ v.T


def spectrum(name: str, count: int) -> Tensor:
    """Singular values, largest first, of a named spectrum for min(m, n) = count."""
    if name == "log3":
        return torch.logspace(0, -3, count, dtype=torch.float64)
    if name == "log7":
        return torch.logspace(0, -7, count, dtype=torch.float64)
    rank = {"rank16": 16, "rank1": 1}[name]
    return torch.linspace(1, 0.5, rank, dtype=torch.float64)


def matrix(name: str, rows: int, cols: int, generator: torch.Generator) -> Tensor:
    """One bf16 matrix of the size momentum buffers have."""
    if name == "gaussian":
        x = torch.randn(rows, cols, dtype=torch.float64, generator=generator)
        return (0.01 * x).bfloat16()
    return (0.05 * with_spectrum(spectrum(name, min(rows, cols)), rows, cols, generator)).bfloat16()


def inputs() -> dict[str, Tensor]:
    """The spectra on one wide shape (rank 16 on a square); every other shape once."""
    generator = torch.Generator().manual_seed(SEED)
    spectra = ("gaussian", "log3", "log7", "rank1")
    made = {f"wide_24x40_{name}": matrix(name, 24, 40, generator) for name in spectra}
    made["tall_40x24_gaussian"] = matrix("gaussian", 40, 24, generator)
    made["square_32x32_rank16"] = matrix("rank16", 32, 32, generator)
    made["batch_3x16x24_mixed"] = torch.stack(
        [matrix(name, 16, 24, generator) for name in ("gaussian", "log3", "rank1")]
    )
    made["padded_2x12x16"] = torch.stack([matrix("gaussian", 12, 16, generator), torch.zeros(12, 16).bfloat16()])
    made["row_1x16"] = matrix("gaussian", 1, 16, generator)
    made["column_16x1"] = matrix("gaussian", 16, 1, generator)
    return made


def vectors(x: Tensor) -> dict[str, Tensor | float]:
    """The content of one file."""
    out: dict[str, Tensor | float] = {"input": x, "epsilon": EPSILON}
    for name, variant in FIRST.items():
        for format_name, dtype in FORMATS.items():
            out[f"{name}/{format_name}"] = variant(x, EPSILON, dtype=dtype).contiguous()
        check_against_svd(x, name, out[f"{name}/fp64"])
        if OWN_DTYPE[name] == torch.float16:
            out[f"{name}/own"] = variant(x, EPSILON).contiguous()
    return out


def composed(steps: Sequence[Step], s: np.ndarray) -> np.ndarray:
    """The schedule's output for singular values s, fp64; overflow becomes inf or nan."""
    with np.errstate(over="ignore", invalid="ignore"):
        for a, b, c in steps:
            s = s * (a + s * s * (b + c * s * s))
    return s


def check_against_svd(x: Tensor, name: str, result: Tensor) -> None:
    """The fp64 result must be U p(s / denominator) V^T, with the schedule applied to plain numbers."""
    u, s, vh = torch.linalg.svd(x.double(), full_matrices=False)
    norm = s.square().sum(-1, keepdim=True).sqrt()
    denominator = {
        "dion-ns5": norm + EPSILON,
        "dion-polar-express": 1.02 * norm + EPSILON,
        "torch-muon": norm.clamp(min=EPSILON),
    }.get(name, norm + 1e-7)
    values = torch.from_numpy(composed(SCHEDULES[name], (s / denominator).numpy()))
    truth = (u * values.unsqueeze(-2)) @ vh
    error = (truth - result).norm() / truth.norm()
    assert error < 1e-7, f"{name}: {error:.1e} from the SVD"


def first_above(steps: Sequence[Step], bound: float) -> float:
    """Smallest s >= 1 whose output leaves [-bound, bound]: a scan up to s = 2, refined 40 times tenfold at most."""
    low, high = 1.0, 2.0
    while high - low > 4e-16 * high:
        grid = np.linspace(low, high, 20001)
        bad = ~(np.abs(composed(steps, grid)) <= bound)
        first = int(np.argmax(bad))
        if not bad[first] or first == 0:
            return float(grid[first])
        low, high = float(grid[first - 1]), float(grid[first])
    return high


def facts(steps: Sequence[Step]) -> dict[str, float]:
    """Scalar behaviour of a schedule, in the terms of the table of limits."""
    s = np.linspace(0.01, 1.0, 2_000_001)
    out = composed(steps, s)
    return {
        "steps": len(steps),
        "slope0": float(np.prod([a for a, _, _ in steps])),
        "output_min": float(out.min()),
        "output_max": float(out.max()),
        "output_at_1": float(composed(steps, np.array([1.0]))[0]),
        "limit": first_above(steps, 1.5),
        "fp16_inf": first_above(steps, 65504.0),
        "fp32_inf": first_above(steps, float(np.finfo(np.float32).max)),
    }


def step_slack(steps: Sequence[Step]) -> list[dict[str, float]]:
    """Per step: the largest singular value that can enter it from s in [0, 1], and the one beyond which the rest
    diverges (its output passes 1.5).
    """
    s = np.linspace(0.0, 1.0, 1_000_001)
    rows = []
    for k, step in enumerate(steps):
        largest = float(s.max())
        grid = np.linspace(largest, 2 * largest, 4_000_001)
        bad = np.abs(composed(steps[k:], grid)) > 1.5
        limit = float(grid[int(np.argmax(bad))])
        rows.append({"largest": largest, "limit": limit})
        s = composed([step], s)
    return rows


def scalars() -> dict[str, object]:
    schedules = {
        "keller-jordan": newton_schulz.KELLER_JORDAN,
        "you": newton_schulz.YOU,
        "polar-express-5": newton_schulz.POLAR_EXPRESS[:5],
        "polar-express-8": newton_schulz.POLAR_EXPRESS,
        "polar-express-2e-2": newton_schulz.POLAR_EXPRESS_2E2,
        "gns": newton_schulz.GNS,
    }
    return {name: facts(steps) | {"per_step": step_slack(steps)} for name, steps in schedules.items()}


# What the literature table says, to the digits it gives: slope0, output range, f(1), limit, fp16 Inf, fp32 Inf.
PUBLISHED: dict[str, tuple[str, ...]] = {
    "keller-jordan": ("484.9", "0.6818", "1.1344", "0.6964", "1.2637", "1.2648", "1.2758"),
    "you": ("492.7", "0.9778", "1.0318", "0.9783", "1.3246", "1.3249", "1.3284"),
    "polar-express-5": ("1026.1", "0.8764", "1.1236", "1.1236", "1.000004", "1.000129", "1.0025"),
    "polar-express-2e-2": ("989.5", "0.8589", "1.1411", "0.8591", "1.02181", "1.02194", "1.0243"),
    "gns": ("803.9", "0.8461", "1.1236", "1.0190", "1.05468", "1.05482", "1.0574"),
}
COLUMNS = ("slope0", "output_min", "output_max", "output_at_1", "limit", "fp16_inf", "fp32_inf")


def differences(found: dict[str, dict[str, float]]) -> list[str]:
    """Where our scan and the table differ by more than one unit of the table's last digit."""
    lines = []
    for name, row in PUBLISHED.items():
        for column, text in zip(COLUMNS, row):
            unit = 10.0 ** -len(text.partition(".")[2])
            if abs(found[name][column] - float(text)) > unit:
                lines.append(f"{name} {column}: table {text}, scan {found[name][column]:.7g}")
    return lines


def main() -> None:
    default = Path(__file__).resolve().parent / "data" / "replay"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    folder: Path = parser.parse_args().folder
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    for name, x in inputs().items():
        torch.save(vectors(x), folder / f"{name}.pt")
    found = scalars()
    (folder / "scalars.json").write_text(json.dumps(found, indent=2) + "\n")
    for line in differences(found):
        print("differs from the table:", line)
    total = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{len(list(folder.glob('*.pt')))} inputs, {total / 1e6:.2f} MB in {folder}")


if __name__ == "__main__":
    main()
