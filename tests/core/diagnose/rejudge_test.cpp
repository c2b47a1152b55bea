// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// A verdict judged again over fewer members must be what a new diagnosis would say, without a replay.
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "core/base/jsonanswer.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/rejudge.h"
#include "core/ingest/ingest.h"
#include "core/json/records.h"
#include "core/model/verdict.h"
#include "core/replay/program/formats.h"
#include "core/report/report.h"
#include "tests/core/diagnose/healthycall.h"
#include "tests/core/diagnose/madefacts.h"
#include "tests/core/diagnose/runmaker.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::HasSubstr;

using test::Matrix;
using Names = std::vector<std::string>;

std::string wholeText(const CaptureVerdict& verdict)
{
    Diagnosis diagnosis;
    diagnosis.captures = {verdict};
    return diagnosisAnswer(diagnosis).text(true);
}

/// The verdict as text, without the facts that it was drawn from: equal texts are equal verdicts.
std::string textOf(CaptureVerdict verdict)
{
    auto damage = std::move(verdict.facts.damage);
    verdict.facts = {};
    verdict.facts.damage = std::move(damage);
    return wholeText(verdict);
}

CaptureVerdict storedAndRead(const CaptureVerdict& verdict)
{
    const auto back = diagnosisFromJson(wholeText(verdict));
    EXPECT_TRUE(back);
    return back->captures.front();
}

Names namesOf(const std::vector<diagnose::Tick>& ticks)
{
    Names names;
    for (const auto& tick : ticks) {
        names.push_back(tick.name);
    }
    return names;
}

CaptureVerdict rejudged(const CaptureVerdict& judged, const Names& ticked)
{
    const auto verdict = diagnose::rejudge(judged, ticked, {});
    EXPECT_TRUE(verdict) << (verdict ? "" : sentence(verdict.error()));
    return verdict.value_or(CaptureVerdict {});
}

std::string refusal(const CaptureVerdict& judged, const Names& ticked)
{
    const auto verdict = diagnose::rejudge(judged, ticked, {});
    return verdict ? "judged: " + verdict->summary : sentence(verdict.error());
}

/// All subsets are too many where every published variant is a member.
std::vector<Names> onesAndPairs(const Names& names)
{
    std::vector<Names> all;
    for (std::size_t i = 0; i < names.size(); ++i) {
        all.push_back({names[i]});
        for (std::size_t j = 0; j < i; ++j) {
            all.push_back({names[j], names[i]});
        }
    }
    return all;
}

/// Every subset of the ticks but the empty one.
std::vector<Names> subsets(const Names& ticks)
{
    std::vector<Names> all;
    for (std::size_t mask = 1; mask < (std::size_t {1} << ticks.size()); ++mask) {
        Names subset;
        for (std::size_t i = 0; i < ticks.size(); ++i) {
            if ((mask >> i & 1U) != 0) {
                subset.push_back(ticks[i]);
            }
        }
        all.push_back(std::move(subset));
    }
    return all;
}

Matrix wavesUpTo(double largest = 0)
{
    Matrix values(test::smallSize);
    for (std::size_t i = 0; i < test::smallSize; ++i) {
        const auto x = static_cast<double>(i);
        values[i] = replay::roundTo(Precision::bf16, std::sin(1.7 * x) + 0.5 * std::cos(0.013 * x * x));
    }
    values[0] = largest > 0 ? largest : values[0];
    return values;
}

tensorfile::TensorToWrite oneMatrix(const Matrix& values)
{
    return test::smallTensor({values});
}

/// A run of one capture, diagnosed afresh as often as wanted.
class Rejudging : public testing::Test
{
protected:
    void dump(const Matrix& input, const Matrix& output)
    {
        const auto path = m_folder / "x.pt";
        EXPECT_TRUE(
            tensorfile::writePt(path, {{"input", oneMatrix(input)}, {"output", oneMatrix(output)}, {"epsilon", 1e-8}}));
        auto file = tensorfile::openCapture(path);
        ASSERT_TRUE(file && tensorfile::scanCapture(*file));
        m_run.captures = {file->capture};
    }

