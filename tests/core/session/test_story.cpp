// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/logtext/eventfacts.h"
#include "core/session/session.h"
#include "tests/core/session/oldersession.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

LogRecords someRecords()
{
    LogRecords records;
    auto& collapsed = records.events.emplace_back();
    collapsed.kind = EventKind::skippedStep;
    collapsed.text = "OVERFLOW!";
    collapsed.line = 7;
    collapsed.copies = 1204;
    auto& thrown = records.events.emplace_back();
    thrown.kind = EventKind::traceback;
    thrown.text = "ValueError: x";
    thrown.line = 9;
    thrown.detail = "File \"train.py\", line 3, in step";
    records.events.emplace_back().line = 11;
    records.checkpoints = {{1000, CheckpointFact::saved, "out/step_1000", "", "", 12}};
    records.settings = {{"optimizer.lr", "3e-4", 0, "", 1}, {"dtype", "bfloat16", {}, "", 2}};
    return records;
}

class Story : public testing::Test
{
protected:
    session::Session open(session::OpenMode mode) const { return std::move(*session::Session::open(m_path, mode)); }

    TemporaryFolder m_folder;
    std::filesystem::path m_path = m_folder / "a.nanscope";
};

TEST_F(Story, ComesBackWithItsSource)
{
    ASSERT_TRUE(open(session::OpenMode::create).addLog("c.log", "kempnerforge", {}, someRecords()));
    const auto run = open(session::OpenMode::readOnly).summary();
    ASSERT_TRUE(run);
    ASSERT_THAT(run->events, SizeIs(3));
    EXPECT_EQ(run->events[0].kind, EventKind::skippedStep);
    EXPECT_EQ(run->events[0].copies, 1204);
    EXPECT_EQ(run->events[1].detail, "File \"train.py\", line 3, in step");
    EXPECT_EQ(run->events[1].copies, 1);
    EXPECT_EQ(run->events[2].copies, 1);
    ASSERT_THAT(run->checkpoints, SizeIs(1));
    EXPECT_EQ(run->checkpoints[0].fact, CheckpointFact::saved);
    EXPECT_EQ(run->checkpoints[0].step, 1000);
    EXPECT_EQ(run->checkpoints[0].source, "c.log");
    EXPECT_EQ(run->checkpoints[0].line, 12);
    ASSERT_THAT(run->settings, SizeIs(2));
    EXPECT_EQ(run->settings[0].name, "optimizer.lr");
    EXPECT_EQ(run->settings[0].rank, 0);
    EXPECT_EQ(run->settings[1].rank, std::nullopt);
    EXPECT_EQ(run->settings[1].value, "bfloat16");
}

TEST_F(Story, FoundCheckpointsReplaceThoseFoundBefore)
{
    auto session = open(session::OpenMode::create);
    ASSERT_TRUE(session.addLog("c.log", "kempnerforge", {}, someRecords()));
    ASSERT_TRUE(session.setFoundCheckpoints({{1000, CheckpointFact::found, "out/step_1000", "", "", 0}}));
    ASSERT_TRUE(session.setFoundCheckpoints({{2000, CheckpointFact::found, "out/step_2000", "no .metadata", "", 0}}));
    const auto run = session.summary();
    ASSERT_THAT(run->checkpoints, SizeIs(2));
    EXPECT_EQ(run->checkpoints[0].source, "c.log") << "what a log says stays";
    EXPECT_EQ(run->checkpoints[1].step, 2000);
    EXPECT_EQ(run->checkpoints[1].source, "");
    EXPECT_EQ(run->checkpoints[1].problem, "no .metadata");
}

TEST_F(Story, IsForgottenWithItsLog)
{
    auto session = open(session::OpenMode::create);
    ASSERT_TRUE(session.addLog("c.log", "kempnerforge", {}, someRecords()));
    ASSERT_TRUE(session.setFoundCheckpoints({{1000, CheckpointFact::found, "out/step_1000", "", "", 0}}));
    ASSERT_TRUE(session.dropLog("c.log"));
    const auto run = session.summary();
    EXPECT_THAT(run->events, IsEmpty());
    EXPECT_THAT(run->settings, IsEmpty());
    EXPECT_THAT(run->checkpoints, SizeIs(1));
    const auto notes = session.query("SELECT count(*) FROM event_notes");
    ASSERT_TRUE(notes);
    EXPECT_EQ(notes->rows[0][0], "0");
}

