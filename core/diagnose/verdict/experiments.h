// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What to try next, for how long, and what the outcome does to a verdict. An outcome is the word of whoever ran the
// experiment: it is argued with like any other line, and no single one of them accuses anybody.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

/// Fails with one sentence where a rate or an outcome cannot be: no failures, no hours, an outcome that the experiment
/// does not have, an unknown experiment.
Result<void> check(const Observations& observed);

/// The verdict with what was tried in it, in place of what was before.
///
/// `gone` before the clean hours are over, or where the rate of the fault is not known, is listed as not testable.
/// Verdicts change in three cases only: the kind of an `implementation` is narrowed by what came again; an overflow in
/// the cast becomes `undecided` where the fault came again with the cast mended; a fault that moved with its card in
/// two swaps is the machine.
CaptureVerdict withObservations(CaptureVerdict verdict, const Observations& observed);

/// The same for every capture.
Diagnosis withObservations(Diagnosis diagnosis, const Observations& observed);

} // namespace nanscope::diagnose
