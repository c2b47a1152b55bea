// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// What other calls of a run say of a damaged one: controls that tell the function, twins that were given the same bits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/diagnose/diagnose.h"
#include "core/diagnose/identify/element.h"
#include "core/diagnose/identify/othercalls.h"
#include "core/diagnose/identify/plausible.h"
#include "core/diagnose/rejudge.h"
#include "core/model/verdict.h"
#include "core/replay/program/formats.h"
#include "tests/core/diagnose/healthycall.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

using test::Matrix;

/// Beyond what fp16 holds: whoever casts first ends all NaN.
Matrix large()
{
    auto values = test::smallWaves();
    values[0] = 70000;
    return values;
}

/// As large as large(), in each value; the outputs are those of waves().
Matrix loud(double phase)
{
    auto values = test::smallWaves(phase);
    std::ranges::for_each(values, [](auto& value) { value *= 4096; });
    return values;
}

Matrix allNan()
{
    return Matrix(test::smallSize, NAN);
}

class OtherCalls : public testing::Test
{
protected:
    void add(int rank, int pid, const std::vector<Matrix>& input, const std::vector<Matrix>& output)
    {
        const auto path = m_folder
            / fmt::format(
                "{}_rank{}_shape{}x16x24_pid{}_{}.pt", m_lead, rank, input.size(), pid, 1000 + m_run.captures.size());
        std::vector<std::pair<std::string, tensorfile::ValueToWrite>> dict {{"input", test::smallTensor(input)},
            {"output", test::smallTensor(output)}, {"rank", std::int64_t {rank}}, {"epsilon", 1e-8}};
        if (m_wrapped) {
            dict.emplace_back("shape", test::smallTensor(input).shape);
            dict.emplace_back("dtype", "torch.float32");
        }
        ASSERT_TRUE(tensorfile::writePt(path, dict));
        auto file = tensorfile::openCapture(path);
        ASSERT_TRUE(file && tensorfile::scanCapture(*file));
        file->capture.id = static_cast<std::int64_t>(m_run.captures.size()) + 1;
        m_run.captures.push_back(file->capture);
    }

    /// What the sidecars of all of them say.
    void recordVariant(const std::string& variant)
    {
        for (auto& capture : m_run.captures) {
            capture.variant = variant;
        }
    }

    /// The verdict on the capture that was added as the n-th.
    CaptureVerdict verdictOn(std::int64_t n, const std::vector<std::string>& ran = {})
    {
        diagnose::DiagnoseOptions options;
        options.ran = ran;
        options.nothingElse = m_nothingElse;
        const auto diagnosis = diagnose::diagnose(m_run, options);
        EXPECT_TRUE(diagnosis) << (diagnosis ? "" : sentence(diagnosis.error()));
        for (const auto& verdict : diagnosis->captures) {
            if (verdict.captureId == n) {
                return verdict;
            }
        }
        ADD_FAILURE() << "no verdict";
        return {};
    }

    TemporaryFolder m_folder;
    RunData m_run;
    bool m_nothingElse = false; ///< the user's word
    std::string m_lead = "dion_nan_capture";
    bool m_wrapped = true; ///< dumps are as dion's wrapper writes them
};

TEST_F(OtherCalls, WithoutAControlAnAllNanOutputOfALargeInputIsAQuestion)
{
    add(0, 7, {large()}, {allNan()});
    EXPECT_EQ(verdictOn(1).blame, Blame::undecided);
    EXPECT_EQ(verdictOn(1).variant.how, IdentifiedBy::unknown);
}

TEST_F(OtherCalls, AnotherMatrixOfTheCallTellsWhatRan)
{
    add(0, 7, {loud(1), large()}, {test::smallOutput("gns-gram", loud(1)), allNan()});
    const auto v = verdictOn(1);
    EXPECT_EQ(v.blame, Blame::implementation) << v.summary;
    EXPECT_EQ(v.variant.how, IdentifiedBy::fit);
    EXPECT_THAT(v.variant.names, Contains("gns-gram"));
    EXPECT_THAT(v.speaksFor, Contains(Field(&EvidenceLine::text, HasSubstr("element 0 of this call is what "))));
    EXPECT_THAT(v.speaksFor, Contains(Field(&EvidenceLine::text, HasSubstr("not to blame"))));
}