TEST_F(Story, IsMissingInASessionThatIsOlder)
{
    ASSERT_TRUE(open(session::OpenMode::create).addLog("c.log", "kempnerforge", {}, someRecords()));
    makeOlder(m_path, 2);
    const auto old = open(session::OpenMode::readOnly).summary();
    ASSERT_TRUE(old);
    EXPECT_THAT(old->events, SizeIs(3));
    EXPECT_EQ(old->events[0].copies, 1);
    EXPECT_THAT(old->checkpoints, IsEmpty());
    ASSERT_TRUE(open(session::OpenMode::readWrite).setFoundCheckpoints({{1, CheckpointFact::found, "a", "", "", 0}}))
        << "migrated";
}

/// What an import makes of these lines.
LogRecords spokenRecords()
{
    LogRecords records;
    for (const auto* line :
        {"[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
            "NaN/Inf loss at step 37 (consecutive=3, total=7, last_good_loss=inf at step 0)",
            "NaN/Inf detected on another rank at step 38 (consecutive=4, total=8)",
            "a.py:3: RuntimeWarning: [NorMuon nan_guard_fallback] skipping update (shape=(4, 512, 64))",
            "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.",
            "NVRM: Xid (PCI:0000:3b:00): 79, pid=123, GPU has fallen off the bus.",
            "[PG 2 Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, x",
            "[PG 2 Rank 3] Timeout at NCCL work: 9, last enqueued NCCL work: 7, last completed NCCL work: 7.",
            "first bad value of the forward frames: wo Linear, output", "NCCL error"}) {
        auto& event = records.events.emplace_back();
        event.text = line;
        event.line = static_cast<std::int64_t>(records.events.size());
        event.facts = logtext::factsIn(line);
    }
    return records;
}

std::vector<EventFacts> factsOf(const std::vector<Event>& events)
{
    std::vector<EventFacts> facts;
    for (const auto& event : events) {
        facts.push_back(event.facts);
    }
    return facts;
}

TEST_F(Story, WhatLinesSayComesBack)
{
    auto records = spokenRecords();
    records.events[0].facts.attemptedScale = 8;
    auto session = open(session::OpenMode::create);
    ASSERT_TRUE(session.addLog("c.log", "deepspeed", {}, records));
    EXPECT_EQ(factsOf(session.summary()->events), factsOf(records.events)) << "as stored, not read again";
    EXPECT_EQ(session.query("SELECT count(*) FROM event_facts")->rows[0][0], "9") << "one line says nothing";
    ASSERT_TRUE(session.dropLog("c.log"));
    EXPECT_EQ(session.query("SELECT count(*) FROM event_facts")->rows[0][0], "0");
}

class OlderStory : public Story, public testing::WithParamInterface<int>
{ };

INSTANTIATE_TEST_SUITE_P(Versions, OlderStory, testing::Values(7, 8, 12));

TEST_P(OlderStory, LinesOfAnOlderSessionAreReadOnce)
{
    const auto records = spokenRecords();
    ASSERT_TRUE(open(session::OpenMode::create).addLog("c.log", "deepspeed", {}, records));
    makeOlder(m_path, GetParam());
    EXPECT_EQ(factsOf(open(session::OpenMode::readOnly).summary()->events), factsOf(records.events))
        << "who may not write reads them each time";
    const auto session = open(session::OpenMode::readWrite);
    EXPECT_EQ(session.query("SELECT count(*) FROM event_facts")->rows[0][0], "9");
    EXPECT_EQ(session.query("SELECT phrases FROM event_facts WHERE operation = 'Sqrt'")->rows[0][0],
        "runtime_error anomaly_mode nan_in_backward");
    EXPECT_EQ(factsOf(session.summary()->events), factsOf(records.events));
}

} // namespace
} // namespace nanscope
