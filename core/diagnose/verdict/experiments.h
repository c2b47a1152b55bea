// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What to try next, for how long, and which outcomes there can be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// Experiments for this verdict, the most informative first.
std::vector<Experiment> nextExperiments(const CaptureVerdict& verdict);

/// The one with this id, whatever the verdict; nullptr for an unknown one.
const Experiment* findExperiment(std::string_view id);

/// Ids of the experiments that have an outcome to tell.
std::vector<std::string_view> experimentIds();

/// Hours without the fault after which chance explains its absence in less than 1 of 20 cases, were nothing changed:
/// -ln(0.05) = 3.0 times the mean time between failures ("rule of three": Hanley and Lippman-Hand, JAMA 1983).
double cleanHours(const FailureRate& rate);

/// Fails with one sentence where a count cannot be: no calls, more failures than calls, an unknown experiment.
Result<void> check(const CallsAgain& called);

/// Fails with one sentence where a rate or an outcome cannot be: no failures, no hours, an outcome that the experiment
/// does not have, an unknown experiment.
Result<void> check(const Observations& observed);

} // namespace nanscope::diagnose
