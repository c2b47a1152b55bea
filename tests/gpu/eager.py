# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Plain eager torch, written from the published formulas: what the device has to match bit for bit.

usage: eager.py FOLDER    each line of FOLDER/cases is "name variant dtype shape threads"; inputs are name.in, as
fp64; results go to name.out, as fp64.
"""
import ctypes
import pathlib
import sys

import torch

JORDAN = [(3.4445, -4.7750, 2.0315)] * 5
YOU = [
    (4.0848, -6.8946, 2.9270), (3.9505, -6.3029, 2.6377), (3.7418, -5.5913, 2.3037),
    (2.8769, -3.1427, 1.2046), (2.8366, -3.0525, 1.2012),
]
EXPRESS = [
    (8.156554524902461, -22.48329292557795, 15.878769915207462),
    (4.042929935166739, -2.808917465908714, 0.5000178451051316),
    (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
    (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
    (2.3465413258596377, -1.7097828382687081, 0.42323551169305323),
]


def norm(x):
    return x.norm(dim=(-2, -1), keepdim=True)


def keller_jordan(x):
    tall = x.size(-2) > x.size(-1)
    x = x.mT if tall else x
    x = x / (norm(x) + 1e-7)
    for a, b, c in JORDAN:
        gram = x @ x.mT
        x = a * x + (b * gram + (c * gram) @ gram) @ x
    return x.mT if tall else x


def torch_muon(x):
    tall = x.size(0) > x.size(1)
    x = x.T if tall else x
    x = x / x.norm().clamp(min=1e-7)
    for a, b, c in JORDAN:
        gram = x @ x.T
        update = torch.addmm(gram, gram, gram, beta=b, alpha=c)
        x = torch.addmm(x, update, x, beta=a)
    return x.T if tall else x


def dion_ns5(x):
    tall = x.size(-2) > x.size(-1)
    x = x.mT if tall else x
    x = x / (norm(x) + 1e-7)
    for a, b, c in YOU:
        gram = x @ x.mT
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return x.mT if tall else x


def dion_polar_express(x):
    tall = x.size(-2) > x.size(-1)
    x = x / (norm(x) * 1.02 + 1e-6)
    for a, b, c in EXPRESS:
        if tall:
            gram = x.mT @ x
            x = a * x + x @ (b * gram + c * (gram @ gram))
        else:
            gram = x @ x.mT
            x = a * x + (b * gram + c * (gram @ gram)) @ x
    return x


FUNCTIONS = {
    "keller-jordan": keller_jordan,
    "torch-muon": torch_muon,
    "dion-ns5": dion_ns5,
    "dion-polar-express": dion_polar_express,
}


def main():
    folder = pathlib.Path(sys.argv[1])
    for line in (folder / "cases").read_text().splitlines():
        name, variant, dtype, shape, threads = line.split()
        torch.set_num_threads(int(threads))
        sizes = [int(size) for size in shape.split("x")]
        raw = bytearray((folder / (name + ".in")).read_bytes())
        x = torch.frombuffer(raw, dtype=torch.float64).reshape(sizes).to(getattr(torch, dtype))
        result = FUNCTIONS[variant](x).to(torch.float64).contiguous()
        (folder / (name + ".out")).write_bytes(ctypes.string_at(result.data_ptr(), result.numel() * 8))


with torch.no_grad():
    main()
