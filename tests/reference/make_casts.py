# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Makes data/casts: what fp32 values become in bf16, fp16 and tf32, and what 16-bit values are in fp32.

    python tests/reference/make_casts.py [FOLDER]
    python tests/reference/make_casts.py --show fp32_to_tf32 random 17      (inputs and outputs of one block)

All casts round to nearest, ties to even; subnormals are kept; overflow gives infinity. They are computed with integer
arithmetic on bit patterns and checked against torch and numpy. README.md says how a test regenerates the inputs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

Bits = npt.NDArray[np.uint32]

RANDOM_COUNT = 1 << 20
RANDOM_SEED = 0x4E616E73636F7065
LCG_FACTOR = 6364136223846793005
LCG_ADDEND = 1442695040888963407
BLOCK = 4096
FNV_OFFSET = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3


def random_inputs() -> Bits:
    """x <- x factor + addend mod 2^64; each new x gives its upper 32 bits."""
    x, out = RANDOM_SEED, np.empty(RANDOM_COUNT, dtype=np.uint32)
    for i in range(RANDOM_COUNT):
        x = (x * LCG_FACTOR + LCG_ADDEND) & 0xFFFFFFFFFFFFFFFF
        out[i] = x >> 32
    return out


def around(midpoints: Bits) -> Bits:
    """Each midpoint preceded by the fp32 value below it and followed by the one above it."""
    return (midpoints[:, None] + np.array([-1, 0, 1], dtype=np.int64)).astype(np.uint32).ravel()


def bf16_midpoints() -> Bits:
    """Between the bf16 patterns h and h + 1, for h = 0 .. 0x7f7f: the fp32 pattern (h << 16) + 0x8000."""
    return around((np.arange(0x7F80, dtype=np.uint32) << 16) + 0x8000)


def fp16_midpoints() -> Bits:
    """Between the fp16 patterns h and h + 1, for h = 0 .. 0x7bff. The last lies between 65504 and 65536."""
    values = np.append(np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64), 65536.0)
    return around(((values[:-1] + values[1:]) / 2).astype(np.float32).view(np.uint32))


def tf32_midpoints() -> Bits:
    """Between the tf32 patterns h and h + 1 (19 bits), for h = 0 .. 0x3fbff: the fp32 pattern (h << 13) + 0x1000."""
    return around((np.arange(0x3FC00, dtype=np.uint32) << 13) + 0x1000)


def drop_bits(bits: Bits, count: int) -> Bits:
    """Rounds fp32 patterns to nearest even at bit `count`; the low bits become zero. A NaN becomes 0x7fc00000."""
    wide = bits.astype(np.uint64)
    odd = (wide >> np.uint64(count)) & np.uint64(1)
    rounded = (wide + np.uint64((1 << (count - 1)) - 1) + odd) >> np.uint64(count) << np.uint64(count)
    nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(nan, 0x7FC00000, rounded).astype(np.uint32)


def to_bf16(bits: Bits) -> Bits:
    return drop_bits(bits, 16) >> 16


def to_tf32(bits: Bits) -> Bits:
    return drop_bits(bits, 13)


def to_fp16(bits: Bits) -> Bits:
    """By integers: the significand is shifted to fp16's place (further for subnormals) and rounded there."""
    sign = (bits >> 16) & 0x8000
    magnitude = bits & 0x7FFFFFFF
    exponent = (magnitude >> 23).astype(np.int64)
    significand = ((magnitude & 0x7FFFFF) | np.where(exponent > 0, 0x800000, 0)).astype(np.int64)
    # 2^-24 is fp16's smallest step; fp32's bit 0 is worth 2^(exponent - 150).
    shift = np.clip(13 + np.maximum(113 - np.maximum(exponent, 1), 0), 13, 40)
    kept = significand >> shift
    rest = significand - (kept << shift)
    half = np.int64(1) << (shift - 1)
    kept += (rest > half) | ((rest == half) & (kept & 1 == 1))
    # A normal number's hidden bit adds one to the exponent field, and so does a carry out of the significand.
    field = np.where(exponent >= 113, (exponent - 113) << 10, 0) + kept
    result = np.where(field >= 0x7C00, 0x7C00, field)
    result = np.where(magnitude > 0x7F800000, 0x7E00, result + sign * (magnitude <= 0x7F800000))
    return result.astype(np.uint32)


def fp16_to_fp32(bits: Bits) -> Bits:
    """Exact; a NaN becomes 0x7fc00000."""
    wide = bits.astype(np.uint16).view(np.float16).astype(np.float32)
    return np.where(np.isnan(wide), 0x7FC00000, wide.view(np.uint32)).astype(np.uint32)


