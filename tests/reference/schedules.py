# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
"""Coefficients of the published Newton-Schulz schedules, all digits; newton_schulz.py says who runs which."""

from __future__ import annotations

from collections.abc import Sequence

from torch_ops import Step


KELLER_JORDAN: list[Step] = [(3.4445, -4.7750, 2.0315)] * 5

YOU: list[Step] = [
    (4.0848, -6.8946, 2.9270),
    (3.9505, -6.3029, 2.6377),
    (3.7418, -5.5913, 2.3037),
    (2.8769, -3.1427, 1.2046),
    (2.8366, -3.0525, 1.2012),
]

# l = 1e-3, cushion 0.02, no safety factor (NoahAmsel/PolarExpress).
POLAR_EXPRESS: list[Step] = [
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
    (3.3184196573706015, -2.488488024314874, 0.51004894012372),
    (2.300652019954817, -1.6689039845747493, 0.4188073119525673),
    (1.891301407787398, -1.2679958271945868, 0.37680408948524835),
    (1.8750014808534479, -1.2500016453999487, 0.3750001645474248),
    (1.875, -1.25, 0.375),
]

# safety factor 2e-2, cushion 2 (dion, modded-nanogpt, nanochat).
POLAR_EXPRESS_2E2: list[Step] = [
    (8.156554524902461, -22.48329292557795, 15.878769915207462),
    (4.042929935166739, -2.808917465908714, 0.5000178451051316),
    (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
    (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
    (2.3465413258596377, -1.7097828382687081, 0.42323551169305323),
]


def with_safety(steps: Sequence[Step], factor: float) -> list[Step]:
    """p(s) becomes p(s / factor): the schedule then tolerates singular values up to `factor`."""
    return [(a / factor, b / factor**3, c / factor**5) for a, b, c in steps]


GNS: list[Step] = with_safety(POLAR_EXPRESS[:5], 1.05)

# Polar Express as its paper prints it and its basic.py has it: factor 1.01 on all but the steady last step.
POLAR_EXPRESS_PAPER: list[Step] = with_safety(POLAR_EXPRESS[:7], 1.01) + POLAR_EXPRESS[7:]

# What the package computes when it is imported (10 steps, l = 1e-3, safety 1e-2, cushion 0.02): there the factor enters
# the interval of the next step, so these are not the printed ones divided by anything.
POLAR_EXPRESS_PACKAGE: list[Step] = [
    (8.237312490495555, -23.1577474145582, 16.68056841144592),
    (4.082441999064836, -2.8930477353325887, 0.5252849256975651),
    (3.9263479922546556, -2.8547468034765293, 0.5318022422894989),
    (3.2982187133085143, -2.424541981026706, 0.48632008358844075),
    (2.297036943455258, -1.636625581259032, 0.40026284559536324),
    (1.8763805351440388, -1.2347896577722206, 0.35891887501668285),
    (1.8564423485632715, -1.2132449880964424, 0.35680034878400435),
    (1.8564327152541042, -1.2132319436823145, 0.35679681879874264),
    (1.8564311641115903, -1.213228902551046, 0.3567953282072421),
    (1.8749954775622923, -1.2499909551464006, 0.3749954775841082),
]

# Eight of Keller Jordan's, then two classical quintics that pin what is near 1.
HYBRID: list[Step] = KELLER_JORDAN[:1] * 8 + [(2.0, -1.5, 0.5)] * 2

# Four steps after AOL scaling (thib-s/flash-newton-schulz, dion's newton_schulz_triton_fast).
TURBO_MUON: list[Step] = [
    (4.6051, -9.6552, 5.6769),
    (4.7505, -6.0861, 2.1790),
    (2.7763, -2.3190, 0.5523),
    (2.4231, -2.2861, 0.8193),
]

# The sets of NVIDIA-NeMo/Emerging-Optimizers that are not among the above.
EMERGING_POLAR_EXPRESS: list[Step] = [
    (8.2051, -22.9019, 16.4607),
    (4.0664, -2.8612, 0.5184),
    (3.9096, -2.8234, 0.5250),
    (3.2856, -2.4153, 0.4853),
    (2.2779, -1.6198, 0.3985),
    (1.8726, -1.2307, 0.3585),
    (1.8564, -1.2132, 0.3568),
    (1.8750, -1.2500, 0.3750),
]
CANS: list[Step] = [
    (8.4703, -25.1081, 18.6293),
    (4.1828, -3.1087, 0.5806),
    (3.9619, -2.9541, 0.5630),
    (3.2866, -2.4647, 0.5074),
    (2.2737, -1.6447, 0.4162),
]
EMERGING_AOL: list[Step] = [
    (4.0098, -7.0585, 2.4635),
    (3.4585, -5.5479, 2.5959),
    (2.7573, -3.2939, 1.4254),
    (2.7215, -3.0494, 1.3169),
]
CUBIC5: list[Step] = [
    (3.3656576, -3.3420992, 0.0),
    (2.5744352, -1.4957376, 0.0),
    (2.5368962, -1.4312570, 0.0),
    (2.4418906, -1.2764040, 0.0),
    (2.2230472, -0.9630650, 0.0),
]