TEST_F(OtherCalls, AControlOfOurHelperTellsWhatRan)
{
    m_lead = "nanscope_control";
    add(0, 7, {loud(1)}, {test::smallOutput("gns-gram", loud(1))});
    add(0, 8, {test::smallWaves(2)}, {test::smallOutput("keller-jordan", test::smallWaves(2))});
    m_lead = "dion_nan_capture";
    add(0, 7, {large()}, {allNan()});
    const auto v = verdictOn(3);
    EXPECT_EQ(v.blame, Blame::implementation) << v.summary;
    EXPECT_EQ(v.variant.how, IdentifiedBy::fit);
    EXPECT_THAT(v.variant.names, Contains("gns-gram"));
    EXPECT_THAT(v.variant.names, Not(Contains("keller-jordan"))) << "that one is of another process";
    EXPECT_THAT(v.speaksFor, Contains(Field(&EvidenceLine::text, HasSubstr(m_run.captures[0].file))));
    EXPECT_EQ(verdictOn(1).role, Role::healthy);
}

TEST_F(OtherCalls, TheOutputOfAnEarlierCallWithAnotherInputIsABirth)
{
    add(0, 7, {test::smallWaves(1)}, {test::smallOutput("gns-gram", test::smallWaves(1))});
    add(0, 7, {test::smallWaves(2)}, {test::smallOutput("gns-gram", test::smallWaves(1))});
    EXPECT_EQ(verdictOn(1).rule, RuleId::fits);
    const auto asked = verdictOn(2);
    EXPECT_EQ(asked.rule, RuleId::outputOfEarlierCall) << asked.summary;
    EXPECT_EQ(asked.role, Role::birth);
    EXPECT_EQ(asked.blame, Blame::undecided) << "a step that is skipped keeps its result, too";
    EXPECT_THAT(asked.summary, HasSubstr(m_run.captures[0].file));
    m_nothingElse = true;
    EXPECT_EQ(verdictOn(2).rule, RuleId::staleOutput);
    EXPECT_EQ(verdictOn(2).blame, Blame::implementation);
}

TEST_F(OtherCalls, TheSameBitsOfANearInputAreAnEarlierOutput)
{
    const auto near = [](double part) {
        auto values = test::smallWaves(1);
        const auto other = test::smallWaves(2);
        std::ranges::transform(values, other, values.begin(), [part](auto a, auto b) { return a + part * b; });
        return values;
    };
    const auto output = test::smallOutput("gns-gram", test::smallWaves(1));
    add(0, 7, {test::smallWaves(1)}, {output});
    add(0, 7, {near(0.02)}, {output});
    const auto asked = verdictOn(2);
    EXPECT_EQ(asked.rule, RuleId::outputOfEarlierCall) << asked.summary;
    EXPECT_EQ(asked.facts.outputOfEarlierOff, 0);
    add(0, 7, {near(1e-5)}, {output});
    EXPECT_EQ(verdictOn(3).kind, "healthy") << "roundings hide so small a difference";
}

TEST_F(OtherCalls, OffByMoreThanRoundingsIsNotHealthy)
{
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    Matrix input(test::smallSize);
    std::ranges::generate(input, [&] { return normal(generator); });
    const auto whole = test::smallOutput("keller-jordan", input);
    auto off = whole;
    for (std::size_t i = 0; i < off.size(); ++i) {
        off[i] *= i % 2 == 0 ? 1.025 : 0.975;
    }
    add(0, 7, {input}, {off});
    add(0, 8, {input}, {whole});
    add(0, 9, {input, input}, {whole, off});
    for (auto& capture : m_run.captures) {
        capture.variant = "keller-jordan:fp32";
    }
    EXPECT_EQ(verdictOn(1).rule, RuleId::fitsInPart) << verdictOn(1).summary;
    EXPECT_THAT(verdictOn(1).summary, HasSubstr("its roundings account for"));
    EXPECT_EQ(verdictOn(2).kind, "healthy");
    EXPECT_EQ(verdictOn(3).rule, RuleId::fitsInPart) << "one healthy matrix does not speak for the other";
}

