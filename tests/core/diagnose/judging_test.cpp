// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Whole runs through diagnose(): what the rules are given, and what is made of their answers.
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>

#include "core/diagnose/damage/damage.h"
#include "core/diagnose/diagnose.h"
#include "core/diagnose/identify/element.h"
#include "core/diagnose/judgeone.h"
#include "core/model/verdict.h"
#include "core/replay/program/formats.h"
#include "core/replay/variants/variant.h"
#include "tests/core/diagnose/healthycall.h"
#include "tests/core/diagnose/runmaker.h"
#include "tests/core/replay/devicearound.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

using test::Matrix;

class Judging : public testing::Test
{
protected:
    void add(const std::string& name, const std::vector<Matrix>& input, const std::vector<Matrix>& output)
    {
        addFile(name, test::smallTensor(output), input);
    }

    void addFile(const std::string& name, const tensorfile::TensorToWrite& output, const std::vector<Matrix>& input)
    {
        const auto path = m_folder / name;
        EXPECT_TRUE(
            tensorfile::writePt(path, {{"input", test::smallTensor(input)}, {"output", output}, {"epsilon", 1e-8}}));
        auto file = tensorfile::openCapture(path);
        ASSERT_TRUE(file && tensorfile::scanCapture(*file));
        file->capture.id = static_cast<std::int64_t>(m_run.captures.size()) + 1;
        file->capture.timestampMs = file->capture.id;
        file->capture.nothingElse = m_alone;
        m_run.captures.push_back(file->capture);
    }

    /// A capture whose output lacks a tile: NaN where a healthy iteration had values. Nothing else ran.
    void addUnwritten(const std::string& name)
    {
        auto output = test::smallOutput("gns-gram", test::smallWaves());
        for (std::size_t row = test::smallRows / 2; row < test::smallRows; ++row) {
            std::fill_n(output.begin() + static_cast<std::ptrdiff_t>(row * test::smallCols), 8, NAN);
        }
        m_alone = true;
        add(name, {test::smallWaves()}, {output});
        m_alone = false;
    }

    Diagnosis diagnosed(const diagnose::DiagnoseOptions& options = {})
    {
        const auto diagnosis = diagnose::diagnose(m_run, options);
        EXPECT_TRUE(diagnosis) << (diagnosis ? "" : sentence(diagnosis.error()));
        return diagnosis.value_or(Diagnosis {});
    }

    TemporaryFolder m_folder;
    RunData m_run;
    bool m_alone = false; ///< what is added says that nothing else ran
};

TEST_F(Judging, AHardwareErrorInTheLogTurnsTheKernelsFaultIntoTheMachines)
{
    addUnwritten("x.pt");
    EXPECT_EQ(diagnosed().captures[0].blame, Blame::implementation) << diagnosed().captures[0].summary;
    Event xid;
    xid.kind = EventKind::machine;
    m_run.captures[0].pid = 7;
    say(xid, "NVRM: Xid (PCI:0000:3b:00): 94, pid=7, Contained");
    xid.source = "kern.log";
    xid.line = 12;
    m_run.events = {xid};
    const auto diagnosis = diagnosed();
    const auto& v = diagnosis.captures[0];
    EXPECT_EQ(v.blame, Blame::machine);
    EXPECT_EQ(v.kind, "hardware error in the log");
    EXPECT_EQ(v.speaksFor.front().text, "NVRM: Xid (PCI:0000:3b:00): 94, pid=7, Contained");
    EXPECT_EQ(v.speaksFor.front().source, "kern.log:12");
    EXPECT_EQ(diagnosis.findings.front().id, "machine");
}

/// Has the memory for so many elements.
class SmallDevice : public test::DeviceAround
{
public:
    explicit SmallDevice(std::int64_t most)
        : m_most(most)
    { }
    Environment environment() const override { return {"torch 2.11.0", "cuda:0", "a GPU", {}, 1, {}}; }
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        return program.shape.elements() > m_most ? failure(ErrorKind::refused, "cuda:0 has not enough memory")
                                                 : DeviceAround::prepare(program, batch);
    }

private:
    std::int64_t m_most;
};

TEST_F(Judging, WhatTheDeviceHasNotTheMemoryForIsJudgedOnTheCpu)
{
    addUnwritten("x.pt");
    const auto expected = diagnosed();
    diagnose::DiagnoseOptions options;
    options.device = std::make_shared<SmallDevice>(test::smallRows * test::smallCols);
    const auto fits = diagnosed(options);
    EXPECT_EQ(fits.replayedOn, "torch 2.11.0, cuda:0 (a GPU)");
    options.device = std::make_shared<SmallDevice>(test::smallRows * test::smallCols - 1);
    const auto diagnosis = diagnosed(options);
    EXPECT_EQ(diagnosis.replayedOn,
        "torch 2.11.0, cuda:0 (a GPU); 1 capture on the CPU instead (cuda:0 has not enough memory)");
    EXPECT_EQ(diagnosis.captures[0].blame, Blame::implementation);
    EXPECT_EQ(diagnosis.captures[0].summary, expected.captures[0].summary);
}

/// As a GPU before Ampere.
class DeviceWithoutBf16 : public test::DeviceAround
{
    Result<void> prepare(const replay::Program& program, std::int64_t batch) override
    {
        return program.precision == Precision::bf16
            ? failure(ErrorKind::unsupported, "cuda:0 does not compute in bf16; the CPU emulates it")
            : DeviceAround::prepare(program, batch);
    }
};

