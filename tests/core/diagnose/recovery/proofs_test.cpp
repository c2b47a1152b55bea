// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Ranges answer what a list of all proofs would.
#include <random>

#include <gmock/gmock.h>

#include "core/diagnose/recovery/failuretimeline.h"
#include "core/model/verdict.h"
#include "tests/core/diagnose/runmaker.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

class Ranges : public testing::Test
{
protected:
    void add(const diagnose::Proof& proof, bool quoted = false)
    {
        m_all.push_back(proof);
        m_proofs.add(proof, quoted);
    }

    /// Asks for every number of weights around those that are there.
    void expectTheSame() const
    {
        ASSERT_EQ(m_proofs.empty(), m_all.empty());
        for (auto n = m_all.front().weights - 3; n <= m_all.back().weights + 3; ++n) {
            const auto wanted = std::ranges::lower_bound(m_all, n, {}, &diagnose::Proof::weights);
            const auto found = m_proofs.from(n);
            ASSERT_EQ(found.has_value(), wanted != m_all.end()) << n;
            if (!found) {
                continue;
            }
            EXPECT_EQ(found->proof.weights, wanted->weights) << n;
            EXPECT_EQ(found->proof.step, wanted->step) << n;
            EXPECT_EQ(found->proof.line, wanted->line) << n;
            EXPECT_EQ(found->proof.source, wanted->source) << n;
            if (found->lossKnown) {
                EXPECT_EQ(found->proof.loss, wanted->loss) << n;
            }
        }
        EXPECT_EQ(m_proofs.lastWeights(), m_all.back().weights);
    }

    std::vector<diagnose::Proof> m_all;
    diagnose::Proofs m_proofs;
};

TEST_F(Ranges, OfEqualSteps)
{
    for (int i = 0; i < 100; ++i) {
        add({10 * i, 0.5 * i, 10 * i + 1, 3 * i + 7, 0});
    }
    expectTheSame();
    EXPECT_FALSE(m_proofs.from(11)->lossKnown) << "it is one range";
    EXPECT_EQ(m_proofs.base(), 1);
}

TEST_F(Ranges, OfAnySteps)
{
    std::mt19937 random(7);
    const auto upTo = [&](unsigned most) { return static_cast<std::int64_t>(random() % most); };
    for (int round = 0; round < 50; ++round) {
        m_all.clear();
        m_proofs = {};
        std::int64_t weights = upTo(5);
        std::int64_t line = 1;
        for (int i = 0; i < 60; ++i) {
            add({weights, static_cast<double>(i), weights + (upTo(10) == 0 ? 1 : 0), line,
                    static_cast<std::uint32_t>(upTo(20) == 0)},
                upTo(15) == 0);
            weights += 1 + (upTo(4) == 0 ? upTo(3) : 0);
            line += upTo(6) == 0 ? upTo(3) : 1;
        }
        expectTheSame();
    }
}

TEST_F(Ranges, KeepALossThatNoLinePrints)
{
    add({1, 2.5, 2, 10, 0});
    add({2, 2.25, 3, 11, 0}, true);
    add({3, 2.0, 4, 12, 0});
    expectTheSame();
    EXPECT_TRUE(m_proofs.from(2)->lossKnown);
    EXPECT_EQ(m_proofs.from(2)->proof.loss, 2.25);
}

TEST(ProofOf, FindsTheLossOnItsLine)
{
    RunData run;
    std::vector<double> losses;
    for (int i = 0; i < 500; ++i) {
        losses.push_back(5 - 0.001 * i);
    }
    losses.insert(losses.end(), 3, std::numeric_limits<double>::quiet_NaN());
    run.series = {seriesOf("loss", 1, losses)};
    const auto timeline = diagnose::failureTimelineOf(run, {});
    ASSERT_FALSE(timeline.none());
    for (const std::int64_t n : {0, 1, 250, 499}) {
        const auto proof = timeline.failed->proofOf(n);
        ASSERT_TRUE(proof) << n;
        EXPECT_EQ(proof->loss, losses[static_cast<std::size_t>(n)]) << n;
        EXPECT_EQ(proof->step, n + 1);
    }
    EXPECT_FALSE(timeline.failed->proofOf(500));
    EXPECT_THAT(timeline.failed->lineOf(*timeline.failed->proofOf(250)).text, HasSubstr("loss is 4.75 at step 251"));
}

// A progress bar prints its steps on one line, and a step again when it has a new loss for it.
TEST(ProofOf, TakesTheLastOfOneLine)
{
    RunData run;
    run.series = {seriesOf("loss", 1,
        {5, 4, 3.5, 3, 2, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()})};
    const std::int64_t steps[] = {1, 2, 2, 3, 4, 5, 6};
    for (std::size_t i = 0; i < std::size(steps); ++i) {
        run.series[0].points[i].line = 1;
        run.series[0].points[i].step = steps[i];
    }
    const auto timeline = diagnose::failureTimelineOf(run, {});
    ASSERT_FALSE(timeline.none());
    EXPECT_EQ(timeline.failed->proofOf(1)->loss, 3.5);
    EXPECT_EQ(timeline.failed->proofOf(3)->loss, 2);
}

} // namespace
} // namespace nanscope