TEST_F(OtherCalls, OffByMoreThanTf32MakesIsNotHealthyBelowTwoPerCentEither)
{
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    Matrix input(test::smallSize);
    std::ranges::generate(input, [&] { return normal(generator); });
    const auto whole = test::smallOutput("emerging-quintic", input);
    const auto offBy = [&](double part) {
        auto off = whole;
        for (std::size_t i = 0; i < off.size(); ++i) {
            off[i] *= i % 2 == 0 ? 1 + part : 1 - part;
        }
        return off;
    };
    add(0, 7, {input}, {offBy(0.01)});
    add(0, 8, {input}, {offBy(0.001)});
    for (auto& capture : m_run.captures) {
        capture.variant = "emerging-quintic:fp32";
    }
    EXPECT_EQ(verdictOn(1).rule, RuleId::fitsInPart) << verdictOn(1).summary;
    EXPECT_EQ(verdictOn(2).kind, "healthy") << "so far off is any output in bf16";
}

TEST_F(OtherCalls, ASidecarThatIsNotUnderstoodIsSaid)
{
    add(0, 7, {test::smallWaves(1)}, {allNan()});
    m_run.captures[0].variant = "my-own-function";
    m_run.captures[0].step = 41;
    EXPECT_THAT(verdictOn(1).notTestable,
        Contains(Field(&EvidenceLine::text, HasSubstr("it names my-own-function as what ran, which is not known"))));
}

TEST_F(OtherCalls, AnEarlierOutputIsKnownAgainThroughRoundings)
{
    auto again = test::smallOutput("gns-gram", test::smallWaves(1));
    add(0, 7, {test::smallWaves(1)}, {again});
    for (std::size_t i = 0; i < again.size(); ++i) {
        again[i] *= i % 2 == 0 ? 1.003 : 0.997;
    }
    add(0, 7, {test::smallWaves(2)}, {again});
    const auto v = verdictOn(2);
    EXPECT_EQ(v.rule, RuleId::outputOfEarlierCall) << v.summary;
    EXPECT_NEAR(v.facts.outputOfEarlierOff, 0.003, 1e-6);
    EXPECT_THAT(v.summary, HasSubstr("the output is to 0.3 % that of "));
}

TEST_F(OtherCalls, TheOutputOfAnotherMatrixOfTheCallIsStale)
{
    const auto first = test::smallOutput("gns-gram", test::smallWaves());
    add(0, 1, {test::smallWaves(), test::smallWaves(0.7)}, {first, first});
    const auto asked = verdictOn(1);
    EXPECT_EQ(asked.rule, RuleId::outputOfEarlierCall) << asked.summary;
    EXPECT_EQ(asked.facts.outputOfElement, 0);
    m_nothingElse = true;
    EXPECT_EQ(verdictOn(1).rule, RuleId::outputOfEarlierCall)
        << "of a function of one's own two inputs may have one output";
    EXPECT_EQ(verdictOn(1, {"gns-gram"}).rule, RuleId::staleOutput);
    recordVariant("gns-gram");
    EXPECT_THAT(verdictOn(1).summary, HasSubstr("bit for bit that of element 0 of this call"));
}

TEST_F(OtherCalls, AMultipleOfAnInputHasTheSameOutputAndIsFine)
{
    auto twice = test::smallWaves(1);
    for (auto& value : twice) {
        value *= 2;
    }
    // Neither fits anything known, so that only the inputs tell.
    auto output = test::smallOutput("gns-gram", test::smallWaves(1));
    std::ranges::reverse(output);
    add(0, 7, {test::smallWaves(1)}, {output});
    add(0, 7, {twice}, {output});
    m_nothingElse = true;
    EXPECT_EQ(verdictOn(2).rule, RuleId::finiteOfNoKnownVariant);
}

TEST_F(OtherCalls, TheOutputOfAnotherProcessIsNoStaleOne)
{
    add(0, 7, {test::smallWaves(1)}, {test::smallOutput("gns-gram", test::smallWaves(1))});
    add(0, 8, {test::smallWaves(2)}, {test::smallOutput("gns-gram", test::smallWaves(1))});
    m_nothingElse = true;
    EXPECT_EQ(verdictOn(2).rule, RuleId::finiteOfNoKnownVariant);
}