def bf16_to_fp32(bits: Bits) -> Bits:
    wide = bits << 16
    return np.where((wide & 0x7FFFFFFF) > 0x7F800000, 0x7FC00000, wide).astype(np.uint32)


def every_16_bit() -> Bits:
    return np.arange(1 << 16, dtype=np.uint32)


Cast = tuple[Callable[[Bits], Bits], dict[str, Callable[[], Bits]]]

CASTS: dict[str, Cast] = {
    "fp32_to_bf16": (to_bf16, {"midpoints": bf16_midpoints, "random": random_inputs}),
    "fp32_to_fp16": (to_fp16, {"midpoints": fp16_midpoints, "random": random_inputs}),
    "fp32_to_tf32": (to_tf32, {"midpoints": tf32_midpoints, "random": random_inputs}),
    "fp16_to_fp32": (fp16_to_fp32, {"every": every_16_bit}),
    "bf16_to_fp32": (bf16_to_fp32, {"every": every_16_bit}),
}


def check(name: str, inputs: Bits, outputs: Bits) -> None:
    """Against torch, and numpy where it has the format; NaN payloads are left out."""
    if name == "fp32_to_tf32":
        check_tf32(inputs, outputs)
        return
    source, target = (
        getattr(torch, {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}[f]) for f in name.split("_to_")
    )
    words = {torch.float32: np.int32, torch.float16: np.int16, torch.bfloat16: np.int16}
    views = {torch.float32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}
    unsigned = np.uint16 if words[source] == np.int16 else np.uint32
    value = torch.from_numpy(inputs.astype(unsigned).view(words[source])).view(source).to(target)
    ours = np.uint16 if words[target] == np.int16 else np.uint32
    expected = torch.from_numpy(outputs.astype(ours).view(words[target])).view(target)
    nan = value.isnan()
    assert torch.equal(nan, expected.isnan()), name
    assert torch.equal(value.view(views[target])[~nan], expected.view(views[target])[~nan]), name


def check_tf32(inputs: Bits, outputs: Bits) -> None:
    """The result must be the nearer of the two tf32 neighbours, the even one in a tie. Compared in fp64."""
    finite = (outputs & 0x7FFFFFFF) < 0x7F800000
    below = inputs[finite] & np.uint32(0xFFFFE000)
    value, down, up = (b.view(np.float32).astype(np.float64) for b in (inputs[finite], below, below + 0x2000))
    result = outputs[finite].view(np.float32).astype(np.float64)
    to_down, to_up = np.abs(value - down), np.abs(value - up)
    even = np.where((below >> 13) & 1 == 0, down, up)
    assert np.array_equal(result, np.where(to_down < to_up, down, np.where(to_up < to_down, up, even)))


def block_hashes(outputs: Bits) -> list[str]:
    """64-bit FNV-1a over whole output words, one hash per block of BLOCK outputs; the last block may be shorter."""
    hashes = []
    full = len(outputs) // BLOCK
    with np.errstate(over="ignore"):
        for part in (outputs[: full * BLOCK].reshape(-1, BLOCK), outputs[full * BLOCK :][None, :]):
            if part.size == 0:
                continue
            h = np.full(len(part), FNV_OFFSET, dtype=np.uint64)
            for column in part.T.astype(np.uint64):
                h = (h ^ column) * np.uint64(FNV_PRIME)
            hashes += [f"{value:016x}" for value in h.tolist()]
    return hashes


def show(name: str, case: str, block: int) -> None:
    cast, cases = CASTS[name]
    inputs = cases[case]()[block * BLOCK : (block + 1) * BLOCK]
    for x, y in zip(inputs.tolist(), cast(inputs).tolist()):
        print(f"{x:08x} {y:08x}")


def make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    hashes: dict[str, object] = {"block": BLOCK}
    for name, (cast, cases) in CASTS.items():
        entry = {}
        for case, inputs_of in cases.items():
            inputs = inputs_of()
            outputs = cast(inputs)
            check(name, inputs, outputs)
            entry[case] = {"count": len(inputs), "hashes": block_hashes(outputs)}
            if case == "midpoints" and name != "fp32_to_tf32":
                np.save(folder / f"{name}_midpoints.npy", outputs.astype(np.uint16))
        hashes[name] = entry
    (folder / "hashes.json").write_text(json.dumps(hashes, indent=1) + "\n")
    print(f"{sum(f.stat().st_size for f in folder.iterdir()) / 1e6:.2f} MB in {folder}")


def main() -> None:
    default = Path(__file__).resolve().parent / "data" / "casts"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    parser.add_argument("--show", nargs=3, metavar=("CAST", "CASE", "BLOCK"))
    options = parser.parse_args()
    if options.show:
        show(options.show[0], options.show[1], int(options.show[2]))
    else:
        make(options.folder)


if __name__ == "__main__":
    main()