    /// NaN where a healthy iteration had values: the last row was never written.
    void dumpUnwritten(const std::string& variant)
    {
        auto output = test::smallOutput(variant, wavesUpTo());
        std::fill(output.end() - test::smallCols, output.end(), NAN);
        dump(wavesUpTo(), output);
    }

    CaptureVerdict diagnosed(const Names& ran = {})
    {
        const auto diagnosis = diagnose::diagnose(m_run, {ran});
        EXPECT_TRUE(diagnosis) << (diagnosis ? "" : sentence(diagnosis.error()));
        return diagnosis ? diagnosis->captures.front() : CaptureVerdict {};
    }

    /// The decision alone: what --ran names is replayed, and a tick may have been forecast.
    void expectLikeRan(const CaptureVerdict& judged, const Names& ticked)
    {
        const auto again = rejudged(judged, ticked);
        const auto ran = diagnosed(ticked);
        const auto what = testing::PrintToString(ticked);
        EXPECT_EQ(again.rule, ran.rule) << what;
        EXPECT_EQ(again.blame, ran.blame) << what;
        EXPECT_EQ(again.role, ran.role) << what;
        EXPECT_EQ(again.marginal, ran.marginal) << what;
        EXPECT_EQ(again.kind, ran.kind) << what;
        EXPECT_EQ(again.question.empty(), ran.question.empty()) << what;
    }

    TemporaryFolder m_folder;
    RunData m_run;
};

TEST(RejudgingTheSample, AllTicksAndNoneGiveTheVerdictItself)
{
    const auto run = ingest::readRun(NANSCOPE_SAMPLE);
    ASSERT_TRUE(run);
    const auto diagnosis = diagnose::diagnose(*run);
    ASSERT_TRUE(diagnosis);
    int asked = 0;
    for (const auto& verdict : diagnosis->captures) {
        const auto judged = storedAndRead(verdict);
        EXPECT_TRUE(wholeText(judged) == wholeText(verdict)) << "nothing is lost on the way through the session";
        if (judged.facts.replayed) {
            ++asked;
            EXPECT_TRUE(textOf(rejudged(judged, namesOf(diagnose::ticksOf(judged, {})))) == textOf(verdict));
            EXPECT_TRUE(textOf(rejudged(judged, {})) == textOf(verdict));
        }
    }
    EXPECT_EQ(asked, diagnosis->triage.births);
}

TEST(RejudgingTheSample, EverySubsetIsWhatANewDiagnosisSays)
{
    const auto run = ingest::readRun(NANSCOPE_SAMPLE);
    ASSERT_TRUE(run);
    const auto judged = storedAndRead(diagnose::diagnose(*run)->captures.front());
    const auto all = namesOf(diagnose::ticksOf(judged, {}));
    EXPECT_EQ(all, (Names {"gns-gram", "gns-gram-0.1.6", "gns-standard", "gns-standard-0.1.6"}));
    for (const auto& ticked : subsets(all)) {
        const auto expected = ticked == all ? judged : diagnose::diagnose(*run, {ticked})->captures.front();
        EXPECT_TRUE(textOf(rejudged(judged, ticked)) == textOf(expected)) << testing::PrintToString(ticked);
    }
}

TEST_F(Rejudging, AnOverflowInTheCastIsDecidedByEitherAnswer)
{
    dump(wavesUpTo(70000), Matrix(test::smallSize, NAN));
    const auto open = storedAndRead(diagnosed());
    ASSERT_EQ(open.blame, Blame::undecided) << open.summary;
    EXPECT_EQ(rejudged(open, {"deepspeed-gram"}).blame, Blame::numerics);
    EXPECT_EQ(rejudged(open, {"gns-gram"}).rule, RuleId::codeBesides) << "other code may have done it";
    EXPECT_EQ(rejudged(open, {"gns-gram", std::string(diagnose::nothingElse)}).blame, Blame::implementation);
    expectLikeRan(open, {"deepspeed-gram"});
    expectLikeRan(open, {"gns-gram"});
    expectLikeRan(open, {"keller-jordan", "deepspeed-gram"});
    expectLikeRan(open, {"keller-jordan", "dion-ns5", "gns-standard"});
}