TEST_F(OtherCalls, AFiniteOutputThatFitsNothingBesideAHealthyCallIsABirth)
{
    auto wrong = test::smallOutput("gns-gram", test::smallWaves(2));
    std::ranges::reverse(wrong);
    add(0, 7, {test::smallWaves(1)}, {test::smallOutput("gns-gram", test::smallWaves(1))});
    add(0, 7, {test::smallWaves(2)}, {wrong});
    const auto asked = verdictOn(2);
    EXPECT_EQ(asked.rule, RuleId::unlikeItsControl) << asked.summary;
    EXPECT_EQ(asked.role, Role::birth);
    EXPECT_EQ(asked.blame, Blame::undecided) << "another optimizer may have had this call";
    m_nothingElse = true;
    EXPECT_EQ(verdictOn(2).rule, RuleId::wrongBesideItsControl);
    EXPECT_EQ(verdictOn(2, {"gns-gram"}).rule, RuleId::wrongBesideItsControl);
    EXPECT_EQ(verdictOn(2, {"keller-jordan"}).rule, RuleId::notWhatWasSaid) << "the healthy call is not that either";
}

TEST_F(OtherCalls, BesideAnEpsilonThatMattersAnotherSizeIsNoFault)
{
    auto faint = test::smallWaves(2);
    for (auto& value : faint) {
        value *= 1e-9;
    }
    auto halved = test::smallOutput("gns-gram", faint);
    for (auto& value : halved) {
        value *= 0.5;
    }
    add(0, 7, {test::smallWaves(1)}, {test::smallOutput("gns-gram", test::smallWaves(1))});
    add(0, 7, {faint}, {halved});
    m_nothingElse = true;
    EXPECT_NE(verdictOn(2, {"gns-gram"}).blame, Blame::implementation);
}

TEST_F(OtherCalls, AHealthyCaptureOfTheSameKindTellsWhatRan)
{
    add(0, 7, {loud(1)}, {test::smallOutput("gns-gram", loud(1))});
    add(0, 7, {large()}, {allNan()});
    const auto v = verdictOn(2);
    EXPECT_EQ(v.blame, Blame::implementation) << v.summary;
    EXPECT_THAT(v.speaksFor, Contains(Field(&EvidenceLine::source, "control")));
}

// waves() reach 1.5: their squares keep all their bits in fp16 at 2^-3 of that, few at 2^-12.
TEST_F(OtherCalls, AHealthyCallSpeaksForSmallInputsUntilTheirSquaresVanishInHalf)
{
    const auto scaled = [](double factor) {
        auto values = test::smallWaves();
        std::ranges::for_each(values, [factor](double& value) { value *= factor; });
        return values;
    };
    add(0, 7, {test::smallWaves(1)}, {test::smallOutput("gns-gram", test::smallWaves(1))});
    add(0, 7, {scaled(0x1p-3)}, {allNan()});
    EXPECT_EQ(verdictOn(2).blame, Blame::implementation) << verdictOn(2).summary;
    add(0, 7, {scaled(0x1p-12)}, {allNan()});
    EXPECT_EQ(verdictOn(3).rule, RuleId::normMayVanish);
    EXPECT_TRUE(diagnose::halfLosesSquares(scaled(0x1p-12)));
    EXPECT_FALSE(diagnose::halfLosesSquares(scaled(0x1p-3)));
}

TEST_F(OtherCalls, AControlThatCastsFirstExplainsTheOverflow)
{
    add(0, 7, {test::smallWaves(1)}, {test::smallOutput("deepspeed-gram", test::smallWaves(1))});
    add(0, 7, {large()}, {allNan()});
    const auto v = verdictOn(2);
    EXPECT_EQ(v.blame, Blame::numerics) << v.summary << v.question;
    EXPECT_EQ(v.kind, "overflow in the cast");
}

TEST_F(OtherCalls, AControlThatOnlyFitsLeavesTheFormatOpen)
{
    auto output = test::smallOutput("keller-jordan", test::smallWaves(1));
    for (auto& value : output) {
        value = static_cast<float>(value * 1.001);
    }
    add(0, 7, {test::smallWaves(1)}, {output});
    add(0, 7, {large()}, {allNan()});
    const auto v = verdictOn(2);
    EXPECT_EQ(v.blame, Blame::undecided) << v.summary;
}

TEST_F(OtherCalls, AnotherAttemptIsNoControl)
{
    add(0, 6, {test::smallWaves(1)}, {test::smallOutput("gns-gram", test::smallWaves(1))});
    add(0, 7, {large()}, {allNan()});
    EXPECT_EQ(verdictOn(2).blame, Blame::undecided);
}

