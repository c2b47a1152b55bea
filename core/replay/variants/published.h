// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Where variants() comes from: schedules that several projects share, and what each project makes of them.
#pragma once

#include <string>
#include <vector>

#include "core/replay/variants/variant.h"

namespace nanscope::replay::published {

using Schedule = std::vector<Coefficients>;

/// Keller Jordan's quintic, tuned for slope at zero rather than for convergence to one.
const Schedule& jordan();
/// YouJiacheng's five steps.
const Schedule& you();
/// Polar Express for singular values down to 1e-3, without any safety factor: eight steps, or the first five.
const Schedule& polarExpress();
Schedule polarExpressFive();
/// Polar Express with safety factor 2e-2 and cushion 2.
const Schedule& polarExpressSafe();

/// Eight of Keller Jordan's, then two classical quintics that pin what is near 1.
Schedule hybrid();
/// CANS, no safety factor.
const Schedule& cans();

/// What is shared with another variant, under a name of its own.
Variant named(Variant v, std::string name, std::string title, std::string source);

/// Muon as first published, which much is compared with and copied from.
Variant kellerJordan();
Variant gramNewtonSchulz();

/// The variants of each source, in the order of the documentation.
std::vector<Variant> firstVariants();
std::vector<Variant> projectVariants(); ///< of dion, modded-nanogpt, nanochat, DeepSpeed, Turbo-Muon and others
std::vector<Variant> emergingVariants(); ///< of NVIDIA-NeMo/Emerging-Optimizers

} // namespace nanscope::replay::published