TEST_F(Rejudging, AKeptAnswerHoldsForItsCaptureAlone)
{
    dump(wavesUpTo(70000), Matrix(test::smallSize, NAN));
    const auto judged = storedAndRead(diagnosed());
    const auto answers = diagnose::answersOf(judged, {});
    ASSERT_FALSE(answers.empty());
    Observations observed;
    observed.answers = {{judged.capture, answers[0].ticks}};
    EXPECT_EQ(textOf(diagnose::withAnswers(judged, observed, {})), textOf(rejudged(judged, answers[0].ticks)));
    EXPECT_NE(textOf(diagnose::withAnswers(judged, observed, {})), textOf(judged));
    observed.answers[0].capture = "another.pt";
    EXPECT_EQ(textOf(diagnose::withAnswers(judged, observed, {})), textOf(judged));
    observed.answers = {{judged.capture, {"never-replayed"}}};
    EXPECT_EQ(textOf(diagnose::withAnswers(judged, observed, {})), textOf(judged)) << "only a replay could tell";
}

TEST_F(Rejudging, NobodyIsAccusedWhereAMemberCouldHaveDoneIt)
{
    dump(wavesUpTo(70000), Matrix(test::smallSize, NAN));
    const auto open = diagnosed();
    int accused = 0;
    for (const auto& ticked : onesAndPairs(namesOf(diagnose::ticksOf(open, {})))) {
        auto alone = ticked;
        alone.emplace_back(diagnose::nothingElse);
        const auto verdict = rejudged(open, alone);
        const bool accuses = verdict.blame == Blame::implementation || verdict.blame == Blame::machine;
        accused += accuses ? 1 : 0;
        for (const auto& m : verdict.members) {
            EXPECT_FALSE(accuses && (m.reproducing > 0 || m.finite < m.roundings)) << testing::PrintToString(ticked);
        }
        EXPECT_EQ(verdict.members.size(), ticked.size());
    }
    EXPECT_GT(accused, 0);
}

TEST_F(Rejudging, LogsAndHardwareErrorsAreHeardAgain)
{
    dumpUnwritten("gns-gram");
    Series norms;
    norms.name = "grad_norm";
    norms.source = "console.log";
    for (std::int64_t i = 0; i < 12; ++i) {
        norms.points.push_back({i, std::pow(2.0, i), PointState::finite, i + 1});
    }
    m_run.series = {norms};
    Event xid;
    xid.kind = EventKind::machine;
    m_run.captures[0].nothingElse = true;
    m_run.captures[0].pid = 7;
    say(xid, "NVRM: Xid (PCI:0000:3b:00): 94, pid=7, Contained");
    xid.source = "kern.log";
    xid.line = 12;
    m_run.events = {xid};
    const auto judged = storedAndRead(diagnosed());
    ASSERT_GT(diagnose::ticksOf(judged, {}).size(), 1U);
    EXPECT_EQ(rejudged(judged, {"gns-gram"}).blame, Blame::machine);
    expectLikeRan(judged, {"gns-gram"});
    m_run.events.clear();
    EXPECT_EQ(rejudged(diagnosed(), {"gns-gram"}).blame, Blame::implementation);
}

TEST_F(Rejudging, ATickThatWasNotReplayedMustBeReplayed)
{
    dumpUnwritten("gns-gram");
    const auto judged = diagnosed();
    EXPECT_THAT(refusal(judged, {"gns-gram", "keller-jordan"}), HasSubstr("keller-jordan was not replayed"));
    EXPECT_THAT(refusal(judged, {"gns-gram:fp32"}), HasSubstr("gns-gram:fp32 was not replayed"));
    EXPECT_THAT(refusal(judged, {"no-such-variant"}), HasSubstr("not replayed"));
}