TEST_F(OtherCalls, ACorruptMatrixIsNoControl)
{
    auto half = test::smallOutput("gns-gram", test::smallWaves(1));
    std::fill(half.begin(), half.begin() + test::smallSize / 3, 0.25);
    add(0, 7, {test::smallWaves(1), large()}, {half, allNan()});
    EXPECT_EQ(verdictOn(1).variant.how, IdentifiedBy::unknown);
}

TEST_F(OtherCalls, TheSameProcessGivingBothIsNondeterministic)
{
    add(0, 7, {test::smallWaves(2)}, {test::smallOutput("gns-gram", test::smallWaves(2))});
    add(0, 7, {test::smallWaves(2)}, {allNan()});
    EXPECT_EQ(verdictOn(2).rule, RuleId::duplicateMayHaveOtherState) << "a guard may have called again in fp32";
    m_nothingElse = true;
    const auto v = verdictOn(2);
    EXPECT_EQ(v.blame, Blame::nondeterministic) << v.summary;
    EXPECT_EQ(v.speaksFor.front().source, "same input");
    m_nothingElse = false;
    m_run.captures.clear();
    auto tile = test::smallOutput("gns-gram", test::smallWaves(2));
    std::fill_n(tile.begin(), 4, NAN);
    add(0, 7, {test::smallWaves(2)}, {test::smallOutput("gns-gram", test::smallWaves(2))});
    add(0, 7, {test::smallWaves(2)}, {tile});
    EXPECT_TRUE(verdictOn(2).facts.duplicate->sameRest);
    EXPECT_EQ(verdictOn(2).blame, Blame::nondeterministic) << "wrapped, and the rest are the bits of the other";
    for (auto& value : tile) {
        value = static_cast<float>(value * 1.001);
    }
    m_run.captures.pop_back();
    add(0, 7, {test::smallWaves(2)}, {tile});
    EXPECT_FALSE(verdictOn(2).facts.duplicate->sameRest);
}

TEST_F(OtherCalls, AnotherRankWithTheSameBitsAcquitsTheNumbers)
{
    add(1, 8, {test::smallWaves(2)}, {test::smallOutput("gns-gram", test::smallWaves(2))});
    add(0, 7, {test::smallWaves(2)}, {allNan()});
    EXPECT_EQ(verdictOn(2).blame, Blame::undecided) << "the ranks may differ in what else they hold";
    m_nothingElse = true;
    const auto v = verdictOn(2);
    EXPECT_EQ(v.blame, Blame::implementation) << v.summary;
    EXPECT_THAT(v.kind, HasSubstr("or machine"));
    EXPECT_THAT(v.summary, HasSubstr("rank 1 gave a finite output for the very same input"));
}

TEST_F(OtherCalls, ACallThatMayTakeMoreThanItsInputMakesNoTwin)
{
    m_wrapped = false;
    for (const int rank : {0, 1}) {
        m_run.captures.clear();
        m_nothingElse = false;
        add(rank, 7 + rank, {test::smallWaves(2)}, {test::smallOutput("gns-gram", test::smallWaves(2))});
        add(0, 7, {test::smallWaves(2)}, {allNan()});
        const auto v = verdictOn(2);
        EXPECT_EQ(v.blame, Blame::undecided) << v.summary;
        EXPECT_THAT(v.question, HasSubstr("anything besides this input"));
        recordVariant("gns-gram");
        EXPECT_EQ(verdictOn(2).blame, Blame::undecided) << "a name does not say that it took nothing else";
        m_nothingElse = true;
        EXPECT_EQ(verdictOn(2).blame, rank == 0 ? Blame::nondeterministic : Blame::implementation);
    }
}

