// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <gtest/gtest.h>

#include "core/model/verdict.h"
#include "core/replay/variants/variant.h"
#include "tests/ui/samples.h"
#include "ui/jobs/cellchoice.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

const std::vector<replay::Coefficients>& scheduleOf(const QString& name)
{
    return replay::builtInVariant(name.toStdString())->steps;
}

/// Of eight roundings.
MemberResult member(const char* variant, const char* precision, int finite, int reproducing)
{
    MemberResult result;
    result.variant = variant;
    result.precision = precision;
    result.roundings = 8;
    result.finite = finite;
    result.reproducing = reproducing;
    return result;
}

CaptureVerdict identifiedAs(std::vector<std::string> names)
{
    CaptureVerdict verdict;
    verdict.variant.names = std::move(names);
    return verdict;
}

} // namespace

TEST(WorthSweeping, WhatMayHaveRunComesWholeAndOfOthersOneOfEachSchedule)
{
    const auto verdict = identifiedAs({"gns-gram", "gns-standard"});
    const VariantOrder order = variantOrder(&verdict, {});
    const QStringList worth = worthSweeping(order, {}, {});
    EXPECT_EQ(worth.mid(0, 2), (QStringList {QStringLiteral("gns-gram"), QStringLiteral("gns-standard")}));
    EXPECT_LT(worth.size(), order.names.size());
    for (int i = 2; i < worth.size(); ++i) {
        for (int before = 0; before < i; ++before) {
            EXPECT_NE(scheduleOf(worth[i]), scheduleOf(worth[before])) << qPrintable(worth[i]);
        }
    }
    for (const QString& name : order.names) {
        const bool covered =
            std::ranges::any_of(worth, [&](const QString& other) { return scheduleOf(other) == scheduleOf(name); });
        EXPECT_TRUE(covered) << qPrintable(name);
    }
}

TEST(WorthSweeping, AnOwnVariantIsShownBesideOneOfTheSameSchedule)
{
    replay::Variant own = *replay::builtInVariant("gns-gram");
    own.name = "own-gram";
    replay::Catalogue catalogue;
    ASSERT_TRUE(catalogue.add(own));
    const VariantOrder order = variantOrder(nullptr, catalogue);
    EXPECT_EQ(order.names.count(QStringLiteral("own-gram")), 1);
    EXPECT_TRUE(worthSweeping(order, {}, catalogue).contains(QStringLiteral("own-gram")));
    EXPECT_FALSE(variantOrder(nullptr, {}).names.contains(QStringLiteral("own-gram")));
}

TEST(FirstToSee, OfANumberFaultIsTheReplayThatEndsLikeTheDump)
{
    auto verdict = identifiedAs({"gns-gram", "gns-standard"});
    verdict.blame = Blame::numerics;
    verdict.members = {
        member("gns-gram", "bf16", 8, 0), member("gns-gram", "fp16", 0, 8), member("gns-standard", "fp16", 0, 3)};
    const auto explains = explainingReplay(&verdict);
    ASSERT_TRUE(explains);
    EXPECT_EQ(explains->variant, "gns-gram");
    EXPECT_EQ(explains->precision, Precision::fp16);
    const Cell finite = test::makeCell("gns-gram", Precision::bf16, Outcome::finite);
    const Cell failing = test::makeCell("gns-gram", Precision::fp16, Outcome::nan);
    EXPECT_EQ(firstToSee({&failing, &finite}, &verdict, {}), &failing);
    EXPECT_EQ(firstToSee({&finite}, &verdict, {}), nullptr) << "a finite one would contradict the verdict";
    Capture capture;
    capture.input.shape = {1, 96, 160};
    capture.input.batches.resize(1);
    const auto quick = quickReplay(capture, &verdict, {});
    ASSERT_TRUE(quick);
    EXPECT_EQ(quick->precision, Precision::fp16);
}

TEST(FirstToSee, OfAnotherVerdictIsWhatRanInItsOwnFormat)
{
    auto verdict = identifiedAs({"gns-gram"});
    verdict.blame = Blame::implementation;
    verdict.members = {member("gns-gram", "fp16", 0, 8)};
    EXPECT_FALSE(explainingReplay(&verdict));
    EXPECT_FALSE(explainingReplay(nullptr));
    const Precision own = replay::builtInVariant("gns-gram")->precision;
    const Cell ran = test::makeCell("gns-gram", own, Outcome::finite);
    const Cell other = test::makeCell("gns-gram", Precision::fp64, Outcome::finite);
    EXPECT_EQ(firstToSee({&ran, &other}, &verdict, {}), &ran);
    verdict.blame = Blame::numerics;
    verdict.members = {member("gns-gram", "fp16", 8, 0)};
    EXPECT_FALSE(explainingReplay(&verdict)) << "no replay of it went wrong";
}

TEST(FirstToSee, UndecidedTheReplayThatWouldExplainItComesFirst)
{
    auto verdict = identifiedAs({"gns-gram", "deepspeed-gram"});
    verdict.blame = Blame::undecided;
    verdict.members = {member("gns-gram", "fp16", 8, 0), member("deepspeed-gram", "fp16", 0, 8)};
    const auto explains = explainingReplay(&verdict);
    ASSERT_TRUE(explains);
    EXPECT_EQ(explains->variant, "deepspeed-gram");
    verdict.members.pop_back();
    EXPECT_FALSE(explainingReplay(&verdict)) << "all of them stay finite";
    EXPECT_TRUE(mayHaveRun("gns-gram", &verdict));
    EXPECT_FALSE(mayHaveRun("keller-jordan", &verdict));
    EXPECT_TRUE(mayHaveRun("keller-jordan", nullptr));
}

TEST(FirstToSee, UndecidedTheFirstOfWhatMayHaveRunIsReplayed)
{
    std::vector<std::string> all;
    for (const replay::Variant* variant : replay::Catalogue().all()) {
        all.emplace_back(variant->name);
    }
    const auto open = identifiedAs(all);
    Capture capture;
    capture.input.shape = {1, 96, 160};
    capture.input.batches.resize(1);
    const auto quick = quickReplay(capture, &open, {});
    ASSERT_TRUE(quick);
    EXPECT_EQ(quick->variant, all.front());
    EXPECT_EQ(quick->precision, replay::builtInVariant(all.front())->precision);
    const auto unknown = identifiedAs({});
    EXPECT_FALSE(quickReplay(capture, &unknown, {})) << "nothing is known to have been possible";
    EXPECT_FALSE(quickReplay(capture, nullptr, {})) << "nothing is judged yet";
    capture.input.batches[0].nan = 1;
    EXPECT_FALSE(quickReplay(capture, &open, {})) << "the input was not finite";
}

TEST(WorthSweeping, WhatHasCellsStaysInSight)
{
    const VariantOrder order = variantOrder(nullptr, {});
    const QStringList before = worthSweeping(order, {}, {});
    QString left;
    for (const QString& name : order.names) {
        left = before.contains(name) ? left : name;
    }
    ASSERT_FALSE(left.isEmpty());
    const Cell cell = test::makeCell(left.toUtf8().constData(), Precision::fp16, Outcome::finite);
    const QStringList after = worthSweeping(order, {&cell}, {});
    EXPECT_TRUE(after.contains(left));
    EXPECT_EQ(after.size(), before.size() + 1);
}

} // namespace nanscope
