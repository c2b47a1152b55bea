// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "core/tensorfile/capture/capturefile.h"
#include "tests/core/diagnose/findings/cardmaker.h"
#include "tests/core/session/temporaryfolder.h"

using testing::HasSubstr;

namespace nanscope {

namespace {

class Replicas : public testing::Test
{
protected:
    /// A dump by the wrapper's name, with the verdict that says when.
    void dump(int rank, const std::vector<float>& values, const Shape& shape = {4, 5}, std::int64_t step = 7)
    {
        const auto name = fmt::format("dion_nan_capture_rank{}_shape{}_pid{}_{}.pt", rank, shapeText(shape), 100 + rank,
            1792231455000 + static_cast<std::int64_t>(m_run.captures.size()));
        const auto bytes = std::as_bytes(std::span(values));
        const tensorfile::TensorToWrite input {"input", DType::float32, shape, {bytes.begin(), bytes.end()}};
        ASSERT_TRUE(tensorfile::writePt(m_folder / name, {{"input", input}, {"rank", std::int64_t {rank}}}));
        auto file = tensorfile::readCapture(m_folder / name);
        ASSERT_TRUE(file) << sentence(file.error());
        file->capture.path = (m_folder / name).string();
        m_run.captures.push_back(file->capture);
        CaptureVerdict verdict;
        verdict.capture = file->capture.file;
        verdict.step = {step - 1, step};
        verdict.stepSource = StepSource::console;
        m_verdicts.push_back(verdict);
    }

    Finding card() const { return cardOf(m_run, "replica-drift", m_verdicts); }

    TemporaryFolder m_folder;
    RunData m_run;
    std::vector<CaptureVerdict> m_verdicts;
};

std::vector<float> values(float offset = 0)
{
    std::vector<float> all(20);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<float>(i + 1) + offset;
    }
    return all;
}

} // namespace

TEST_F(Replicas, OneBitOnOneRankIsDrift)
{
    auto other = values();
    other[13] = std::nextafter(other[13], 100.0F);
    dump(0, values());
    dump(1, other);
    const auto finding = card();
    EXPECT_EQ(finding.state, FindingState::fired);
    EXPECT_THAT(finding.reason, HasSubstr("ranks 0 and 1 hold other bits of the same 4x5 matrix: 1 of 20"));
    EXPECT_THAT(finding.reason, HasSubstr("first at [2,3], at most 1 ulp"));
    EXPECT_EQ(finding.step, 7);
    EXPECT_EQ(finding.evidence.size(), 2U);
}

TEST_F(Replicas, EqualBitsAreClear)
{
    dump(0, values());
    dump(1, values());
    EXPECT_EQ(card().state, FindingState::clear);
}

// None of these is known to be the same matrix: a wrong accusation is worse than none.
TEST_F(Replicas, WhatMayBeTwoMatricesAccusesNobody)
{
    dump(0, values(), {1, 4, 5});
    dump(1, values(0.001F), {1, 4, 5});
    EXPECT_EQ(card().state, FindingState::notCheckable);
    EXPECT_THAT(card().reason, HasSubstr("a stack is divided"));
}

TEST_F(Replicas, OtherStepsOrTwoParametersAccuseNobody)
{
    dump(0, values());
    dump(1, values(0.001F), {4, 5}, 8);
    EXPECT_EQ(card().state, FindingState::notCheckable) << "another update";
    dump(1, values(50), {4, 5}, 7);
    EXPECT_EQ(card().state, FindingState::notCheckable);
    EXPECT_THAT(card().reason, HasSubstr("may be two parameters"));
    dump(1, values(), {4, 5}, 7);
    EXPECT_THAT(card().reason, HasSubstr("several captures of this shape"));
}

TEST_F(Replicas, OneRankAloneCannotTell)
{
    dump(0, values());
    EXPECT_THAT(card().reason, HasSubstr("no captures of two ranks"));
    m_verdicts.clear();
    dump(1, values());
    EXPECT_EQ(card().state, FindingState::notCheckable) << "the step of the first is not known";
}

} // namespace nanscope