// What the window's button says must be worth what --nothing-else says.
TEST_F(OtherCalls, ThatNothingElseIsTakenDecidesWhatATwinAsks)
{
    m_wrapped = false;
    for (const int rank : {0, 1}) {
        for (const auto& output : {allNan(), Matrix(test::smallSize, 0)}) {
            m_run.captures.clear();
            add(rank, 7 + rank, {test::smallWaves(2)}, {test::smallOutput("gns-gram", test::smallWaves(2))});
            add(0, 7, {test::smallWaves(2)}, {output});
            m_nothingElse = false;
            const auto asked = verdictOn(2);
            ASSERT_TRUE(diagnose::asksWhatElseIsTaken(asked)) << asked.kind;
            EXPECT_FALSE(diagnose::asksWhatElseRan(asked));
            const auto answers = diagnose::answersOf(asked, {});
            ASSERT_EQ(answers.size(), 2U);
            EXPECT_EQ(answers[0].kind, diagnose::Answer::Kind::inputAlone);
            EXPECT_EQ(answers[1].kind, diagnose::Answer::Kind::takesMore);
            EXPECT_EQ(diagnose::rejudge(asked, answers[1].ticks, {})->blame, Blame::undecided);
            std::vector<std::string> all;
            for (const auto& tick : diagnose::ticksOf(asked, {})) {
                all.push_back(tick.name);
            }
            m_nothingElse = true;
            const auto said = verdictOn(2, all);
            const auto answered = diagnose::rejudge(asked, answers[0].ticks, {});
            ASSERT_TRUE(answered);
            EXPECT_EQ(answered->blame, rank == 0 ? Blame::nondeterministic : Blame::implementation);
            EXPECT_EQ(answered->blame, said.blame);
            EXPECT_EQ(answered->kind, said.kind);
            EXPECT_EQ(answered->summary, said.summary);
            EXPECT_EQ(answered->question, "");
            EXPECT_EQ(answered->speaksFor.front().text, said.speaksFor.front().text);
            EXPECT_EQ(diagnose::rejudge(asked, {}, {})->blame, Blame::undecided) << "taken back";
        }
    }
}

TEST_F(OtherCalls, ATwinIsHeardOfWhatIsTickedToo)
{
    m_nothingElse = true;
    add(0, 7, {large()}, {test::smallOutput("gns-gram", large())});
    add(0, 7, {large()}, {allNan()});
    const auto open = verdictOn(2);
    ASSERT_EQ(open.blame, Blame::undecided);
    EXPECT_TRUE(diagnose::answersOf(open, {}).size() > 1) << "the cast is asked for";
    for (const auto& [ran, blame] :
        {std::pair("gns-gram", Blame::nondeterministic), std::pair("deepspeed-gram", Blame::numerics)}) {
        const auto ticked = diagnose::rejudge(open, {ran}, {});
        ASSERT_TRUE(ticked);
        EXPECT_EQ(ticked->blame, blame) << ran;
        EXPECT_EQ(verdictOn(2, {ran}).blame, blame) << ran;
        const auto& lines = blame == Blame::numerics ? ticked->notTestable : ticked->speaksFor;
        EXPECT_THAT(lines, Contains(Field(&EvidenceLine::source, "same input")));
    }
}

TEST_F(OtherCalls, ZerosForTheInputOfAHealthyCallAreToldAsSuch)
{
    const Matrix zeros(test::smallSize, 0);
    for (const bool alone : {true, false}) {
        m_nothingElse = alone;
        m_run.captures.clear();
        add(0, 7, {test::smallWaves(2)}, {test::smallOutput("gns-gram", test::smallWaves(2))});
        add(0, 7, {test::smallWaves(2)}, {zeros});
        const auto v = verdictOn(2);
        EXPECT_EQ(v.blame, alone ? Blame::nondeterministic : Blame::undecided) << "made again in another format";
        EXPECT_THAT(v.summary, HasSubstr("every value is zero"));
    }
}

TEST_F(OtherCalls, ACoefficientMayHaveGoneBadSinceTheHealthyCall)
{
    m_wrapped = false;
    add(0, 7, {loud(1)}, {test::smallOutput("gns-gram", loud(1))});
    add(0, 7, {large()}, {allNan()});
    const auto v = verdictOn(2);
    EXPECT_EQ(v.blame, Blame::undecided) << v.summary;
    EXPECT_EQ(v.rule, RuleId::codeBesides);
    m_run.captures.clear();
    add(0, 7, {loud(1), large()}, {test::smallOutput("gns-gram", loud(1)), allNan()});
    EXPECT_EQ(verdictOn(1).rule, RuleId::codeBesides) << "it may be one for each matrix, as an expert's is";
    m_wrapped = true;
    m_run.captures.clear();
    add(0, 7, {loud(1), large()}, {test::smallOutput("gns-gram", loud(1)), allNan()});
    EXPECT_EQ(verdictOn(1).blame, Blame::implementation) << "wrapped, and the other matrix is gns-gram's bit for bit";
}

