// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What replays are kept as: files named alike in several folders are different captures.
#include "core/rpc/storedcells.h"

#include <filesystem>
#include <limits>
#include <map>

#include <gmock/gmock.h>

#include "tests/core/replay/framecapture.h"
#include "tests/core/replay/runningservice.h"

namespace nanscope {

namespace {

using SortedJson = nlohmann::json;
using testing::HasSubstr;
using testing::SizeIs;

class ReplaysInASession : public testing::Test
{
protected:
    void SetUp() override
    {
        write("rank_0/dump.pt", 0.5);
        write("rank_1/dump.pt", std::numeric_limits<double>::quiet_NaN());
        std::vector<Capture> captures;
        for (const auto* name : {"rank_0/dump.pt", "rank_1/dump.pt"}) {
            captures.push_back(tensorfile::openCapture(m_folder / name)->capture);
        }
        ASSERT_TRUE(m_session->addCaptures(captures));
    }

    void write(const std::string& name, double first)
    {
        auto values = waveValues(64);
        values[0] = first;
        std::filesystem::create_directories((m_folder / name).parent_path());
        ASSERT_NE(writeFrameCapture(m_folder / name, {8, 8}, values), "");
    }

    std::vector<SortedJson> asked(SortedJson request)
    {
        request["id"] = 1;
        request["session"] = m_path.string();
        test::RunningService service;
        service.start();
        service.send(request.dump());
        std::vector<SortedJson> answers;
        service.receiveUntil([&](const SortedJson& answer) {
            answers.push_back(answer);
            return answer.contains("done") || answer.contains("error");
        });
        return answers;
    }

    std::vector<SortedJson> swept(const std::vector<std::string>& names)
    {
        auto captures = SortedJson::array();
        for (const auto& name : names) {
            captures.push_back((m_folder / name).string());
        }
        return asked({{"do", "sweep"}, {"captures", captures}, {"variants", {"torch-muon"}}, {"precisions", {"fp64"}}});
    }

    std::map<std::string, Outcome> kept() const
    {
        const auto cells = m_session->cells().value();
        std::map<std::string, Outcome> outcomes;
        for (const auto& cell : cells) {
            EXPECT_TRUE(outcomes.emplace(cell.capture, cell.outcome).second) << cell.capture;
        }
        return outcomes;
    }

    TemporaryFolder m_folder;
    std::filesystem::path m_path = m_folder / "a.nanscope";
    Result<session::Session> m_session = session::Session::open(m_path, session::OpenMode::create);
};

TEST_F(ReplaysInASession, BearTheNameThatTheSessionGivesTheirCapture)
{
    std::vector<std::string> told;
    std::int64_t done = 0;
    for (const auto& answer : swept({"rank_1/dump.pt", "rank_0/dump.pt"})) {
        if (answer.contains("cell")) {
            told.push_back(answer["cell"]["capture"]);
        } else if (answer.contains("progress")) {
            EXPECT_EQ(answer["progress"]["total"], 2);
            EXPECT_EQ(answer["progress"]["done"], done++);
        }
    }
    EXPECT_EQ(told, (std::vector<std::string> {"rank_1/dump.pt", "rank_0/dump.pt"}));
    const std::map<std::string, Outcome> expected {
        {"rank_0/dump.pt", Outcome::finite}, {"rank_1/dump.pt", Outcome::nan}};
    EXPECT_EQ(kept(), expected);
}

TEST_F(ReplaysInASession, OfDeepGaugesDoToo)
{
    const auto answers = asked({{"do", "deep"}, {"capture", (m_folder / "rank_0/dump.pt").string()},
        {"variant", "torch-muon"}, {"precision", "fp32"}});
    ASSERT_TRUE(answers.at(answers.size() - 2).contains("deep")) << answers.back();
    EXPECT_EQ(answers.at(answers.size() - 2)["deep"]["capture"], "rank_0/dump.pt");
    const std::map<std::string, Outcome> expected {{"rank_0/dump.pt", Outcome::finite}};
    EXPECT_EQ(kept(), expected);
}

TEST_F(ReplaysInASession, FollowACaptureThatWasMoved)
{
    std::filesystem::create_directories(m_folder / "away");
    std::filesystem::rename(m_folder / "rank_0/dump.pt", m_folder / "away/dump.pt");
    EXPECT_EQ(rpc::nameIn(*m_session, (m_folder / "away/dump.pt").string()).value(), "rank_0/dump.pt");
}

TEST_F(ReplaysInASession, OfAFileThatWasReplacedAreRefused)
{
    write("rank_0/dump.pt", 0.25);
    const auto answers = swept({"rank_0/dump.pt"});
    ASSERT_THAT(answers, SizeIs(1));
    EXPECT_THAT(answers[0]["error"].get<std::string>(), HasSubstr("import it again"));
    EXPECT_TRUE(kept().empty());
}

TEST_F(ReplaysInASession, OfAFileThatNobodyImportedBearItsName)
{
    write("other.pt", 0.25);
    EXPECT_EQ(rpc::nameIn(*m_session, (m_folder / "other.pt").string()).value(), "other.pt");
}

TEST_F(ReplaysInASession, OfAFileThatCannotBeReadAreToldAndNotKept)
{
    const auto answers = swept({"rank_7/dump.pt"});
    ASSERT_GE(answers.size(), 2U);
    EXPECT_FALSE(answers.at(answers.size() - 2)["cell"]["error"].get<std::string>().empty());
    EXPECT_TRUE(kept().empty());
}

TEST_F(ReplaysInASession, LeaveTheDefinitionOfTheirVariantBesideThem)
{
    SortedJson request {{"do", "sweep"}, {"captures", {(m_folder / "rank_0/dump.pt").string()}},
        {"variants", {"served"}}, {"precisions", {"fp64"}}};
    request["definitions"] = {{{"name", "served"}, {"steps", {{2, -1.5, 0.5}}}}};
    EXPECT_TRUE(asked(request).back().contains("done"));
    const auto stored = m_session->variants().value();
    ASSERT_THAT(stored, SizeIs(1));
    EXPECT_EQ(stored[0].name, "served");
}

} // namespace

TEST_F(ReplaysInASession, OfAnotherCaptureThanTheOneMeantAreRefused)
{
    const auto meant = tensorfile::openCapture(m_folder / "rank_0/dump.pt")->capture.identity;
    const auto other = (m_folder / "rank_1/dump.pt").string();
    const SortedJson cell {{"capture", other}, {"identity", meant}, {"variant", "torch-muon"}, {"precision", "fp64"}};
    for (const auto* verb : {"film", "frame", "deep", "cliff"}) {
        auto request = cell;
        request["do"] = verb;
        request["op"] = 0;
        const auto answers = asked(request);
        EXPECT_THAT(answers.back().value("error", ""), HasSubstr("holds another capture")) << verb;
    }
    const auto swept = asked({{"do", "sweep"}, {"captures", {other}}, {"identities", {meant}},
        {"variants", {"torch-muon"}}, {"precisions", {"fp64"}}});
    EXPECT_THAT(swept.back().value("error", ""), HasSubstr("holds another capture"));
    EXPECT_TRUE(kept().empty());
}

TEST_F(ReplaysInASession, TakeOneIdentityForEachCapture)
{
    const auto answers = asked({{"do", "sweep"}, {"captures", {"a.pt", "b.pt"}}, {"identities", {"only one"}},
        {"variants", {"torch-muon"}}, {"precisions", {"fp64"}}});
    EXPECT_THAT(answers.back().value("error", ""), HasSubstr("\"identities\""));
}

} // namespace nanscope