TEST_F(Judging, WhatTheDeviceHasNoFormatForIsJudgedOnTheCpuAlsoWhereOnlyTheCleanCallNeedsIt)
{
    add("clean.pt", {test::smallWaves()}, {test::smallOutput("keller-jordan", test::smallWaves())});
    add("x.pt", {test::smallWaves()}, {Matrix(test::smallSize, NAN)});
    for (std::size_t i = 0; i < m_run.captures.size(); ++i) {
        m_run.captures[i].rank = static_cast<int>(i);
    }
    diagnose::DiagnoseOptions options;
    options.ran = {"gns-gram"};
    const auto damaged = [&] {
        const auto captures = diagnosed(options).captures;
        return *std::ranges::find(captures, "x.pt", &CaptureVerdict::capture);
    };
    const auto expected = damaged();
    ASSERT_TRUE(expected.facts.duplicate);
    EXPECT_FALSE(expected.facts.duplicate->fits.empty());
    options.device = std::make_shared<DeviceWithoutBf16>();
    const auto found = damaged();
    ASSERT_TRUE(found.facts.duplicate);
    EXPECT_EQ(found.facts.duplicate->fits, expected.facts.duplicate->fits);
    EXPECT_EQ(found.summary, expected.summary);
}

TEST_F(Judging, OnlyAHardwareErrorOfItsOwnTimeCounts)
{
    addUnwritten("x.pt");
    m_run.captures[0].pid = 7;
    Event dumped;
    dumped.kind = EventKind::captureDumped;
    dumped.capture = "x.pt";
    dumped.source = "console.log";
    dumped.line = 10;
    Event error;
    error.kind = EventKind::machine;
    error.source = "console.log";
    for (const auto& [text, line, blame] :
        {std::tuple("NVRM: Xid (PCI:0000:3b:00): 94, pid=7, Contained", 9, Blame::machine),
            {"NVRM: Xid (PCI:0000:3b:00): 94, pid=7, Contained", 11, Blame::implementation},
            {"CUDA error: uncorrectable ECC error encountered", 11, Blame::machine},
            {"CUDA error: uncorrectable ECC error encountered", 9, Blame::implementation}}) {
        say(error, text);
        error.line = line;
        m_run.events = {dumped, error};
        EXPECT_EQ(diagnosed().captures[0].blame, blame) << text << " in line " << line;
    }
    error.line = 11;
    m_run.events = {error};
    EXPECT_EQ(diagnosed().captures[0].blame, Blame::implementation) << "of which attempt is not known";
}

TEST_F(Judging, WhatComputeSanitizerReportsOfAKernelOfNewtonSchulzDecidesNothing)
{
    addUnwritten("x.pt");
    m_run.captures[0].rank = 1;
    const auto before = diagnosed().captures[0];
    Event report;
    report.kind = EventKind::other;
    report.source = "initcheck.log";
    report.line = 3;
    say(report, "compute-sanitizer: Uninitialized __global__ memory read of size 2 bytes in kernel ns_line_1_kernel");
    const auto isTold = Contains(AllOf(Field(&EvidenceLine::text, HasSubstr("in kernel ns_line_1_kernel")),
        Field(&EvidenceLine::source, "initcheck.log:3")));
    for (const auto rank : {std::optional<int>(), std::optional(1)}) {
        report.rank = rank;
        m_run.events = {report};
        const auto v = diagnosed().captures[0];
        EXPECT_EQ(v.rule, before.rule);
        EXPECT_EQ(v.blame, before.blame);
        EXPECT_EQ(v.summary, before.summary);
        EXPECT_THAT(v.notTestable, isTold) << "it does not say that this call met it";
    }
    report.rank = 0;
    m_run.events = {report};
    EXPECT_THAT(diagnosed().captures[0].notTestable, Not(isTold)) << "of another rank";
    report.rank = 1;
    say(report, "compute-sanitizer: Uninitialized __global__ memory read of size 2 bytes in kernel gather_kernel");
    m_run.events = {report};
    EXPECT_THAT(diagnosed().captures[0].notTestable, Not(Contains(Field(&EvidenceLine::source, "initcheck.log:3"))))
        << "of another kernel";
}

TEST_F(Judging, WordsAboutHardwareAreNoHardwareError)
{
    addUnwritten("x.pt");
    m_run.captures[0].pid = 123;
    Event xid;
    xid.kind = EventKind::machine;
    for (const auto* text : {"If you see `NVRM: Xid (PCI:0000:3b:00): 48` in dmesg, replace the card",
             "PASSED test_msg: RuntimeError('CUDA error: uncorrectable ECC error encountered')",
             "+ grep -c 'NVRM: Xid (PCI' kern.log", "# NVRM: Xid (PCI:0000:3b:00): 79",
             "GPU 7: uncorrectable NVLink error",
             "RuntimeError: CUDA error: uncorrectable ECC error encountered (simulated by test_recovery)",
             "[ 12.3] NVRM: Xid (PCI:0000:3b:00): 94, pid=99, name=other_job",
             "[ 12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=123, GPU has fallen off the bus.",
             "[ 12.3] NVRM: Xid (PCI:0000:3b:00): 92, pid=123, High single-bit ECC error rate",
             "Nov 22 10:00:01 node7 kernel: [ 12.3] NVRM: Xid (PCI:0000:3b:00): 48, DBE"}) {
        say(xid, text);
        m_run.events = {xid};
        EXPECT_EQ(diagnosed().captures[0].blame, Blame::implementation) << text;
    }
    Event dumped;
    dumped.kind = EventKind::captureDumped;
    dumped.capture = "x.pt";
    dumped.source = xid.source = "console.log";
    dumped.line = 10;
    for (const auto* text : {"[ 12.3] NVRM: Xid (PCI:0000:3b:00): 95, pid=123, Uncontained",
             "Nov 22 10:00:01 node7 kernel: [ 12.3] NVRM: Xid (PCI:0000:3b:00): 48, pid=123, DBE",
             "[rank0]: torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered"}) {
        say(xid, text);
        xid.line = xid.facts.pid ? 9 : 11;
        m_run.events = {dumped, xid};
        EXPECT_EQ(diagnosed().captures[0].blame, Blame::machine) << text;
    }
    Setting world;
    world.name = "world_size";
    world.value = "8";
    m_run.settings = {world};
    m_run.events = {dumped, xid};
    EXPECT_EQ(diagnosed().captures[0].blame, Blame::implementation) << "nobody says which rank of eight";
}