TEST_F(Rejudging, WithoutTheUsersWordTheRestMustBeReplayed)
{
    dumpUnwritten("gns-gram");
    const auto told = diagnosed({"gns-gram", "keller-jordan"});
    EXPECT_THAT(refusal(told, {}), HasSubstr("judge again without --ran"));
    expectLikeRan(told, {"gns-gram"});
}

TEST_F(Rejudging, ASidecarLeavesOnlyTheFormatToTick)
{
    dump(Matrix(test::smallSize, 0), Matrix(test::smallSize, NAN));
    m_run.captures[0].variant = "dion-ns5";
    const auto judged = diagnosed();
    EXPECT_TRUE(textOf(rejudged(judged, {"dion-ns5"})) == textOf(judged));
    EXPECT_TRUE(textOf(rejudged(judged, {})) == textOf(judged));
    EXPECT_THAT(refusal(judged, {"gns-gram"}), HasSubstr("not replayed"));
    EXPECT_EQ(rejudged(judged, {"dion-ns5:fp16"}).blame, Blame::numerics);
    EXPECT_EQ(rejudged(judged, {"dion-ns5:bf16"}).variant.how, IdentifiedBy::sidecar);
}

TEST_F(Rejudging, AVerdictOfAnOlderVersionMustBeJudgedAgain)
{
    dumpUnwritten("gns-gram");
    auto judged = diagnosed();
    judged.facts.replayed = false;
    EXPECT_TRUE(diagnose::ticksOf(judged, {}).empty());
    EXPECT_TRUE(diagnose::answersOf(judged, {}).empty());
    EXPECT_THAT(refusal(judged, {"gns-gram"}), HasSubstr("judge it again"));
}

TEST_F(Rejudging, AZeroMatrixIsTickedByFormat)
{
    dump(Matrix(test::smallSize, 0), Matrix(test::smallSize, NAN));
    const auto open = diagnosed();
    const auto ticks = namesOf(diagnose::ticksOf(open, {}));
    EXPECT_THAT(ticks, testing::IsSupersetOf({"dion-ns5:bf16", "dion-ns5:fp16", "gns-gram"}));
    EXPECT_EQ(rejudged(open, ticks).blame, open.blame);
    expectLikeRan(open, {"dion-ns5:bf16"});
    expectLikeRan(open, {"dion-ns5:fp16"});
    // The name alone says nothing of the format, so both stay: a bare name must not turn 0 / 0 into a fault.
    EXPECT_EQ(rejudged(open, {"dion-ns5"}).members.size(), 2U);
    EXPECT_NE(rejudged(open, {"dion-ns5"}).blame, Blame::implementation);
}

TEST_F(Rejudging, RulingOutDoesNotMakeAnUnknownFunctionKnown)
{
    auto output = wavesUpTo();
    output[0] = NAN;
    dump(wavesUpTo(), output);
    const auto open = storedAndRead(diagnosed());
    ASSERT_TRUE(open.variant.matchesNone);
    auto fewer = namesOf(diagnose::ticksOf(open, {}));
    fewer.pop_back();
    EXPECT_EQ(rejudged(open, fewer).blame, Blame::undecided);
    EXPECT_EQ(rejudged(open, fewer).kind, "matches no known variant");
    EXPECT_TRUE(rejudged(open, fewer).variant.matchesNone);
    expectLikeRan(open, {"gns-gram"});
    EXPECT_TRUE(diagnose::answersOf(open, {}).empty());
}

/// Verdicts with members made up to reach every rule.
class Made : public test::MadeFacts
{
public:
    Made()
        : MadeFacts(DamageShape::singleElement, "[1, 1] is NaN")
    { }

    Made& member(const std::string& variant, int finite, int reproducing, double slack = 5)
    {
        MadeFacts::member(variant, finite, reproducing, slack);
        facts.identified.names.push_back(variant);
        return *this;
    }

