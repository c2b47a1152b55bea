# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Whole processes side by side with what a user would write in Python and torch; both warm, in turn, medians of 5.

Usage: python tests/bench/compare.py BIN_FOLDER   (the project's private Python, which has torch)
Captures are made afresh in a temporary folder. Nothing here fails on a slow machine: it only prints.
"""
from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

RUNS = 5

LIST_IN_PYTHON = """
import sys, pathlib, torch
for p in sorted(pathlib.Path(sys.argv[1]).glob("*.pt")):
    d = torch.load(p, mmap=True, weights_only=True)
    d["input"].shape, d["rank"], d["epsilon"]
"""

SCAN_IN_PYTHON = """
import sys, pathlib, torch
for p in sorted(pathlib.Path(sys.argv[1]).glob("*.pt")):
    d = torch.load(p, weights_only=True)
    for key in ("input", "output"):
        x = d[key]
        torch.isfinite(x).all(), x.abs().amax()
"""

SWEEP_IN_PYTHON = """
import sys, torch
x = torch.load(sys.argv[1], weights_only=True)["input"]
STEPS = [(4.0848, -6.8946, 2.9270), (3.9505, -6.3029, 2.6377), (3.7418, -5.5913, 2.3037),
         (2.8769, -3.1427, 1.2046), (2.8366, -3.0525, 1.2012)]
for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
    y = x.to(dtype)
    y = y / (y.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for a, b, c in STEPS:
        gram = y @ y.mT
        y = a * y + (b * gram + c * (gram @ gram)) @ y
    print(dtype, torch.isfinite(y).all())
"""

SWEEP_ON_GPU = """
import sys, torch
x = torch.load(sys.argv[1], weights_only=True)["input"].cuda()
SCHEDULES = [
    [(3.4445, -4.7750, 2.0315)] * 5,
    [(4.0848, -6.8946, 2.9270), (3.9505, -6.3029, 2.6377), (3.7418, -5.5913, 2.3037),
     (2.8769, -3.1427, 1.2046), (2.8366, -3.0525, 1.2012)],
    [(8.2872, -23.5959, 17.3004), (4.1071, -2.9478, 0.5448), (3.9487, -2.9089, 0.5518),
     (3.3184, -2.4885, 0.5100), (2.3007, -1.6689, 0.4188)],
]
for steps in SCHEDULES:
    for dtype in (torch.float64, torch.float32, "tf32", torch.bfloat16, torch.float16):
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        y = x.to(torch.float32 if dtype == "tf32" else dtype)
        y = y / (y.norm(dim=(-2, -1), keepdim=True) + 1e-7)
        for a, b, c in steps:
            gram = y @ y.mT
            y = a * y + (b * gram + c * (gram @ gram)) @ y
        print(dtype, torch.isfinite(y).all(), y.abs().max())
"""

READ_ONLY = """
import sys, pathlib
total = 0
for p in sorted(pathlib.Path(sys.argv[1]).glob("*.pt")):
    total += len(p.read_bytes())
"""


def make_captures(folder: Path, count: int, shape: tuple[int, int, int]) -> None:
    """Dumps as dion's wrapper writes them: bf16 input and output of `shape`."""
    folder.mkdir()
    torch.manual_seed(0)
    for i in range(count):
        x = torch.randn(shape).to(torch.bfloat16)
        y = torch.randn(shape).to(torch.bfloat16)
        y[0, 0, 0] = float("nan")
        name = f"dion_nan_capture_rank{i % 8}_shape{'x'.join(map(str, shape))}_pid1_{1_700_000_000_000 + i}.pt"
        payload = {"input": x, "output": y, "rank": i % 8, "shape": shape, "dtype": str(x.dtype), "epsilon": 1e-8}
        torch.save(payload, folder / name)


def seconds(command: list[str], before: Callable[[], None] | None = None) -> float:
    if before:
        before()
    start = time.perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def compare(title: str, ours: list[str], theirs: list[str], before: Callable[[], None] | None = None) -> None:
    """Runs both in turn after one warm-up each and prints both medians and the median of the pairwise ratios."""
    seconds(ours, before), seconds(theirs)
    pairs = [(seconds(ours, before), seconds(theirs)) for _ in range(RUNS)]
    a, b = (statistics.median(column) for column in zip(*pairs))
    ratio = statistics.median(y / x for x, y in pairs)
    print(f"{title:<58} {a:8.3f} s  {b:8.3f} s  {ratio:6.1f}x", flush=True)


def on_gpu(nanscope: str, root: Path) -> None:
    make_captures(root / "wide", 1, (1, 4096, 4096))
    capture = str(next((root / "wide").glob("*.pt")))
    sweep = [nanscope, "sweep", capture, "--variant", "keller-jordan,dion-ns5,polar-express", "--device", "cuda:0"]
    compare("sweep of 4096x4096, 3 variants in 5 formats | the script", sweep, [sys.executable, "-c", SWEEP_ON_GPU, capture])


def main() -> None:
    bin_folder = Path(sys.argv[1])
    nanscope = str(bin_folder / "nanscope")
    python = [sys.executable, "-c"]
    print(f"{'':<58} {'nanscope':>10}  {'peer':>10}  {'peer / nanscope':>7}")
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        small, large, one = root / "small", root / "large", root / "one"
        make_captures(small, 2000, (1, 160, 96))
        make_captures(large, 120, (1, 1024, 1024))
        make_captures(one, 1, (1, 1024, 1024))
        capture = str(next(one.glob("*.pt")))
        session = root / "bench.nanscope"

        def fresh() -> None:
            for part in root.glob("bench.nanscope*"):
                part.unlink()

        imported = [nanscope, "import", str(small), "--session", str(session)]
        compare("import 2,000 captures of 1x160x96 | load(mmap) loop", imported,
                [*python, LIST_IN_PYTHON, str(small)], fresh)
        imported = [nanscope, "import", str(large), "--session", str(session)]
        compare("import + scan 120 captures of 1x1024x1024 | load+isfinite+amax", imported,
                [*python, SCAN_IN_PYTHON, str(large)], fresh)
        compare("the same | reading the same bytes", imported, [*python, READ_ONLY, str(large)], fresh)
        sweep = [nanscope, "sweep", capture, "--variant", "dion-ns5", "--precision", "fp64,fp32,bf16,fp16"]
        compare("four-precision sweep of one 1024x1024 | the script", sweep, [*python, SWEEP_IN_PYTHON, capture])
        if torch.cuda.is_available():
            on_gpu(nanscope, root)
        compare("explain one capture | python -c pass", [nanscope, "explain", capture], [*python, "pass"])


if __name__ == "__main__":
    main()
