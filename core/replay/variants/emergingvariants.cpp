// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/replay/variants/published.h"

namespace nanscope::replay::published {

std::vector<Variant> emergingVariants()
{
    // fp32 throughout unless torch is told "medium", which is --precision bf16 here; two addmm a step.
    Variant emerging;
    emerging.source = "NVIDIA-NeMo/Emerging-Optimizers fd77292, muon_utils.py";
    emerging.castOrder = CastOrder::normalizeFirst;
    emerging.precision = Precision::fp32;
    emerging.lowering = Lowering::fused;
    emerging.epsilonRule = EpsilonRule::clamp;
    emerging.epsilon = 1e-15;
    const auto set = [&](const char* name, const char* title, Schedule steps, const char* family,
                         Beyond beyond = Beyond::repeatLast) {
        Variant v = named(emerging, name, title, emerging.source);
        v.steps = std::move(steps);
        v.family = family;
        v.beyond = beyond;
        return v;
    };
    const Schedule express {
        {8.2051, -22.9019, 16.4607},
        {4.0664, -2.8612, 0.5184},
        {3.9096, -2.8234, 0.5250},
        {3.2856, -2.4153, 0.4853},
        {2.2779, -1.6198, 0.3985},
        {1.8726, -1.2307, 0.3585},
        {1.8564, -1.2132, 0.3568},
        {1.8750, -1.2500, 0.3750},
    };
    const Schedule aol {
        {4.0098, -7.0585, 2.4635},
        {3.4585, -5.5479, 2.5959},
        {2.7573, -3.2939, 1.4254},
        {2.7215, -3.0494, 1.3169},
    };
    const Schedule cubic {
        {3.3656576, -3.3420992, 0},
        {2.5744352, -1.4957376, 0},
        {2.5368962, -1.4312570, 0},
        {2.4418906, -1.2764040, 0},
        {2.2230472, -0.9630650, 0},
    };
    auto five = set("emerging-polar-express-5", "Emerging-Optimizers polar_express, five steps",
        {express.begin(), express.begin() + 5}, "polar-express-paper-5");
    five.safetyFactor = 1.01;
    auto precise = set("emerging-double-norm", "Emerging-Optimizers quintic, norm in fp64 and no epsilon", you(), "you",
        Beyond::cycle);
    precise.normPrecision = Precision::fp64;
    precise.epsilon = 0;
    precise.ignoresCallerEpsilon = true;
    return {
        set("emerging-simple", "Emerging-Optimizers simple", jordan(), "jordan", Beyond::cycle),
        set("emerging-quintic", "Emerging-Optimizers quintic (its default)", you(), "you", Beyond::cycle),
        set("emerging-polar-express", "Emerging-Optimizers polar_express, eight steps", express, "polar-express-paper"),
        five,
        set("emerging-cans", "Emerging-Optimizers cans", cans(), "cans"),
        set("emerging-aol", "Emerging-Optimizers aol", aol, "emerging-aol", Beyond::cycle),
        set("emerging-hybrid", "Emerging-Optimizers deepseekv4, eight steps and two", hybrid(), "hybrid"),
        set("emerging-cubic5", "Emerging-Optimizers cubic5", cubic, "cubic5", Beyond::exact),
        precise,
    };
}

} // namespace nanscope::replay::published