TEST_F(Judging, AnXidThatIsNoHardwareErrorIsFoundAndAccusesNobody)
{
    addUnwritten("x.pt");
    m_run.captures[0].pid = 123;
    const auto before = diagnosed().captures[0];
    Event xid;
    xid.kind = EventKind::other;
    xid.source = "dmesg.log";
    xid.line = 1;
    for (const auto& [line, meaning] :
        {std::pair("[81233.410021] NVRM: Xid (PCI:0000:61:00): 63, pid='<unknown>', Row Remapper: New row marked",
             "alone it changes no value that was computed"),
            {"NVRM: Xid (PCI:0000:61:00): 31, pid=123, name=python, MMU Fault", "mostly the program's own"},
            {"Nov 22 10:00:01 node7 kernel: NVRM: Xid (PCI:0000:61:00): 119, pid=123",
                "none of memory, bus or links"}}) {
        say(xid, line);
        m_run.events = {xid};
        const auto now = diagnosed();
        const auto& v = now.captures[0];
        EXPECT_EQ(v.blame, before.blame) << line;
        EXPECT_EQ(v.summary, before.summary) << line;
        EXPECT_THAT(v.notTestable,
            Contains(AllOf(Field(&EvidenceLine::text, AllOf(HasSubstr(meaning), HasSubstr(line))),
                Field(&EvidenceLine::source, "dmesg.log:1"))))
            << line;
        const auto machine = std::ranges::find(now.findings, "machine", &Finding::id);
        ASSERT_NE(machine, now.findings.end());
        EXPECT_EQ(machine->state, FindingState::clear) << line;
    }
    for (const auto* words :
        {"If you see `NVRM: Xid (PCI:0000:3b:00): 63` in dmesg", "+ grep 'NVRM: Xid (PCI' kern.log"}) {
        say(xid, words);
        m_run.events = {xid};
        EXPECT_EQ(diagnosed().captures[0].notTestable.size(), before.notTestable.size()) << words;
    }
}

TEST_F(Judging, AHardwareErrorOfAnotherRankIsNotThisOnes)
{
    addUnwritten("x.pt");
    m_run.captures[0].rank = 1;
    Series loss;
    loss.rank = 0;
    m_run.series = {loss};
    Event xid;
    xid.kind = EventKind::machine;
    say(xid, "CUDA error: uncorrectable ECC error encountered");
    for (const auto rank : {std::optional<int>(), std::optional(0)}) {
        xid.rank = rank;
        m_run.events = {xid};
        const auto v = diagnosed().captures[0];
        EXPECT_EQ(v.blame, Blame::implementation);
        EXPECT_THAT(v.notTestable, Contains(Field(&EvidenceLine::text, HasSubstr("uncorrectable ECC"))));
    }
    Event dumped;
    dumped.kind = EventKind::captureDumped;
    dumped.capture = "x.pt";
    dumped.source = xid.source = "rank1.log";
    dumped.line = 10;
    xid.line = 12;
    xid.rank = 1;
    m_run.events = {dumped, xid};
    EXPECT_EQ(diagnosed().captures[0].blame, Blame::machine);
}

TEST_F(Judging, RowsThatAreZeroInTheInputMayBeDividedByTheirNorm)
{
    auto input = test::smallWaves();
    std::fill(input.begin() + 2 * test::smallCols, input.begin() + 4 * test::smallCols, 0.0);
    auto output = test::smallOutput("gns-gram", input);
    std::fill(output.begin() + 2 * test::smallCols, output.begin() + 4 * test::smallCols, NAN);
    add("x.pt", {input}, {output});
    EXPECT_EQ(diagnosed().captures[0].rule, RuleId::damageOnZeros);
    EXPECT_EQ(diagnosed().captures[0].blame, Blame::undecided);
    input[2 * test::smallCols + 1] = 0.25;
    m_run.captures.clear();
    add("y.pt", {input}, {output});
    EXPECT_NE(diagnosed().captures[0].rule, RuleId::damageOnZeros) << "one row has a value";
}

TEST_F(Judging, ACastAndBackLeavesTheRestBitForBit)
{
    auto output = test::smallOutput("gns-gram", test::smallWaves());
    for (auto i = std::size_t {3}; i < output.size(); i += 41) {
        output[i] = i % 2 == 0 ? INFINITY : -INFINITY;
    }
    add("x.pt", {test::smallWaves()}, {output});
    EXPECT_EQ(diagnosed().captures[0].rule, RuleId::codeBesides) << diagnosed().captures[0].summary;
    output = test::smallOutput("gns-gram", test::smallWaves());
    output[3] = NAN;
    m_run.captures.clear();
    add("y.pt", {test::smallWaves()}, {output});
    EXPECT_EQ(diagnosed().captures[0].rule, RuleId::codeBesides) << "a mask or a factor of one leaves the others";
}