    /// What the rules say of some of the members, had the others never been replayed.
    CaptureVerdict asked(const Names& ticked) const
    {
        auto fewer = *this;
        std::erase_if(fewer.facts.members, [&](const MemberResult& member) {
            return std::find(ticked.begin(), ticked.end(), member.variant) == ticked.end();
        });
        fewer.facts.identified.how = IdentifiedBy::given;
        fewer.facts.identified.names = ticked;
        return fewer.judged();
    }

    void expectTheRules() const
    {
        for (const auto& ticked : subsets(facts.identified.names)) {
            if (ticked.size() == facts.members.size()) {
                continue;
            }
            const auto expected = asked(ticked);
            const auto found = rejudged(judged(), ticked);
            EXPECT_EQ(found.blame, expected.blame) << testing::PrintToString(ticked);
            EXPECT_EQ(found.marginal, expected.marginal);
            EXPECT_EQ(found.kind, expected.kind);
            EXPECT_EQ(found.summary, expected.summary);
            EXPECT_EQ(found.question, expected.question);
        }
    }
};

TEST(RejudgingMadeUpMembers, IsWhatTheRulesSayOfEverySubset)
{
    Made()
        .member("gns-gram", 8, 0)
        .member("deepspeed-gram", 0, 8)
        .member("keller-jordan", 3, 5)
        .member("polar-express-unprotected", 5, 0)
        .member("dion-ns5", 8, 0, 0.5)
        .expectTheRules();
    Made zero;
    zero.zeroInput();
    zero.member("gns-gram", 8, 0).member("dion-ns5", 0, 8).member("torch-muon", 8, 0).expectTheRules();
}

TEST(RejudgingMadeUpMembers, AFormThatOnlyExplainsIsATickToo)
{
    Made made;
    made.member("gns-gram", 8, 0).member("gram-no-restart", 0, 8);
    made.facts.identified.names = {"gns-gram"};
    made.facts.identified.how = IdentifiedBy::fit;
    EXPECT_EQ(namesOf(diagnose::ticksOf(made.judged(), {})), (Names {"gns-gram", "gram-no-restart"}));
    EXPECT_EQ(rejudged(made.judged(), {"gns-gram"}).rule, RuleId::codeBesides) << "nothing but the name says so";
    EXPECT_EQ(rejudged(made.judged(), {"gns-gram", std::string(diagnose::nothingElse)}).blame, Blame::implementation);
    EXPECT_EQ(rejudged(made.judged(), {"gram-no-restart"}).blame, Blame::numerics);
}

TEST(RejudgingMadeUpMembers, FiniteCorruptionHangsOnTheVariantItWasMeasuredAgainst)
{
    Made made;
    made.finiteOutput();
    auto& facts = made.facts;
    facts.role = Role::healthy;
    facts.identified.names = {"gns-gram", "gns-standard"};
    facts.identified.all = {{"gns-gram", 0.004}, {"gns-standard", 0.005}};
    facts.identified.how = IdentifiedBy::fit;
    facts.identified.fit = 0.004;
    facts.fit = {true, true, "gns-gram", 1, 0, 0};
    facts.misplaced = true;
    EXPECT_EQ(namesOf(diagnose::ticksOf(made.judged(), {})), (Names {"gns-gram", "gns-standard"}));
    const auto kept = rejudged(made.judged(), {"gns-gram"});
    EXPECT_EQ(kept.kind, "finite corruption");
    EXPECT_EQ(kept.role, Role::birth);
    EXPECT_THAT(refusal(made.judged(), {"gns-standard"}), HasSubstr("measured against gns-gram only"));
    // Without the damage nothing is left to accuse, and the capture is no birth any more.
    facts.fit.localDamage = false;
    EXPECT_EQ(rejudged(made.judged(), {"gns-gram"}).role, Role::healthy);
    EXPECT_TRUE(rejudged(made.judged(), {"gns-gram"}).next.empty());
}