TEST_F(OtherCalls, ProofInOneMatrixOutweighsAnOpenQuestionInAnother)
{
    auto scattered = test::smallOutput("gns-gram", test::smallWaves(2));
    for (auto i = std::size_t {3}; i < scattered.size(); i += 41) {
        scattered[i] = NAN;
    }
    Matrix tile(test::smallSize, 0);
    std::fill_n(tile.begin(), 4, NAN);
    // A cast may have lost what is scattered; element 2 is a zero matrix that came back as not zero.
    add(0, 7, {test::smallWaves(1), test::smallWaves(2), Matrix(test::smallSize, 0)},
        {test::smallOutput("gns-gram", test::smallWaves(1)), scattered, tile});
    const auto v = verdictOn(1);
    EXPECT_EQ(v.blame, Blame::implementation) << v.summary;
    EXPECT_EQ(v.facts.damage.batch, 2);
}

TEST_F(OtherCalls, TheControlThatTellsMostIsTaken)
{
    auto near = test::smallOutput("keller-jordan", loud(1));
    for (auto& value : near) {
        value = static_cast<float>(value * 1.001);
    }
    add(0, 7, {loud(1)}, {near});
    add(0, 7, {loud(2)}, {test::smallOutput("keller-jordan", loud(2))});
    add(0, 7, {large()}, {allNan()});
    const auto v = verdictOn(3);
    EXPECT_EQ(v.blame, Blame::implementation) << v.summary << v.question;
    EXPECT_THAT(v.speaksFor,
        Contains(
            Field(&EvidenceLine::text, HasSubstr(fmt::format("kind tells what ran: {}", m_run.captures[1].file)))));
}

// A Gram form that ran away may have been tried again in the standard form, which has its schedule.
TEST_F(OtherCalls, ATwinProvesNothingWhereAFormOfItsScheduleMayRunAway)
{
    add(0, 7, {test::smallWaves(2)}, {test::smallOutput("cans", test::smallWaves(2))});
    add(0, 7, {test::smallWaves(2)}, {allNan()});
    const auto v = verdictOn(2);
    EXPECT_EQ(v.blame, Blame::undecided) << v.summary;
    EXPECT_THAT(v.question, HasSubstr("cans"));
    EXPECT_THAT(v.notTestable, Contains(Field(&EvidenceLine::source, "same input")));
    m_run.captures.clear();
    add(0, 7, {test::smallWaves(2)}, {test::smallOutput("dion-ns5", test::smallWaves(2))});
    add(0, 7, {test::smallWaves(2)}, {allNan()});
    EXPECT_EQ(verdictOn(2).rule, RuleId::duplicateMayHaveOtherState) << "no form of this schedule runs away";
}

// That a neighbour went well and is of no known variant says more than the variants that are known.
TEST_F(OtherCalls, AHealthyMatrixOfAnUnknownFunctionMakesItAStranger)
{
    auto foreign = test::smallWaves(1);
    for (auto& value : foreign) {
        value = std::tanh(3 * value);
    }
    add(0, 7, {test::smallWaves(1), test::smallWaves(2)}, {foreign, allNan()});
    const auto v = verdictOn(1);
    EXPECT_EQ(v.blame, Blame::undecided) << v.summary;
    EXPECT_EQ(v.kind, "matches no known variant");
    EXPECT_THAT(v.summary, HasSubstr("a call of this kind that went well is not the result of any known variant"));
    EXPECT_THAT(v.notTestable, Contains(Field(&EvidenceLine::text, HasSubstr("element 0 of this call went well"))));
}

// Which function ran is not in a dump: the other rank may have normalised in fp32 what this one cast to fp16 first.
TEST_F(OtherCalls, ATwinProvesNothingWhereAFunctionCouldHaveDoneIt)
{
    for (const int pid : {7, 8}) {
        m_run.captures.clear();
        const int rank = pid == 7 ? 0 : 1;
        add(rank, pid, {large()}, {test::smallOutput("gns-gram", large())});
        add(0, 7, {large()}, {allNan()});
        const auto id = m_run.captures.back().id;
        const auto v = verdictOn(static_cast<int>(id));
        EXPECT_EQ(v.blame, Blame::undecided) << v.summary;
        EXPECT_FALSE(v.question.empty());
        EXPECT_THAT(v.notTestable, Contains(Field(&EvidenceLine::source, "same input")));
    }
}