TEST_F(Judging, FaintLinesMayHaveALostNorm)
{
    diagnose::Element element;
    element.shape = {1, test::smallRows, test::smallCols};
    element.input = test::smallWaves();
    auto output = test::smallWaves();
    std::fill_n(output.begin() + 2 * test::smallCols, test::smallCols, NAN);
    element.output = std::move(output);
    EXPECT_FALSE(diagnose::damagedInFaintLines(element));
    for (std::int64_t i = 2 * test::smallCols; i < 3 * test::smallCols; ++i) {
        const auto at = static_cast<std::size_t>(i);
        element.input.set(at, element.input[at] * 1e-4);
    }
    EXPECT_TRUE(diagnose::damagedInFaintLines(element));
    element.output.set(0, NAN);
    EXPECT_FALSE(diagnose::damagedInFaintLines(element)) << "another row";
    element.output = test::smallWaves();
    EXPECT_FALSE(diagnose::damagedInFaintLines(element)) << "nothing is damaged";
}

TEST_F(Judging, ASilentZeroIsNoHealthyCall)
{
    auto input = test::smallWaves();
    for (auto& value : input) {
        value *= 1e30;
    }
    add("x.pt", {input}, {Matrix(test::smallSize, 0.0)});
    const auto v = diagnosed().captures[0];
    EXPECT_EQ(v.role, Role::birth);
    EXPECT_EQ(v.blame, Blame::undecided);
    EXPECT_THAT(v.summary, HasSubstr("the output is zero everywhere, silently"));
    EXPECT_EQ(diagnosed({{"keller-jordan:bf16"}}).captures[0].blame, Blame::numerics);
}

TEST_F(Judging, AFunctionWhoseFormatNobodyNamedIsTriedInFp16WhereThatLosesTheInput)
{
    auto input = test::smallWaves();
    input[0] = 70000;
    add("x.pt", {input}, {Matrix(test::smallSize, NAN)});
    const auto v = diagnosed({{"keller-jordan"}}).captures[0];
    EXPECT_EQ(v.blame, Blame::undecided) << v.summary;
    EXPECT_THAT(v.question, HasSubstr("does your code cast to fp16"));
    m_run.captures[0].variant = "keller-jordan";
    EXPECT_EQ(diagnosed().captures[0].blame, Blame::undecided);
    m_run.captures[0].variant = "keller-jordan:bf16";
    EXPECT_EQ(diagnosed().captures[0].members.size(), 1U) << "the sidecar names the format";
}

TEST_F(Judging, AFunctionThatReturnsFp16IsTriedInIt)
{
    auto input = test::smallWaves();
    for (auto& value : input) {
        value *= 20000; // each fits into fp16, and their norm does not
    }
    const auto zeros = [](DType dtype, std::size_t bytes) {
        return tensorfile::TensorToWrite {
            "output", dtype, {1, test::smallRows, test::smallCols}, std::vector<std::byte>(bytes * test::smallSize)};
    };
    const auto triedInHalf = [&](const std::string& name, const tensorfile::TensorToWrite& output) {
        addFile(name, output, {input});
        const auto captures = diagnosed({{"keller-jordan"}}).captures;
        return std::ranges::any_of(std::ranges::find(captures, name, &CaptureVerdict::capture)->members,
            [](const MemberResult& one) { return one.precision == "fp16" && one.reproducing > 0; });
    };
    EXPECT_FALSE(triedInHalf("single.pt", zeros(DType::float32, 4)));
    EXPECT_TRUE(triedInHalf("half.pt", zeros(DType::float16, 2)));
}

TEST_F(Judging, WhatCouldNotBeJudgedNamesNoPlaces)
{
    addUnwritten("x.pt");
    ASSERT_GT(diagnosed().captures[0].originsTried, 0);
    // The file is another one by now.
    auto tall = test::smallTensor({test::smallWaves()});
    tall.shape = {1, test::smallCols, test::smallRows};
    const auto output = test::smallTensor({Matrix(test::smallSize, NAN)});
    ASSERT_TRUE(tensorfile::writePt(m_folder / "x.pt", {{"input", tall}, {"output", output}, {"epsilon", 1e-8}}));
    const auto v = diagnosed().captures[0];
    EXPECT_THAT(v.summary, HasSubstr("could not be judged"));
    EXPECT_EQ(v.originsTried, 0);
}

TEST_F(Judging, AHardwareErrorDoesNotTurnNumbersIntoTheMachine)
{
    auto input = test::smallWaves();
    input[0] = 70000;
    add("x.pt", {input}, {Matrix(test::smallSize, NAN)});
    Event xid;
    xid.kind = EventKind::machine;
    m_run.events = {xid};
    EXPECT_EQ(diagnosed({{"deepspeed-gram"}}).captures[0].blame, Blame::numerics);
    EXPECT_EQ(diagnosed({{"deepspeed-gram"}}).captures[0].kind, "overflow in the cast");
}

TEST_F(Judging, APrecisionSaidByTheUserIsTheOneReplayed)
{
    auto input = test::smallWaves();
    input[0] = 70000;
    add("x.pt", {input}, {Matrix(test::smallSize, NAN)});
    const auto v = diagnosed({{"deepspeed-gram:bf16"}}).captures[0];
    ASSERT_EQ(v.members.size(), 1U);
    EXPECT_EQ(v.members[0].precision, "bf16");
    EXPECT_EQ(v.members[0].finite, v.members[0].roundings) << "70,000 fits bf16";
    EXPECT_NE(v.blame, Blame::numerics);
}

