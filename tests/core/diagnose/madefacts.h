// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Facts made of a few values, and what the rules say of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/diagnose/identify/envelope.h"
#include "core/diagnose/verdict/decide.h"
#include "core/diagnose/verdict/rules.h"
#include "core/model/verdict.h"
#include "core/replay/variants/variant.h"

namespace nanscope::test {

/// A call of 4 x 4 with a finite input, damaged, of which nothing but its input was taken; a healthy call tells what
/// ran, bit for bit.
class MadeFacts
{
public:
    explicit MadeFacts(DamageShape shape = DamageShape::wholeElement, std::string text = "every value is NaN")
    {
        facts.replayed = true;
        facts.rows = facts.cols = 4;
        facts.inputAbsmax = 1;
        facts.dumpedByWrapper = true;
        facts.damage.shape = shape;
        facts.damage.text = std::move(text);
        facts.damage.count = facts.damage.nan = 1;
        facts.identified.how = IdentifiedBy::fit;
        facts.control = ControlCall {"control.pt", false, 1, {}, {"gns-gram"}};
    }

    MemberResult& member(std::string_view variant, int finite = 8, int reproducing = 0, double slack = 5)
    {
        const auto* found = replay::builtInVariant(variant);
        auto result = diagnose::resultFor({found, found->precision}, input());
        result.roundings = 8;
        result.finite = finite;
        result.reproducing = reproducing;
        result.slackPercent = slack;
        result.headroomBinades = 11;
        facts.members.push_back(result);
        return facts.members.back();
    }

    void zeroInput()
    {
        facts.inputZero = true;
        facts.inputAbsmax = 0;
    }

    void finiteOutput()
    {
        facts.outputFinite = true;
        facts.damage = {};
    }

    CaptureVerdict judged() const
    {
        CaptureVerdict verdict;
        verdict.facts = facts;
        for (auto& member : verdict.facts.members) {
            const auto variant = replay::builtInVariant(member.variant);
            const auto fresh = diagnose::resultFor({variant, *parsePrecision(member.precision)}, input());
            member.castLoses = fresh.castLoses;
            member.slackNeeded = fresh.slackNeeded;
        }
        diagnose::verdict::judgeAgain(verdict);
        return verdict;
    }

    Facts facts;

private:
    Scan input() const
    {
        Scan scan;
        scan.count = 16;
        scan.zero = facts.inputZero ? 16 : 0;
        scan.absmax = facts.inputAbsmax;
        return scan;
    }
};

} // namespace nanscope::test