TEST_F(OtherCalls, FunctionsThatDifferMakeNoTwin)
{
    add(1, 8, {test::smallWaves(2)}, {test::smallOutput("gns-gram", test::smallWaves(2))});
    add(0, 7, {test::smallWaves(2)}, {allNan()});
    ASSERT_NE(diagnose::cleanCallOf({}, m_run.captures[1], diagnose::CaptureIndex(m_run)), nullptr);
    m_run.captures[0].variant = "gns-gram";
    EXPECT_EQ(diagnose::cleanCallOf({}, m_run.captures[1], diagnose::CaptureIndex(m_run)), nullptr)
        << "one sidecar says what ran, nothing says it of the other";
    m_run.captures[1].variant = "deepspeed-gram";
    EXPECT_EQ(diagnose::cleanCallOf({}, m_run.captures[1], diagnose::CaptureIndex(m_run)), nullptr);
    m_run.captures[1].variant = "gns-gram";
    EXPECT_NE(diagnose::cleanCallOf({}, m_run.captures[1], diagnose::CaptureIndex(m_run)), nullptr);
    m_run.captures[0].output->dtype = DType::float64;
    EXPECT_EQ(diagnose::cleanCallOf({}, m_run.captures[1], diagnose::CaptureIndex(m_run)), nullptr);
}

TEST_F(OtherCalls, NumbersThatExplainOneMatrixAcquitNobodyOfAnother)
{
    auto tile = test::smallOutput("deepspeed-gram", test::smallWaves(2));
    std::fill_n(tile.begin(), 4, NAN);
    // Four that the cast explains come before the one that it does not.
    add(0, 7, {large(), large(), large(), large(), test::smallWaves(2)},
        {allNan(), allNan(), allNan(), allNan(), tile});
    m_nothingElse = true;
    const auto v = verdictOn(1, {"deepspeed-gram"});
    EXPECT_EQ(v.blame, Blame::implementation) << v.summary;
    EXPECT_EQ(v.facts.damage.batch, 4);
    EXPECT_THAT(
        v.notTestable, Contains(Field(&EvidenceLine::text, HasSubstr("matrix 0 of this call ended otherwise"))));
}

TEST_F(OtherCalls, ARankThatWasWrongTwiceIsAskedAboutItsCard)
{
    m_nothingElse = true;
    add(1, 8, {test::smallWaves(2)}, {test::smallOutput("gns-gram", test::smallWaves(2))});
    add(0, 7, {test::smallWaves(2)}, {allNan()});
    add(1, 8, {test::smallWaves(3)}, {test::smallOutput("gns-gram", test::smallWaves(3))});
    add(0, 7, {test::smallWaves(3)}, {allNan()});
    EXPECT_EQ(verdictOn(2).rule, RuleId::rankWrongAgain);
    EXPECT_EQ(verdictOn(4).blame, Blame::undecided) << "its card, or a build that this rank alone has";
    EXPECT_THAT(verdictOn(4).question, HasSubstr("move with the card"));
    EXPECT_THAT(verdictOn(4).kind, HasSubstr("this rank was wrong 2 times"));
    m_run.captures[3].pid = 9;
    EXPECT_NE(verdictOn(4).blame, Blame::machine) << "after a restart the rank may sit on another GPU";
}

TEST_F(OtherCalls, ABitOfDifferenceMakesNoTwin)
{
    auto near = large();
    std::swap(near[3], near[4]);
    add(1, 8, {near}, {test::smallOutput("gns-gram", near)});
    add(0, 7, {large()}, {allNan()});
    EXPECT_TRUE(diagnose::mayShareInput(m_run.captures[1], m_run.captures[0])) << "their counts are the same";
    EXPECT_EQ(diagnose::cleanCallOf({}, m_run.captures[1], diagnose::CaptureIndex(m_run)), nullptr);
}

TEST_F(OtherCalls, RanksWithoutADumpAreNoEvidence)
{
    add(0, 7, {test::smallWaves()}, {allNan()});
    Series series;
    series.rank = 3;
    m_run.series.push_back(series);
    EXPECT_THAT(verdictOn(1).notTestable, Contains(Field(&EvidenceLine::text, HasSubstr("whether rank 3 went wrong"))));
    m_run.series.clear();
    EXPECT_THAT(verdictOn(1).notTestable, Not(Contains(Field(&EvidenceLine::source, "ranks"))));
}

} // namespace
} // namespace nanscope