TEST_F(Judging, APublishedNameSaysNothingOfTheEpsilonOfOtherCode)
{
    m_alone = true;
    add("x.pt", {Matrix(test::smallSize, 0.0)}, {Matrix(test::smallSize, NAN)});
    auto& capture = m_run.captures[0];
    capture.epsilon.reset();
    EXPECT_EQ(diagnosed({{"keller-jordan"}}).captures[0].blame, Blame::implementation) << "no other code is known of";
    capture.scene.function = "muon:mine";
    const auto asked = diagnosed({{"keller-jordan"}}).captures[0];
    EXPECT_EQ(asked.rule, RuleId::zeroInAllBadOut);
    EXPECT_THAT(asked.question, HasSubstr("which epsilon did muon:mine add to the norm?"));
    EXPECT_THAT(asked.question, HasSubstr("(--ran keller-jordan@0 says that it added none, --ran keller-jordan@1e-7"));
    const auto without = diagnosed({{"keller-jordan@0"}}).captures[0];
    EXPECT_EQ(without.blame, Blame::numerics);
    EXPECT_EQ(without.variant.names, std::vector<std::string> {"keller-jordan@0"});
    EXPECT_EQ(diagnosed({{"keller-jordan@1e-7"}}).captures[0].blame, Blame::implementation);
    EXPECT_EQ(diagnosed({{"keller-jordan@1e-9:fp16"}}).captures[0].blame, Blame::numerics) << "it rounds to zero";
    capture.scene.namedLike = "keller-jordan";
    EXPECT_NE(diagnosed({{"keller-jordan@1e-7"}}).captures[0].blame, Blame::implementation)
        << "with whatever epsilon, it is not the published one";
    EXPECT_NE(diagnosed({{"keller-jordan@6x"}}).captures[0].blame, Blame::implementation);
    capture.scene.namedLike = "keller-jordan@6x";
    EXPECT_NE(diagnosed({{"keller-jordan@1e-7"}}).captures[0].blame, Blame::implementation);
    capture.variant = "keller-jordan";
    EXPECT_EQ(diagnosed().captures[0].blame, Blame::implementation) << "the sidecar says that it is the published one";
}

TEST_F(Judging, AnotherEpsilonThanTheDumpHasIsAsked)
{
    m_alone = true;
    add("x.pt", {Matrix(test::smallSize, 0.0)}, {Matrix(test::smallSize, NAN)});
    for (const auto& [recorded, said] : {std::pair {0.0, "torch-muon@1e-7"}, std::pair {1e-7, "torch-muon@0"}}) {
        m_run.captures[0].epsilon = recorded;
        const auto asked = diagnosed({{said}}).captures[0];
        EXPECT_EQ(asked.rule, RuleId::dependsOnEpsilon) << said;
        EXPECT_THAT(
            asked.summary, HasSubstr("is said to have run with an epsilon of its own; with the one that the dump"));
    }
    m_run.captures[0].epsilon = 0;
    EXPECT_EQ(diagnosed({{"torch-muon@0"}}).captures[0].blame, Blame::numerics);
}