TEST(RejudgingMadeUpMembers, TicksCarryTheirFit)
{
    Made made;
    made.member("gns-gram", 8, 0).member("dion-ns5", 8, 0);
    made.facts.identified.all = {{"gns-gram", 0.004}};
    EXPECT_EQ(diagnose::ticksOf(made.judged(), {})[0].fit, 0.004);
    EXPECT_EQ(diagnose::ticksOf(made.judged(), {})[1].fit, std::nullopt);
    EXPECT_EQ(diagnose::ticksOf(made.judged(), {})[1].precision, "bf16");
}

TEST(Answers, ThatNothingElseRanIsAWordLikeRan)
{
    Made made;
    made.member("gns-gram", 8, 0);
    made.facts.dumpedByWrapper = false;
    ASSERT_TRUE(diagnose::asksWhatElseRan(made.judged()));
    const auto answers = diagnose::answersOf(made.judged(), {});
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0].kind, diagnose::Answer::Kind::nothingElse);
    EXPECT_EQ(answers[0].ticks, (Names {"gns-gram", std::string(diagnose::nothingElse)}));
    EXPECT_EQ(rejudged(made.judged(), {"gns-gram"}).blame, Blame::undecided) << "all ticks say nothing";
    EXPECT_EQ(rejudged(made.judged(), answers[0].ticks).blame, Blame::implementation);
    EXPECT_EQ(rejudged(made.judged(), {std::string(diagnose::nothingElse)}).blame, Blame::implementation);
}

TEST(Answers, ThatOtherCodeRanEndsTheQuestion)
{
    Made made;
    made.member("gns-gram", 8, 0);
    made.facts.dumpedByWrapper = false;
    const auto yes = diagnose::answersOf(made.judged(), {}).back();
    EXPECT_EQ(yes.kind, diagnose::Answer::Kind::otherCode);
    const auto said = rejudged(made.judged(), yes.ticks);
    EXPECT_EQ(said.blame, Blame::undecided);
    EXPECT_FALSE(diagnose::asksWhatElseRan(said));
    EXPECT_TRUE(diagnose::answersOf(said, {}).empty());
    EXPECT_TRUE(said.question.starts_with("what does the iteration alone make of its input?")) << said.question;
    EXPECT_TRUE(said.next.front().what.starts_with("wrap the iteration alone")) << said.next.front().what;
    EXPECT_EQ(rejudged(said, {std::string(diagnose::nothingElse)}).blame, Blame::implementation) << "taken back";
    made.facts.nothingElse = made.facts.nothingElseBySidecar = true;
    ASSERT_EQ(made.judged().blame, Blame::implementation);
    EXPECT_EQ(rejudged(made.judged(), {std::string(diagnose::otherCode)}).blame, Blame::undecided)
        << "it takes back what a sidecar says";
}

TEST(Answers, ThatMoreRanThanWasNamedIsOne)
{
    Made made;
    made.member("gns-gram", 8, 0);
    made.facts.ran = {"gns-gram"};
    made.facts.control.reset();
    made.facts.fit.compared = true;
    made.facts.identified.names = {"gns-gram"};
    made.facts.identified.all = {{"gns-gram", 0.7}};
    made.facts.identified.fit = 0.7;
    ASSERT_EQ(made.judged().rule, RuleId::nameContradicted);
    EXPECT_TRUE(made.judged().question.ends_with("(--other-code says that more than it ran)"))
        << made.judged().question;
    const auto answers = diagnose::answersOf(made.judged(), {});
    ASSERT_EQ(answers.size(), 1U);
    const auto said = rejudged(made.judged(), answers.front().ticks);
    EXPECT_TRUE(said.question.starts_with("what does the iteration alone make of its input?")) << said.question;
    EXPECT_TRUE(diagnose::answersOf(said, {}).empty());
    made.facts.otherCode = true;
    ASSERT_EQ(made.judged().rule, RuleId::nameContradicted) << "the name was said with --ran";
    EXPECT_EQ(made.judged().question, said.question);
}

