# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""What watching a finite call costs, side by side: bare, isfinite().all(), the way of dion PR 78, observe, strict.

    nice python tests/capture/capture_bench.py [SIDE ...] [--threads N] [--repeat N] [--device cuda]

Times are the smallest of several, in microseconds; the ways take turns, so that a busy machine spoils none alone. Only
what a way adds is timed, beside a function that returns at once, and the iteration by itself. On a GPU a time ends when the
GPU is done: what a check that waits costs a queue of many calls is more than this shows.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "resources" / "python"))

import nanscope_capture as capture  # noqa: E402


def bare_check(function, X):
    """A user who asks each output."""
    Y = function(X)
    assert bool(torch.isfinite(Y).all())


def copy_and_check(function, X):
    """What dion PR 78 does for a finite call: copies the input first and asks the output at once."""
    kept = X.detach().clone()
    Y = function(X)
    assert bool(torch.isfinite(Y).all())
    return kept


def smallest(ways, repeat, device):
    best = dict.fromkeys(ways, float("inf"))
    finish = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    for _ in range(repeat):
        for name, way in ways.items():
            finish()
            begin = time.perf_counter()
            way()
            finish()
            best[name] = min(best[name], time.perf_counter() - begin)
            capture._process.pending.clear()
    return {name: seconds * 1e6 for name, seconds in best.items()}


def measure(side, dtype, repeat, device):
    from torch.optim import _muon

    function = _muon._zeropower_via_newtonschulz
    X = torch.randn(side, side, device=device).to(dtype)
    output = function(X.clone(), (3.4445, -4.7750, 2.0315), 5, 1e-7)
    quick = lambda X: output  # noqa: E731
    watched = capture.wrap(quick)

    def as_mode(mode):
        def run():
            capture.configure(mode=mode)
            watched(X)

        return run

    ways = {
        "nothing": lambda: quick(X),
        "isfinite": lambda: bare_check(quick, X),
        "PR 78": lambda: copy_and_check(quick, X),
        "observe": as_mode("observe"),
        "strict": as_mode("strict"),
    }
    found = smallest(ways, repeat, device)
    coefficients = (3.4445, -4.7750, 2.0315)
    call = smallest({"call": lambda: function(X.clone(), coefficients, 5, 1e-7)}, max(2, repeat // 20), device)
    found["call"] = call["call"]
    return found


def cost_of_off(repeat=200_000):
    def function(X):
        return X

    capture.configure(on=False)
    watched = capture.wrap(function)
    X = torch.ones(2, 2)
    best = []
    for one in (function, watched):
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            for _ in range(repeat):
                one(X)
            times.append((time.perf_counter() - begin) / repeat)
        best.append(min(times))
    return (best[1] - best[0]) * 1e9


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sides", nargs="*", type=int, default=[1024, 2048])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=60)
    parser.add_argument("--device", type=torch.device, default=torch.device("cpu"))
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    print(f"torch {torch.__version__}, {given.threads} threads; off costs {cost_of_off():.0f} ns a call")
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        capture.configure(on=True, directory=folder)
        for side in given.sides:
            for dtype in (torch.float32, torch.bfloat16):
                found = measure(side, dtype, given.repeat, given.device)
                line = "  ".join(f"{name} {found[name]:9.0f}" for name in ("isfinite", "PR 78", "observe", "strict"))
                shares = found["observe"] / found["call"] * 100, found["PR 78"] / found["call"] * 100
                print(f"{side}² {str(dtype)[6:]:8}  call {found['call']:10.0f}  {line}  "
                      f"observe is {shares[0]:.2f} % of the call, PR 78 {shares[1]:.2f} %")


if __name__ == "__main__":
    main()