TEST_F(Judging, WhatASidecarLeavesOpenOfItsFunctionTheUserMaySay)
{
    m_alone = true;
    add("x.pt", {Matrix(test::smallSize, 0.0)}, {Matrix(test::smallSize, NAN)});
    auto& capture = m_run.captures[0];
    capture.epsilon.reset();
    const auto names = [&](const char* recorded, const char* said) {
        capture.variant = recorded;
        return diagnosed({{said}}).captures[0].variant.names;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(names("torch-muon", "torch-muon@0"), Names {"torch-muon@0"}) << "its epsilon is its caller's";
    EXPECT_EQ(names("torch-muon:bf16", "torch-muon@0:fp16"), Names {"torch-muon"}) << "the sidecar's format counts";
    EXPECT_EQ(names("keller-jordan", "keller-jordan@0"), Names {"keller-jordan"}) << "its source adds 1e-7";
    EXPECT_EQ(names("torch-muon@0", "torch-muon:fp16"), Names {"torch-muon@0"});
    EXPECT_EQ(names("torch-muon@6x", "torch-muon:fp16"), Names {"torch-muon@6x"}) << "a name says nothing of steps";
    EXPECT_EQ(names("torch-muon@6x", "torch-muon@0"), Names {"torch-muon@6x@0"});
    EXPECT_EQ(names("torch-muon@6x", "torch-muon@7x@0"), Names {"torch-muon@6x"}) << "the sidecar's steps count";
    EXPECT_EQ(names("torch-muon", "torch-muon@7x"), Names {"torch-muon"});
    const auto contradicted = diagnosed({{"torch-muon@7x"}}).captures[0].notTestable;
    EXPECT_EQ(std::ranges::count(contradicted, "sidecar, --ran", &EvidenceLine::source), 1);
    capture.epsilon = 1e-7;
    EXPECT_EQ(names("torch-muon", "torch-muon@0"), Names {"torch-muon"}) << "the dump has it";
    const auto said = diagnosed({{"torch-muon@0"}}).captures[0].notTestable;
    EXPECT_EQ(std::ranges::count(said, "sidecar, --ran", &EvidenceLine::source), 1);
}

TEST_F(Judging, ASidecarOutweighsWhatTheUserSays)
{
    addUnwritten("x.pt");
    m_run.captures[0].variant = "gns-gram";
    const auto v = diagnosed({{"keller-jordan"}}).captures[0];
    EXPECT_EQ(v.variant.how, IdentifiedBy::sidecar);
    EXPECT_EQ(v.variant.names, std::vector<std::string> {"gns-gram"});
    const auto saysSo = [this](std::vector<std::string> ran) {
        const auto judged = diagnosed({std::move(ran)}).captures[0];
        return std::ranges::count(judged.notTestable, "sidecar, --ran", &EvidenceLine::source);
    };
    EXPECT_EQ(saysSo({"keller-jordan"}), 1);
    EXPECT_EQ(saysSo({"keller-jordan", "gns-gram:fp16"}), 1) << "of what the user allows, one is left";
    EXPECT_EQ(saysSo({"gns-gram", "gns-gram:fp16"}), 0);
    const auto several = diagnosed({{"keller-jordan", "gns-gram:fp16"}}).captures[0];
    const auto said = std::ranges::find(several.notTestable, "sidecar, --ran", &EvidenceLine::source);
    ASSERT_NE(said, several.notTestable.end());
    EXPECT_THAT(said->text, testing::HasSubstr("gns-gram ran, and you said keller-jordan as well"));
    EXPECT_EQ(saysSo({}), 0);
    m_run.captures[0].variant = "gns-gram:fp16";
    EXPECT_EQ(saysSo({"gns-gram"}), 0);
    EXPECT_EQ(saysSo({"gns-gram:bf16"}), 1) << "another format is another thing that ran";
    m_run.captures[0].variant = "torch-muon@6x";
    EXPECT_EQ(saysSo({"torch-muon"}), 0);
    EXPECT_EQ(saysSo({"torch-muon@6x"}), 0);
    const auto five = diagnosed({{"torch-muon@5x"}}).captures[0];
    EXPECT_THAT(five.notTestable,
        testing::Contains(testing::Field(&EvidenceLine::text,
            testing::HasSubstr("says that torch-muon@6x ran, and you said torch-muon@5x: the sidecar counts"))))
        << "also where the steps are those of the published code";
    m_run.captures[0].variant = "no-such-variant";
    EXPECT_EQ(saysSo({"keller-jordan"}), 0);
    EXPECT_EQ(diagnosed({{"keller-jordan"}}).captures[0].variant.how, IdentifiedBy::given);
}

TEST_F(Judging, ASidecarThatSpeaksOfOtherCodeOutweighsNothingElse)
{
    addUnwritten("x.pt");
    m_run.captures[0].nothingElse = false;
    diagnose::DiagnoseOptions options {{"gns-gram"}, true};
    EXPECT_EQ(diagnosed(options).captures[0].blame, Blame::implementation);
    m_folder.write("x.json", R"({"nothing_else": false})");
    const auto judged = diagnosed(options).captures[0];
    EXPECT_EQ(judged.blame, Blame::undecided) << judged.summary;
    EXPECT_EQ(std::ranges::count(judged.notTestable, "sidecar, --nothing-else", &EvidenceLine::source), 1);
    EXPECT_TRUE(judged.facts.otherCode && !judged.facts.nothingElse);
    options.nothingElse = false;
    EXPECT_EQ(std::ranges::count(diagnosed(options).captures[0].notTestable, "sidecar", &EvidenceLine::source), 1);
    options.otherCode = true;
    EXPECT_EQ(std::ranges::count(diagnosed(options).captures[0].notTestable, "sidecar", &EvidenceLine::source), 0);
}

TEST_F(Judging, WhatIsWantedMeanwhileIsJudgedNext)
{
    for (const auto* name : {"a.pt", "b.pt", "c.pt", "d.pt"}) {
        add(name, {Matrix(test::smallSize, 0.0)}, {Matrix(test::smallSize, NAN)});
    }
    std::string wanted = "c.pt";
    std::vector<std::string> judged;
    diagnose::DiagnoseOptions options;
    options.first = [&](const CaptureVerdict& verdict) { return verdict.capture == wanted; };
    options.arrived = [&](const CaptureVerdict& verdict) {
        if (!verdict.summary.empty()) {
            judged.push_back(verdict.capture);
            wanted = judged.size() == 1 ? "d.pt" : wanted;
        }
    };
    EXPECT_EQ(diagnosed(options).captures.size(), 4U);
    EXPECT_THAT(judged, testing::ElementsAre("c.pt", "d.pt", "a.pt", "b.pt"));
}

TEST_F(Judging, ABirthWithAFiniteOutputComesBeforeHealthyCalls)
{
    add("healthy.pt", {test::smallWaves()}, {test::smallOutput("gns-gram", test::smallWaves())});
    add("zero.pt", {test::smallWaves(1)}, {Matrix(test::smallSize, 0.0)});
    const auto captures = diagnosed().captures;
    ASSERT_EQ(captures.size(), 2U);
    EXPECT_EQ(captures[0].capture, "zero.pt");
    EXPECT_EQ(captures[0].role, Role::birth) << "which triage takes for healthy";
    EXPECT_EQ(captures[1].role, Role::healthy);
}

TEST_F(Judging, AControlHasTheNameAndTheStepOfTheCaptureBesideIt)
{
    add("control.pt", {test::smallWaves()}, {Matrix(test::smallSize, 0.0)});
    add("birth.pt", {test::smallWaves(1)}, {Matrix(test::smallSize, NAN)});
    auto& birth = m_run.captures[1];
    birth.variant = "gns-gram";
    birth.step = 5;
    birth.nothingElse = true;
    const auto control = [&] {
        const auto captures = diagnosed().captures;
        return *std::ranges::find(captures, "control.pt", &CaptureVerdict::capture);
    };
    EXPECT_EQ(control().variant.how, IdentifiedBy::unknown);
    EXPECT_FALSE(control().step);
    birth.scene.control = "control.pt";
    const auto named = control();
    EXPECT_EQ(named.variant.how, IdentifiedBy::sidecar);
    EXPECT_EQ(named.variant.names, std::vector<std::string> {"gns-gram"});
    EXPECT_TRUE(named.facts.nothingElse);
    EXPECT_EQ(named.step, std::pair(std::int64_t {4}, std::int64_t {5})) << "of the same update or the one before";
    EXPECT_EQ(named.stepSource, StepSource::capture);
    EXPECT_FALSE(named.facts.scene.onCpu);
    birth.scene.onCpu = true;
    EXPECT_TRUE(control().facts.scene.onCpu);
}

TEST_F(Judging, WhatIsNotReplayedBearsTheNameOfItsSidecar)
{
    add("healthy.pt", {test::smallWaves()}, {test::smallOutput("gns-gram", test::smallWaves())});
    addUnwritten("birth.pt");
    m_run.captures[0].variant = "gns-gram:fp16";
    const auto named = [&](const std::string& capture) {
        const auto captures = diagnose::triageRun(m_run).captures;
        return std::ranges::find(captures, capture, &CaptureVerdict::capture)->variant;
    };
    EXPECT_EQ(named("healthy.pt").how, IdentifiedBy::sidecar);
    EXPECT_EQ(named("healthy.pt").names, std::vector<std::string> {"gns-gram"});
    EXPECT_EQ(named("birth.pt").how, IdentifiedBy::unknown);
    m_run.captures[0].variant = "no-such-variant";
    EXPECT_EQ(named("healthy.pt").names, std::vector<std::string> {}) << "nothing could be done with it";
}

TEST_F(Judging, AQuestionAboutOneMatrixOutweighsThatAnotherIsFine)
{
    add("x.pt", {test::smallWaves(), test::smallWaves(1)},
        {test::smallOutput("gns-gram", test::smallWaves()), Matrix(test::smallSize, 0.0)});
    const auto v = diagnosed().captures[0];
    EXPECT_EQ(v.role, Role::birth);
    EXPECT_EQ(v.kind, "all zero") << v.summary;
    EXPECT_THAT(v.question, HasSubstr("mask, freeze or skip"));
}

TEST_F(Judging, AFileThatWentAwayIsSaidAndTheOthersAreJudged)
{
    addUnwritten("gone.pt");
    addUnwritten("here.pt");
    std::filesystem::remove(m_folder / "gone.pt");
    const auto diagnosis = diagnosed();
    ASSERT_EQ(diagnosis.captures.size(), 2U);
    EXPECT_THAT(diagnosis.captures[0].summary, HasSubstr("could not be judged"));
    EXPECT_EQ(diagnosis.captures[0].blame, Blame::undecided);
    EXPECT_EQ(diagnosis.captures[1].blame, Blame::implementation);
}

TEST_F(Judging, HeadlineCountsAndPlacesTheFirstBirth)
{
    EXPECT_EQ(diagnosed().headline, "no captures");
    addUnwritten("a.pt");
    EXPECT_EQ(diagnosed().headline, "1 capture, 1 birth: at an unknown step");
    m_run.captures[0].rank = 3;
    m_run.captures[0].step = 7;
    EXPECT_EQ(diagnosed().headline, "1 capture, 1 birth: rank 3, at step 7");
    addUnwritten("b.pt");
    EXPECT_EQ(diagnosed().headline, "2 captures, 2 births: rank 3, at step 7, and 1 more");
}

TEST_F(Judging, HeadlineNamesTheZeroMatrixThatOthersFollowFrom)
{
    add("zero.pt", {Matrix(test::smallSize, 0)}, {Matrix(test::smallSize, NAN)});
    auto input = test::smallWaves();
    input[0] = NAN;
    add("next.pt", {input}, {Matrix(test::smallSize, NAN)});
    m_run.captures[0].step = 5;
    EXPECT_EQ(diagnosed().headline, "2 captures, 0 births, 1 upstream: at an unknown step");
    m_run.captures[1].step = 6;
    EXPECT_EQ(diagnosed().headline,
        "2 captures, 0 births; a zero matrix came out damaged (at step 5), and 1 call followed from it");
}

TEST_F(Judging, ABirthHasThePlacesItCanHaveBegunIn)
{
    add("a.pt", {test::smallWaves()}, {Matrix(test::smallSize, NAN)});
    const auto verdict = diagnosed().captures[0];
    ASSERT_EQ(verdict.role, Role::birth);
    // Most places of every plausible variant, and never the last write.
    EXPECT_GT(verdict.originsTried, static_cast<int>(verdict.origins.size()));
    EXPECT_GT(2 * static_cast<int>(verdict.origins.size()), verdict.originsTried);
    for (const auto& place : verdict.origins) {
        EXPECT_THAT(verdict.variant.names, testing::Contains(place.variant));
        const auto* variant = replay::builtInVariant(place.variant);
        ASSERT_NE(variant, nullptr);
        const bool last = place.iteration == static_cast<int>(variant->steps.size());
        // A rescale spreads what the last update left over the whole matrix.
        EXPECT_FALSE(place.op == OpName::update && last && !variant->rescaleOutput) << place.variant;
    }
}

TEST_F(Judging, ARunWithoutABirthNamesItsUpstream)
{
    auto input = test::smallWaves();
    input[3] = NAN;
    add("a.pt", {input}, {Matrix(test::smallSize, NAN)});
    m_run.captures[0].step = 2;
    const auto diagnosis = diagnosed();
    EXPECT_EQ(diagnosis.headline, "1 capture, 0 births, 1 upstream: at step 2");
    EXPECT_EQ(diagnosis.triage.upstream, 1);
    EXPECT_EQ(diagnosis.captures[0].facts.damage.shape, DamageShape::wholeElement);
    EXPECT_THAT(diagnosis.captures[0].next,
        testing::Contains(testing::Field(&Experiment::what, HasSubstr("gradient and momentum"))));
}

TEST_F(Judging, CancelStopsAndSaysSo)
{
    addUnwritten("a.pt");
    JobContext job;
    job.cancel.cancel();
    const auto before = diagnose::diagnose(m_run, {}, job);
    ASSERT_TRUE(before);
    EXPECT_EQ(before->stopped, "cancelled");
    EXPECT_EQ(before->captures[0].summary, "not judged (cancelled)");

    JobContext later;
    later.progress = [&](const Progress& p) {
        if (!p.message.starts_with("a.pt")) {
            later.cancel.cancel();
        }
    };
    const auto within = diagnose::diagnose(m_run, {}, later);
    ASSERT_TRUE(within);
    EXPECT_EQ(within->stopped, "cancelled") << "a cancel between two members of the plausible set";
    const auto& verdict = within->captures[0];
    EXPECT_EQ(verdict.rule, RuleId::unjudged);
    EXPECT_EQ(verdict.summary, verdict.facts.damage.text + "; not judged (cancelled)");
    EXPECT_GT(verdict.facts.damage.count, 0) << "what is damaged is known without a replay";
    EXPECT_TRUE(verdict.facts.members.empty());
}

TEST_F(Judging, GoesOnWhereItWasStopped)
{
    addUnwritten("a.pt");
    addUnwritten("b.pt");
    m_run.captures[0].id = 1;
    m_run.captures[1].id = 2;
    JobContext job;
    job.progress = [&](const Progress& p) {
        if (p.phase == "judging capture 2 of 2") {
            job.cancel.cancel();
        }
    };
    const auto half = diagnose::diagnose(m_run, {}, job);
    ASSERT_TRUE(half);
    EXPECT_EQ(half->captures[0].blame, Blame::implementation);
    EXPECT_TRUE(diagnose::leftUnjudged(*half, half->captures[1], m_run.captures[1]));
    const auto rest = diagnose::judgedOn(*half, m_run);
    EXPECT_EQ(rest.stopped, "");
    EXPECT_EQ(rest.captures[0].summary, half->captures[0].summary);
    EXPECT_EQ(rest.captures[1].summary, "");

    diagnose::DiagnoseOptions options;
    options.stopped = std::make_shared<const Diagnosis>(*half);
    std::vector<std::string> replayed;
    options.arrived = [&](const CaptureVerdict& verdict) { replayed.push_back(verdict.capture); };
    const auto whole = diagnose::diagnose(m_run, options);
    ASSERT_TRUE(whole);
    EXPECT_THAT(replayed, testing::Each("b.pt"));
    const auto atOnce = diagnosed();
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(whole->captures[i].summary, atOnce.captures[i].summary);
    }
    EXPECT_EQ(whole->headline, atOnce.headline);
}