TEST(Answers, AreSaidAlikeOfWhatAsksTheSameOfTheSameFunction)
{
    Made made;
    made.member("gns-gram", 8, 0);
    made.facts.dumpedByWrapper = false;
    const auto captureOf = [](const Made& from, const char* file) {
        auto verdict = from.judged();
        verdict.capture = file;
        return verdict;
    };
    Made other = made;
    other.facts.scene.function = "mine:orthogonalize";
    Made open;
    open.member("gns-gram", 8, 0).member("polar-express-unprotected", 5, 0).member("dion-ns5", 8, 0);
    Made fewer;
    fewer.member("gns-gram", 8, 0).member("polar-express-unprotected", 5, 0);
    const std::vector<CaptureVerdict> captures {captureOf(made, "a.pt"), captureOf(made, "b.pt"),
        captureOf(made, "c.pt"), captureOf(other, "other.pt"), captureOf(open, "open.pt"), captureOf(open, "open2.pt"),
        captureOf(fewer, "fewer.pt")};
    const auto filesOf = [&](const KeptAnswer& said) {
        Names files;
        for (const auto& answer : diagnose::answersAlike(captures, said, {said, {"c.pt", {"other-code"}}}, {})) {
            files.push_back(answer.capture + ": " + testing::PrintToString(answer.ticks));
        }
        return files;
    };
    EXPECT_EQ(filesOf({"a.pt", {"gns-gram", "nothing-else"}}), Names {R"(b.pt: { "nothing-else" })"})
        << "another function is another question, and c.pt has its answer";
    EXPECT_EQ(filesOf({"open.pt", {"dion-ns5"}}), Names {R"(open2.pt: { "dion-ns5" })"})
        << "not replayed for the other";
    EXPECT_EQ(filesOf({"open.pt", {"gns-gram", "dion-ns5"}}),
        (Names {R"(open2.pt: { "gns-gram", "dion-ns5" })", R"(fewer.pt: { "gns-gram" })"}));
    EXPECT_TRUE(filesOf({"a.pt", {}}).empty());
    EXPECT_TRUE(filesOf({"gone.pt", {"nothing-else"}}).empty());
}

TEST(Answers, WhetherOtherCodeSkipsTheUpdateIsAskedOfAnOutputOfZeros)
{
    Made made;
    made.finiteOutput();
    made.facts.outputZero = true;
    made.member("gns-gram", 8, 0);
    ASSERT_EQ(made.judged().rule, RuleId::allZero);
    const auto answers = diagnose::answersOf(made.judged(), {});
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0].kind, diagnose::Answer::Kind::nothingElse);
    EXPECT_EQ(answers[1].kind, diagnose::Answer::Kind::otherCode);
    const auto no = rejudged(made.judged(), answers[0].ticks);
    EXPECT_THAT(no.question, HasSubstr("a dump that waits for the kernels"));
    EXPECT_TRUE(diagnose::answersOf(no, {}).empty());
    EXPECT_THAT(rejudged(made.judged(), answers[1].ticks).question, HasSubstr("the iteration alone"));
}

TEST(Answers, OfAZeroMatrixTheEpsilonComesBeforeOtherCode)
{
    Made made;
    made.member("gns-gram", 8, 0);
    made.zeroInput();
    made.facts.damage.shape = DamageShape::wholeElement;
    EXPECT_EQ(made.judged().rule, RuleId::zeroInAllBadOut);
    EXPECT_FALSE(diagnose::asksWhatElseRan(made.judged()));
    EXPECT_TRUE(diagnose::asksEpsilon(made.judged()));
    const auto answers = diagnose::answersOf(made.judged(), {});
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].kind, diagnose::Answer::Kind::noEpsilon);
    EXPECT_EQ(answers[0].ticks, Names {"gns-gram@0"});
    EXPECT_FALSE(diagnose::rejudge(made.judged(), answers[0].ticks, {})) << "that is still to be replayed";

    made.facts.identified.how = IdentifiedBy::given;
    EXPECT_FALSE(diagnose::asksEpsilon(made.judged())) << "the dump has it";
    const auto kinds = diagnose::answersOf(made.judged(), {});
    ASSERT_EQ(kinds.size(), 2U);
    EXPECT_EQ(kinds[0].kind, diagnose::Answer::Kind::nothingElse);
    EXPECT_EQ(kinds[0].ticks, (Names {"gns-gram", "nothing-else"}));
    EXPECT_EQ(rejudged(made.judged(), kinds[0].ticks).blame, Blame::implementation);
    made.facts.epsilonMissing = true;
    EXPECT_TRUE(diagnose::asksEpsilon(made.judged()));
}

