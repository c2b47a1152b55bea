// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What to try next, for how long, and which outcomes there can be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// Experiments for this verdict, the most informative first. `asksName`: its question is which function ran.
std::vector<Experiment> nextExperiments(const CaptureVerdict& verdict, bool asksName = false);

/// "python:MODULE:FUNCTION", with its further arguments as JSON behind it, of the function that a sidecar names; in
/// these very words where none can be imported.
std::string functionToCall(const Scene& scene);

/// The one with this id, whatever the verdict; nullptr for an unknown one.
const Experiment* findExperiment(std::string_view id);

/// It changes something of a function that may have run: not "bf16" where none iterates in fp16, nor "fp32-norm" where
/// none casts before the norm. True of other ids, and where no replay says what may have run.
bool changesWhatRan(std::string_view id, const CaptureVerdict& verdict);

/// It is a command of `nanscope`.
bool isCommand(const Experiment& experiment);

/// It is one that the window has ticks or buttons for.
bool hasButton(const Experiment& experiment);

/// A command names the capture as it lies on the disk: the name within the run is found from the run's folder alone.
void nameByPath(std::vector<Experiment>& next, const Capture& capture);

/// Ids of the experiments that have an outcome.
std::vector<std::string_view> experimentIds();

/// Hours without the fault after which chance explains its absence in less than 1 of 20 cases, were nothing changed:
/// -ln(0.05) = 3.0 times the mean time between failures ("rule of three": Hanley and Lippman-Hand, JAMA 1983).
double cleanHours(const FailureRate& rate);

/// Fails with one sentence where a count cannot be: no calls, more failures than calls, an unknown experiment.
Result<void> check(const CallsAgain& called);

/// Fails with one sentence where a rate or an outcome cannot be: no failures, no hours, an outcome that the experiment
/// does not have, an unknown experiment.
Result<void> check(const Observations& observed);

// The captured call made again: k of n calls went wrong, and what chance has to do with it. A count is the word of
// the user who made the calls, or of the helper that made them at the scene.

/// None where the helper made none, and of a finite output: it counts which calls ended with a finite one, and that
/// says nothing of values that are wrong.
std::vector<CallsAgain> callsAtTheScene(const std::string& capture, const Facts& facts);

/// At 95 % confidence fewer than this share of calls fails where none of `calls` did: 3 / n ("rule of three": Hanley
/// and Lippman-Hand, JAMA 1983).
double mostThatFail(std::int64_t calls);

/// At 95 % confidence more than this share of calls fails where all of `calls` did: 0.05^(1/n), the exact bound of
/// Clopper and Pearson (Biometrika 1934).
double fewestThatFail(std::int64_t calls);

/// How likely it is that so few or fewer of the changed calls fail, were the change without effect: Fisher's exact
/// test, one-sided (The Design of Experiments, 1935).
double chanceOfSoFew(const CallsAgain& before, const CallsAgain& changed);

/// "3 of 200 calls with the same input failed"
std::string callsText(const CallsAgain& called);

/// Every call failed on another GPU, too, as it ran: no one card did it, and no chance.
bool failsElsewhere(const CallsAgain& called);

/// At least one of the calls came out finite, as they ran and on the GPU of the capture.
bool cameOutFinite(const CallsAgain& called);

/// Every call failed with plain operations in place of the custom kernels.
bool failsWithoutKernels(const CallsAgain& called);

} // namespace nanscope::diagnose