TEST_F(Judging, ProgressCountsCapturesUpToTheirTotal)
{
    addUnwritten("a.pt");
    addUnwritten("b.pt");
    std::vector<std::int64_t> done;
    std::vector<std::int64_t> members;
    std::vector<std::int64_t> comparisons;
    JobContext job;
    job.progress = [&](const Progress& p) {
        EXPECT_EQ(p.job, "diagnose");
        EXPECT_TRUE(p.uneven);
        if (p.unit == "plausible variants") {
            EXPECT_LT(p.done, p.total);
            members.push_back(p.done);
            return;
        }
        if (p.phase != "judging") {
            EXPECT_EQ(p.phase, done.back() == 0 ? "judging capture 1 of 2" : "judging capture 2 of 2");
            EXPECT_EQ(p.total == 0, p.message.starts_with("decomposing the input")) << p.message;
            EXPECT_LE(p.done, p.total);
            comparisons.push_back(p.done);
            return;
        }
        EXPECT_EQ(p.total, 2);
        EXPECT_EQ(p.unit, "captures");
        done.push_back(p.done);
    };
    ASSERT_TRUE(diagnose::diagnose(m_run, {}, job));
    EXPECT_FALSE(members.empty()) << "how far the replays of one capture are";
    EXPECT_FALSE(comparisons.empty()) << "and what comes before them";
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
    EXPECT_EQ(done.front(), 0);
    EXPECT_EQ(done.back(), 1);
}

