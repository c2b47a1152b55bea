// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diagnose/verdict/considered.h"
#include "core/diagnose/verdict/rules.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose::verdict {

/// The verdict on a call that was replayed: the first rule that holds, refined. No text and no file is read.
Decision decide(const Considered& considered);

/// Draws the verdict of `verdict.facts` again, with its words; triage's own verdicts stay as they are.
void judgeAgain(CaptureVerdict& verdict);

} // namespace nanscope::diagnose::verdict

namespace nanscope::diagnose {

/// The verdict with what was tried in it, in place of what was before. An outcome is the word of the user who ran the
/// experiment: it is argued with like any other line, and no single one of them accuses anybody.
///
/// `gone` before the clean hours are over, or where the rate of the fault is not known, speaks neither for nor against.
/// Verdicts change in three cases only: the kind of an `implementation` is narrowed by what came again; an overflow in
/// the cast becomes `undecided` where the fault came again with the cast mended; a fault that moved with its card in
/// two swaps is the machine.
CaptureVerdict withObservations(CaptureVerdict verdict, const Observations& observed);

/// The same for every capture.
Diagnosis withObservations(Diagnosis diagnosis, const Observations& observed);

} // namespace nanscope::diagnose