TEST(Answers, WhetherOtherCodeRanStaysWhereTheVariantChanges)
{
    std::vector<KeptAnswer> answers {
        {"a.pt", {"gns-gram", "nothing-else"}}, {"b.pt", {"gns-gram"}}, {"c.pt", {"other-code"}}};
    diagnose::dropVariants(answers);
    EXPECT_EQ(answers, (std::vector<KeptAnswer> {{"a.pt", {"nothing-else"}}, {"c.pt", {"other-code"}}}));
}

TEST(Answers, TheCastIsAskedByOrderAndFormat)
{
    Made made;
    made.facts.inputAbsmax = 80384;
    made.member("gns-gram", 8, 0).member("deepspeed-gram", 0, 8).member("keller-jordan", 8, 0);
    made.member("gns-standard", 8, 0);
    const auto answers = diagnose::answersOf(made.judged(), {});
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(answers[0].kind, diagnose::Answer::Kind::castsFirst);
    EXPECT_EQ(answers[0].precision, "fp16");
    EXPECT_TRUE(answers[0].numbers);
    EXPECT_EQ(answers[0].ticks, Names {"deepspeed-gram"});
    EXPECT_EQ(answers[1].kind, diagnose::Answer::Kind::normalizesFirst);
    EXPECT_EQ(answers[1].ticks, (Names {"gns-gram", "gns-standard"}));
    EXPECT_EQ(answers[2].kind, diagnose::Answer::Kind::castsFirst);
    EXPECT_EQ(answers[2].precision, "bf16");
    EXPECT_EQ(rejudged(made.judged(), answers[0].ticks).blame, Blame::numerics);
    EXPECT_EQ(rejudged(made.judged(), answers[1].ticks).rule, RuleId::codeBesides);
}

TEST(Answers, OtherQuestionsAreAskedByName)
{
    Made made;
    made.member("gns-gram", 8, 0).member("polar-express-unprotected", 5, 0).member("dion-ns5", 8, 0);
    const auto answers = diagnose::answersOf(made.judged(), {});
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0].kind, diagnose::Answer::Kind::oneOf);
    EXPECT_EQ(answers[0].ticks, Names {"polar-express-unprotected"});
    EXPECT_EQ(answers[1].ticks, (Names {"gns-gram", "dion-ns5"}));
    EXPECT_FALSE(answers[1].numbers);
    EXPECT_TRUE(diagnose::answersOf(rejudged(made.judged(), answers[0].ticks), {}).empty())
        << "naming one of one settles nothing";
    const auto next = rejudged(made.judged(), answers[1].ticks);
    ASSERT_EQ(diagnose::answersOf(next, {}).size(), 2U) << "and whether anything else ran";
    EXPECT_EQ(diagnose::answersOf(next, {})[0].kind, diagnose::Answer::Kind::nothingElse);
    EXPECT_TRUE(diagnose::answersOf(rejudged(next, diagnose::answersOf(next, {})[0].ticks), {}).empty())
        << "a decided verdict asks nothing";
}

TEST(Answers, TheyNeedNoVariantThatThisVersionKnows)
{
    Made made;
    made.member("gns-gram", 8, 0).member("deepspeed-gram", 0, 8).member("dion-ns5", 8, 0);
    auto judged = made.judged();
    judged.facts.members[1].variant = "of-the-future";
    EXPECT_EQ(diagnose::answersOf(judged, {}).size(), 2U);
    EXPECT_EQ(rejudged(judged, {"of-the-future:fp16"}).blame, Blame::numerics) << "its replays are facts";
}

} // namespace
} // namespace nanscope