TEST_F(Judging, NanBitsAreCountedInTheDumpsOwnWidth)
{
    auto output = test::smallWaves();
    output[7] = NAN;
    output[9] = NAN;
    output[11] = INFINITY;
    add("x.pt", {test::smallWaves()}, {output});
    const auto patterns = diagnose::damagePatterns(*tensorfile::openCapture(m_folder / "x.pt"));
    ASSERT_TRUE(patterns);
    ASSERT_EQ(patterns->size(), 1U);
    using Bits = std::vector<std::pair<std::uint64_t, std::int64_t>>;
    EXPECT_EQ(patterns->front().nanBits, (Bits {{0x7fc00000, 2}})) << "Inf is no NaN";
    EXPECT_EQ(patterns->front().count, 3);
}

TEST_F(Judging, AnElementNeedsAnOutputOfTheInputsShape)
{
    tensorfile::TensorToWrite small = test::smallTensor({test::smallWaves()});
    small.shape = {1, test::smallCols, test::smallRows};
    ASSERT_TRUE(tensorfile::writePt(
        m_folder / "x.pt", {{"input", test::smallTensor({test::smallWaves()})}, {"output", small}}));
    const auto element = diagnose::loadElement(*tensorfile::openCapture(m_folder / "x.pt"), 0);
    ASSERT_FALSE(element);
    EXPECT_THAT(element.error().what, HasSubstr("another shape than the input"));
}

} // namespace
} // namespace nanscope
