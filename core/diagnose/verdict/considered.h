// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/facts.h"

namespace nanscope::diagnose::verdict {

/// Facts in the light of the user's answers: what is taken to have run, and the members that are left.
struct Considered
{
    const Facts& facts;
    Identification identified;
    std::vector<MemberResult> members;

    /// A sidecar or the user names what ran.
    bool saidToHaveRun() const;
    /// The helper found another source than the published one under the name that is said to have run.
    bool hasOtherText() const;
    /// Relative Frobenius distance of a healthy call from what is said to have run; none where there is no such call.
    std::optional<double> nameOffFromCall() const;
    /// What is said to have run is off from the finite rest of the output, or from a healthy call, and fits no such
    /// call.
    bool nameContradicted() const;
    /// Held against the variants, which the output is not what any gives of.
    bool fitsNothingKnown() const { return identified.matchesNone; }
    /// The output is not what is said to have run, or what any known variant gives.
    bool outputIsOff() const;
    /// A healthy call is what is said to have run; where nothing says what ran, what a known variant gives.
    bool controlConfirms() const;
    /// Neither the output nor a healthy call shows that what is said to have run did.
    bool nameUnconfirmed() const;
    /// Which epsilon the function had is not known: a name does not say that the caller's was passed on.
    bool epsilonUnknown() const { return !saidToHaveRun() || !facts.nothingElse || facts.epsilonMissing; }

    using Property = bool (*)(const MemberResult&);
    bool any(Property property) const;
    bool all(Property property) const;
};

Considered consider(const Facts& facts);

/// "gns-gram" and "gns-gram:fp16" both mean the member gns-gram in fp16.
bool means(const std::string& answer, const MemberResult& member);

/// Takes what is said for what ran, whatever fits best.
void sayRan(Identification& id, std::vector<std::string> names, IdentifiedBy how = IdentifiedBy::given);

} // namespace nanscope::diagnose::verdict
