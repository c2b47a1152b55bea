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
