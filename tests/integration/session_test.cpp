// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <unistd.h>

#include <gmock/gmock.h>

#include "program.h"
#include "workfolder.h"

using namespace nanscope::testing;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

namespace fs = std::filesystem;

namespace {

/// A folder with one capture and a short log, imported into a session.
class InSession : public ::testing::Test
{
protected:
    void SetUp() override
    {
        fs::create_directory(m_folder / "run");
        writeCapture(m_folder / "run/a.pt");
        writeText(m_folder / "run/console.log",
            "[default0]:Step 0: train_loss=1.5, grad_norm=0.25\n[default0]:Step 1: train_loss=nan, grad_norm=inf\n");
        m_session = m_folder / "s.nanscope";
        const auto done = run({"import", m_folder / "run", "--session", m_session, "--json"});
        ASSERT_EQ(done.status, 0) << done.err;
        EXPECT_EQ(done.json()["imports"][0]["captures"], 1);
    }

    WorkFolder m_folder;
    std::string m_session;
};

} // namespace

TEST_F(InSession, ImportingAgainAddsNothing)
{
    const auto again = run({"import", m_folder / "run", "--session", m_session, "--json"}).json();
    EXPECT_EQ(again["imports"][0]["captures"], 1);
    EXPECT_EQ(run({"list", m_session, "captures", "--json"}).json()["captures"].size(), 1U);
}

TEST_F(InSession, ImportSaysWhatItTookAndWhatItPassedOver)
{
    writeText(m_folder / "run/late.log", "[default3]:Step 7: train_loss=1.5\n");
    writeText(m_folder / "run/launcher.log", "hello\n");
    writeText(m_folder / "run/cut.pt", "PK\3\4");
    const std::vector<std::string> import {"import", m_folder / "run", "--session", m_session};
    for (int time = 0; time < 2; ++time) {
        const auto done = run(import);
        EXPECT_EQ(done.status, 3) << done.err;
        EXPECT_THAT(done.out, HasSubstr("Captures      1 of rank 0\n"));
        EXPECT_THAT(done.out, HasSubstr("Logs          2 of 2 ranks: 3 series, 0 events, steps 0 to 7\n"));
        EXPECT_THAT(
            done.out, HasSubstr("Passed over   1 log without a number or an event that is known: launcher.log\n"));
        EXPECT_THAT(done.out, HasSubstr("Left out      1 file; the warnings say why\n"));
        EXPECT_THAT(done.out, HasSubstr("Session       " + m_session + "\n"));
        EXPECT_THAT(done.err, HasSubstr("cut.pt"));
    }
    auto json = import;
    json.emplace_back("--json");
    const auto imported = run(json).json()["imports"][0];
    EXPECT_EQ(imported["logs"], 2);
    EXPECT_EQ(imported["log_ranks"], (std::vector<int> {0, 3}));
    EXPECT_EQ(imported["steps"], (std::vector<int> {0, 7}));
    EXPECT_EQ(imported["silent"], (std::vector<std::string> {"launcher.log"}));
}

TEST_F(InSession, ASidecarThatCameLaterIsReadAndWhatWasJudgedWithoutItIsNot)
{
    const std::vector<std::string> diagnose {"diagnose", m_folder / "run", "--session", m_session, "--json"};
    const auto ran = [&] { return run(diagnose).json()["captures"][0]["variant"]["how"].get<std::string>(); };
    EXPECT_NE(ran(), "sidecar");
    writeText(m_folder / "run/a.json", R"({"variant": "torch-muon", "step": 41, "nothing_else": true,
        "function": {"module": "mine", "qualname": "ns"}})");
    EXPECT_EQ(ran(), "sidecar");
    const auto listed = run({"list", m_session, "captures", "--json"}).json()["captures"][0];
    EXPECT_EQ(listed["step"], 41);
    EXPECT_EQ(listed["nothing_else"], true);
    EXPECT_EQ(listed["scene"]["function"], "mine:ns");
    fs::remove(m_folder / "run/a.json");
    EXPECT_NE(ran(), "sidecar");
}

TEST_F(InSession, WhatIsWrittenIsItsOwnersAloneWhateverTheUmask)
{
    const auto out = m_folder / "out";
    const std::string open = "umask 0;";
    EXPECT_EQ(run({"import", m_folder / "run", "--session", out + "/new/s.nanscope"}, open).status, 0);
    EXPECT_EQ(run({"report", m_session, "-o", out + "/r.md", "--bundle", out + "/bundle"}, open).status, 0);
    EXPECT_EQ(run({"report", m_session, "--bundle", out + "/b.zip"}, open).status, 0);
    EXPECT_EQ(fs::status(out).permissions(), fs::perms {0700});
    for (const auto& entry : fs::recursive_directory_iterator(out)) {
        EXPECT_EQ(entry.status().permissions(), entry.is_directory() ? fs::perms {0700} : fs::perms {0600}) << entry;
    }
}

TEST_F(InSession, LimitsOfTheSystemAreSaidAsSuch)
{
    const auto import = [&](const std::string& limit) {
        return run({"import", m_folder / "run", "--session", m_folder / "limited.nanscope"}, limit);
    };
    const auto files = import("prlimit --nofile=6");
    EXPECT_EQ(files.status, 4) << files.err;
    EXPECT_THAT(files.err, HasSubstr("too many files are open; raise the limit with ulimit -n"));
    EXPECT_THAT(files.err, Not(HasSubstr("was found")));
    const auto size = import("prlimit --fsize=20480");
    EXPECT_EQ(size.status, 4) << size.err;
    EXPECT_THAT(size.err, HasSubstr("raise the limit with ulimit -f"));
    const auto report = run({"report", m_session, "-o", m_folder / "r.html"}, "prlimit --fsize=20480");
    EXPECT_EQ(report.status, 1) << report.err;
    EXPECT_THAT(report.err, HasSubstr("raise the limit with ulimit -f"));
    EXPECT_FALSE(fs::exists(m_folder / "r.html"));
}

TEST_F(InSession, ListsWhatTheFolderLists)
{
    const auto fromSession = run({"list", m_session, "series", "--json"}).json()["series"];
    const auto fromFolder = run({"list", m_folder / "run", "series", "--json"}).json()["series"];
    ASSERT_EQ(fromSession.size(), fromFolder.size());
    ASSERT_EQ(fromSession.size(), 2U);
    for (std::size_t i = 0; i < fromSession.size(); ++i) {
        for (const auto* key : {"name", "rank", "points", "nan", "pos_inf"}) {
            EXPECT_EQ(fromSession[i][key], fromFolder[i][key]) << key;
        }
    }
}

TEST_F(InSession, SweepLeavesItsCellsForTheReport)
{
    EXPECT_THAT(run({"list", m_session, "cells"}).out, HasSubstr("no cells"));
    const auto sweep = run({"sweep", m_session, "--variant", "torch-muon", "--precision", "fp64,bf16", "--json"});
    ASSERT_EQ(sweep.status, 0) << sweep.err;
    ASSERT_EQ(sweep.json()["cells"].size(), 2U);
    const auto cells = run({"list", m_session, "cells", "--json"}).json()["cells"];
    ASSERT_EQ(cells.size(), 2U);
    EXPECT_EQ(cells[1]["outcome"], sweep.json()["cells"][1]["outcome"]);
    const auto report = run({"report", m_session, "-o", "-"});
    EXPECT_EQ(report.status, 0) << report.err;
    EXPECT_THAT(report.out, HasSubstr("| `torch-muon` | bf16 |"));
}

TEST_F(InSession, DiagnosisIsTheSameAsOfTheFolder)
{
    const auto fromSession = run({"diagnose", m_session, "--json"}).json();
    const auto fromFolder = run({"diagnose", m_folder / "run", "--json"}).json();
    EXPECT_EQ(fromSession["triage"], fromFolder["triage"]);
    EXPECT_EQ(fromSession["captures"][0]["verdict"], fromFolder["captures"][0]["verdict"]);
}

TEST_F(InSession, ExportKeepsNanAndInfinityApart)
{
    const auto loss = run({"export", m_session, "--series", "loss"});
    EXPECT_EQ(loss.status, 0) << loss.err;
    EXPECT_EQ(loss.out, "rank,segment,step,value,source,line\n0,0,0,1.5,console.log,1\n0,0,1,nan,console.log,2\n");
    const auto norm = run({"export", m_session, "--series", "grad_norm", "--format", "jsonl"});
    EXPECT_THAT(norm.out, HasSubstr(R"("grad_norm":"inf")"));
    const auto unknown = run({"export", m_session, "--series", "lss"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.err, HasSubstr("loss"));
}

TEST(Export, NamesEverySeriesOnceAndTheRanksThatHaveIt)
{
    const WorkFolder folder;
    for (const int rank : {0, 1, 2}) {
        writeText(folder.path() / fmt::format("rank{}.log", rank), "{\"step\": 1, \"loss\": 2.5}\n");
    }
    const auto unknown = run({"export", folder.path().string(), "--series", "nope"});
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.err, HasSubstr("There is no series 'nope'; the only one is loss\n"));
    const auto ranks = run({"export", folder.path().string(), "--series", "loss", "--rank", "7"});
    EXPECT_EQ(ranks.status, 2);
    EXPECT_THAT(ranks.err, HasSubstr("No rank 7 has the series 'loss', which rank 0, rank 1, rank 2 have"));
    const auto none = run({"export", writeCapture(folder / "a.pt"), "--series", "loss"});
    EXPECT_THAT(none.err, HasSubstr("There is no series in what was read"));
}

TEST_F(InSession, SqlReadsAndCannotWrite)
{
    const auto tables = run({"sql", m_session, "select count(*) as n from sqlite_master", "--json"});
    EXPECT_EQ(tables.status, 0) << tables.err;
    EXPECT_EQ(tables.json()["columns"][0], "n");
    const auto write = run({"sql", m_session, "create table x (y)"});
    EXPECT_NE(write.status, 0);
    EXPECT_THAT(write.errors(), SizeIs(1)) << write.err;
}

TEST_F(InSession, DefaultSessionLiesInTheUsersDataFolder)
{
    const auto done = run({"import", m_folder / "run", "--json"});
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.json()["imports"][0]["session"].get<std::string>(), HasSubstr("/sessions/"));
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder / "run"), {}), 2) << "nothing beside the captures";
}

TEST(Environment, DoctorAndEnvAnswer)
{
    const auto doctor = run({"doctor", "--json"});
    EXPECT_EQ(doctor.status, 0);
    EXPECT_EQ(doctor.json()["schema"], "nanscope.doctor/1");
    EXPECT_TRUE(doctor.json()["replay"].contains("worker"));
    const auto env = run({"env", "--json"}, "env NCCL_DEBUG=INFO SECRET_TOKEN=hidden");
    EXPECT_EQ(env.status, 0);
    EXPECT_EQ(env.json()["variables"]["NCCL_DEBUG"], "INFO");
    const WorkFolder folder;
    const auto prefix = std::filesystem::path(folder / "venv");
    std::filesystem::create_directories(prefix / "lib/python3.12/site-packages/nvidia_cublas-13.1.0.3.dist-info");
    std::filesystem::create_directories(prefix / "bin");
    writeText(prefix / "bin/python", "");
    const auto packages =
        run({"env", "--json", "--python", (prefix / "bin/python").string()}, "env NCCL_SOCKET_IFNAME=10.1.0.3");
    EXPECT_EQ(packages.json()["packages"]["nvidia_cublas"], "13.1.0.3");
    EXPECT_EQ(packages.json()["variables"]["NCCL_SOCKET_IFNAME"], "<ip>");
    EXPECT_THAT(env.out, ::testing::Not(HasSubstr("hidden")));
}

TEST_F(InSession, ReadingLeavesItAsItIsToTheByte)
{
    ASSERT_EQ(run({"sweep", m_session, "--variant", "torch-muon", "--precision", "fp64"}).status, 0);
    const auto before = contentsOf(m_session);
    const std::vector<std::vector<std::string>> readers {{"diagnose", m_session},
        {"diagnose", m_session, "--ran", "gns-gram"}, {"report", m_session, "-o", m_folder / "r.md"},
        {"report", m_session, "--bundle", m_folder / "b.zip"}, {"list", m_session, "captures"},
        {"list", m_session, "series"}, {"list", m_session, "cells"}, {"export", m_session, "--series", "loss"},
        {"sql", m_session, "select * from sources"}, {"whatif", "detector", m_session}, {"diff", m_session, m_session}};
    for (const auto& arguments : readers) {
        const auto done = run(arguments);
        EXPECT_EQ(done.status, 0) << arguments[0] << done.err;
        EXPECT_TRUE(contentsOf(m_session) == before) << arguments[0];
        for (const auto* beside : {"-wal", "-shm", "-journal"}) {
            EXPECT_FALSE(fs::exists(m_session + beside)) << arguments[0] << beside;
        }
    }
    EXPECT_EQ(run({"diagnose", m_session, "--failed", "3/4.2"}).status, 0);
    EXPECT_FALSE(contentsOf(m_session) == before) << "what is said is kept";
    const auto said = contentsOf(m_session);
    EXPECT_EQ(run({"diagnose", m_session, "--session", m_session}).status, 0);
    EXPECT_FALSE(contentsOf(m_session) == said) << "as is a diagnosis, where that was asked for";
    EXPECT_EQ(run({"diagnose", m_session, "--session", m_folder / "other.nanscope"}).status, 2);
}

TEST_F(InSession, AFolderIsNotImportedIntoAnothersSession)
{
    fs::create_directory(m_folder / "other");
    writeText(m_folder / "other/console.log", "Step 0: train_loss=2.5\n");
    const auto listed = [this] {
        return run({"list", m_session, "series", "--json"}).out + run({"list", m_session, "runs"}).out;
    };
    const auto before = listed();
    const auto bytes = contentsOf(m_session);
    for (const auto* command : {"import", "diagnose"}) {
        const auto refused = run({command, m_folder / "other", "--session", m_session});
        EXPECT_NE(refused.status, 0);
        EXPECT_TRUE(contentsOf(m_session) == bytes) << command;
        ASSERT_THAT(refused.errors(), SizeIs(1)) << refused.err;
        EXPECT_THAT(refused.err, HasSubstr(m_folder / "run"));
        EXPECT_THAT(refused.err, HasSubstr(m_folder / "other"));
        EXPECT_EQ(listed(), before) << command;
    }
}

TEST_F(InSession, AFileThatIsRefusedAsASessionIsLeftAsItIsToTheByte)
{
    const auto session = contentsOf(m_session);
    auto newer = session;
    newer.replace(60, 4, std::string("\0\0\3\xe7", 4)); // SQLite's user_version
    auto damaged = session;
    damaged.replace(100, 3996, std::string(3996, '\xff'));
    const std::map<std::string, std::pair<std::string, std::string>> files {
        {"notes.txt", {"of mine\n", "Not a Nanscope session"}}, {"newer.nanscope", {newer, "has version 999"}},
        {"damaged.nanscope", {damaged, "damaged"}}, {"cut.nanscope", {session.substr(0, 3000), "damaged"}}};
    for (const auto& [name, file] : files) {
        const auto path = m_folder / name;
        writeText(path, file.first);
        for (const auto* command : {"import", "diagnose"}) {
            const auto refused = run({command, m_folder / "run", "--session", path});
            EXPECT_EQ(refused.status, 4) << command << name;
            ASSERT_THAT(refused.errors(), SizeIs(1)) << refused.err;
            EXPECT_THAT(refused.err, HasSubstr(file.second));
            EXPECT_THAT(refused.err, HasSubstr(path));
            EXPECT_TRUE(contentsOf(path) == file.first) << command << name;
            for (const auto* beside : {"-wal", "-shm", "-journal"}) {
                EXPECT_FALSE(fs::exists(path + beside)) << command << name << beside;
            }
        }
    }
    const auto folder = run({"import", m_folder / "run", "--session", m_folder / "run"});
    EXPECT_EQ(folder.status, 2);
    EXPECT_THAT(folder.err, HasSubstr("This is a folder, not a session file"));
}

TEST_F(InSession, ASessionThatMayNotBeWrittenIsLeftAsItIsAndSaysSo)
{
    const auto before = contentsOf(m_session);
    fs::permissions(m_session, fs::perms::owner_read);
    const auto anyUser = ::geteuid() == 0 ? "setpriv --bounding-set=-all --inh-caps=-all" : "";
    const auto refused = run({"import", m_folder / "run", "--session", m_session}, anyUser);
    EXPECT_EQ(refused.status, 4);
    ASSERT_THAT(refused.errors(), SizeIs(1)) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("may not be written"));
    EXPECT_TRUE(contentsOf(m_session) == before);
}

TEST_F(InSession, ALogThatWasBegunAnewIsListedBesideTheNewOne)
{
    writeText(m_folder / "run/console.log", "[default0]:Step 7: train_loss=3.5\n");
    const auto again = run({"import", m_folder / "run", "--session", m_session, "--json"});
    EXPECT_EQ(again.status, 0) << "nothing went wrong";
    EXPECT_THAT(again.err, HasSubstr("begun anew"));
    EXPECT_THAT(again.err, HasSubstr("(replaced) console.log (4 points)"));
    EXPECT_EQ(again.json()["imports"][0]["replaced"][0]["points"], 4);
    const auto listed = run({"list", m_session, "series", "--json"}).json()["series"];
    ASSERT_EQ(listed.size(), 3U);
    EXPECT_EQ(listed[0]["points"], 1);
    EXPECT_FALSE(listed[0].contains("replaced"));
    EXPECT_EQ(listed[1]["source"], "(replaced) console.log");
    EXPECT_EQ(listed[1]["replaced"], true);
    EXPECT_THAT(run({"list", m_session, "series"}).out, HasSubstr("(replaced) console.log"));
    EXPECT_THAT(run({"export", m_session, "--series", "loss"}).out, HasSubstr("0,0,0,1.5,(replaced) console.log,1"));
}

TEST_F(InSession, WhatWasTriedIsRememberedAndArguedWith)
{
    const auto first = run({"diagnose", m_session, "--failed", "3/4.2", "--tried", "kernels-off=stays", "--json"});
    ASSERT_EQ(first.status, 0) << first.err;
    EXPECT_EQ(first.json()["observed"]["rate"]["failures"], 3);
    EXPECT_THAT(first.json()["captures"][0]["next"].dump(), HasSubstr("4.2 clean hours for 95 %"));
    const auto second = run({"diagnose", m_session, "--tried", "swap-gpus=moves:2", "--json"}).json();
    ASSERT_THAT(second["observed"]["tried"], SizeIs(2)) << "the first is remembered";
    EXPECT_EQ(second["captures"][0]["verdict"], "machine") << second["captures"][0]["kind"];
    const auto report = run({"report", m_session, "-o", "-"});
    EXPECT_THAT(report.out, HasSubstr("It failed 3 times in 4.2 h"));
    EXPECT_THAT(report.out, HasSubstr("moved with the card, 2 times"));
    // The folder itself knows nothing of it.
    EXPECT_TRUE(run({"diagnose", m_folder / "run", "--json"}).json()["observed"]["tried"].empty());
}

TEST_F(InSession, WhatWasSaidToHaveRunIsRemembered)
{
    const auto folder = m_folder / "run";
    const std::vector<std::string> words {"--ran", "gns-gram", "--nothing-else"};
    const auto judged = [](std::vector<std::string> arguments, const std::vector<std::string>& said) {
        arguments.insert(arguments.end(), said.begin(), said.end());
        arguments.emplace_back("--json");
        const auto capture = run(arguments).json()["captures"][0];
        return std::pair(capture["rule"], capture["variant"]);
    };
    const auto open = judged({"diagnose", folder, "--session", m_session}, {});
    const auto said = judged({"diagnose", folder, "--session", m_session}, words);
    ASSERT_NE(open, said);
    EXPECT_EQ(judged({"diagnose", m_session}, {}), said);
    EXPECT_EQ(judged({"diagnose", folder, "--session", m_session}, {}), said);
    EXPECT_THAT(run({"report", m_session, "-o", "-"}).out, HasSubstr(" --ran gns-gram --nothing-else"));
    EXPECT_EQ(judged({"diagnose", folder}, {}), open) << "the folder itself remembers nothing";
    EXPECT_EQ(judged({"diagnose", m_session}, {"--ran", "any"}), open);
    EXPECT_EQ(judged({"diagnose", m_session}, {}), said) << "which a session that was only read does not keep";
    EXPECT_EQ(judged({"diagnose", folder, "--session", m_session}, {"--ran", "any"}), open);
    EXPECT_EQ(judged({"diagnose", m_session}, {}), open);
}

TEST_F(InSession, CallsMadeAgainAreRememberedAndWeighed)
{
    const auto diagnosed = [this](const std::string& called) {
        std::vector<std::string> arguments {"diagnose", m_session, "--ran", "gns-gram", "--nothing-else", "--json"};
        if (!called.empty()) {
            arguments.insert(arguments.end(), {"--called", called});
        }
        return run(arguments).json();
    };
    const auto before = diagnosed("")["captures"][0];
    ASSERT_EQ(before["rule"], "name-contradicted") << before["kind"];
    const auto always = diagnosed("a.pt=200/200")["captures"][0];
    EXPECT_EQ(always["verdict"], "undecided") << "both numbers and kernels fail every time";
    const auto none = diagnosed("a.pt=0/200")["captures"][0];
    EXPECT_EQ(none["verdict"], "nondeterministic");
    EXPECT_THAT(none["summary"].dump(), HasSubstr("1.5 %"));
    const auto some = diagnosed("a.pt=3/200");
    EXPECT_EQ(some["captures"][0]["verdict"], "nondeterministic");
    EXPECT_THAT(some["observed"]["called"], SizeIs(1)) << "a later word on the same call replaces the earlier one";
    const auto again = diagnosed("a.pt=0/200,kernels-off");
    EXPECT_THAT(again["observed"]["called"], SizeIs(2)) << "the first is remembered";
    EXPECT_EQ(again["captures"][0]["verdict"], "nondeterministic");
}

TEST_F(InSession, WhatImportAddsHasASchemaOfItsOwn)
{
    const auto done = run({"import", sample, "--session", m_folder / "watched.nanscope", "--watch", "--json"},
        "timeout --preserve-status -s INT 4");
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.json()["schema"], "nanscope.addition/1");
    EXPECT_EQ(run({"import", sample, "--session", m_folder / "watched.nanscope", "--json"}).json()["schema"],
        "nanscope.import/1");
}

TEST_F(InSession, OutcomesThatCannotBeAreOneSentence)
{
    const auto refused = [this](const char* option, const char* word) {
        const auto done = run({"diagnose", m_session, option, word});
        EXPECT_EQ(done.status, 2) << word;
        EXPECT_THAT(done.errors(), SizeIs(1)) << word;
        return done.err;
    };
    EXPECT_THAT(refused("--failed", "often"), HasSubstr("3/4.2"));
    EXPECT_THAT(refused("--failed", "0/4"), HasSubstr("at least one failure"));
    EXPECT_THAT(refused("--tried", "kernel-off=gone:6"), HasSubstr("kernels-off"));
    EXPECT_THAT(refused("--tried", "kernels-off"), HasSubstr("outcome"));
    EXPECT_THAT(refused("--tried", "kernels-off=moves:2"), HasSubstr("cannot end as moves"));
    EXPECT_THAT(refused("--called", "3/200"), HasSubstr("FILE.pt=3/200"));
    EXPECT_THAT(refused("--called", "a.pt=3"), HasSubstr("FILE.pt=3/200"));
    EXPECT_THAT(refused("--called", "a.pt=300/200"), HasSubstr("cannot have failed"));
    EXPECT_THAT(refused("--called", "a.pt=9/9000000000"), HasSubstr("at most 1000000"));
    EXPECT_THAT(refused("--called", "a.pt=0/200,kernel-off"), HasSubstr("o experiment is called kernel-off"));
    EXPECT_THAT(refused("--tried", "kernels-off=gone:much"), HasSubstr("kernels-off=gone:6"));
}

namespace {

/// What two ranks left under one name: one replay ends finite, the other begins with what is not.
class PerRank : public ::testing::Test
{
protected:
    void SetUp() override
    {
        for (const auto* rank : {"run/rank_0", "run/rank_1"}) {
            fs::create_directories(m_folder / rank);
        }
        writeCapture(m_folder / "run/rank_0/dump.pt");
    }

    void addSecond() const { writeCapture(m_folder / "run/rank_1/dump.pt", {24, 40, true, true}); }

    Finished sweep(const std::string& capture) const
    {
        return run(
            {"sweep", m_session, "--capture", capture, "--variant", "torch-muon", "--precision", "fp64", "--json"});
    }

    std::map<std::string, std::string> cells() const
    {
        const auto listed = run({"list", m_session, "cells", "--json"}).json();
        std::map<std::string, std::string> outcomes;
        for (const auto& cell : listed["cells"]) {
            const auto outcome = cell["outcome"].is_string() ? cell["outcome"].get<std::string>() : "none";
            EXPECT_TRUE(outcomes.emplace(cell["capture"], outcome).second) << cell["capture"];
        }
        return outcomes;
    }

    WorkFolder m_folder;
    std::string m_session = m_folder / "s.nanscope";
};

} // namespace

TEST_F(PerRank, ReplaysOfFilesNamedAlikeAreNeverTakenForOneAnother)
{
    addSecond();
    ASSERT_EQ(run({"import", m_folder / "run", "--session", m_session}).status, 0);
    const auto swept = sweep("all");
    ASSERT_EQ(swept.status, 0) << swept.err;
    const std::map<std::string, std::string> expected {{"rank_0/dump.pt", "finite"}, {"rank_1/dump.pt", "nan"}};
    EXPECT_EQ(cells(), expected);
    const auto text = run({"sweep", m_session, "--capture", "rank_1/dump.pt", "--variant", "torch-muon"});
    EXPECT_THAT(text.out, HasSubstr("rank_1/dump.pt  1x24x40"));
    EXPECT_THAT(text.out, ::testing::Not(HasSubstr("rank_0")));
}

TEST_F(PerRank, NamesAreThoseOfTheFolderWhereverTheyAreTold)
{
    addSecond();
    for (const auto& place : {m_folder / "run", m_session}) {
        if (place == m_session) {
            ASSERT_EQ(run({"import", m_folder / "run", "--session", m_session}).status, 0);
        }
        const auto judged = run({"diagnose", place, "--json"}).json();
        ASSERT_THAT(judged["captures"], SizeIs(2)) << place;
        EXPECT_EQ(judged["captures"][0]["capture"], "rank_0/dump.pt");
        EXPECT_EQ(judged["captures"][0]["role"], "birth");
        EXPECT_EQ(judged["captures"][1]["capture"], "rank_1/dump.pt");
        EXPECT_EQ(judged["captures"][1]["role"], "downstream");
        const auto report = run({"report", place, "-o", "-"}).out;
        EXPECT_THAT(report, HasSubstr("--capture rank_0/dump.pt"));
    }
}

TEST_F(PerRank, ASecondOneThatComesLaterTakesNothingOfTheFirst)
{
    ASSERT_EQ(run({"import", m_folder / "run", "--session", m_session}).status, 0);
    ASSERT_EQ(sweep("dump.pt").status, 0);
    const auto called =
        run({"diagnose", m_session, "--ran", "gns-gram", "--nothing-else", "--called", "dump.pt=3/200", "--json"})
            .json();
    ASSERT_EQ(called["captures"][0]["verdict"], "nondeterministic") << called["captures"][0]["kind"];
    addSecond();
    ASSERT_EQ(run({"import", m_folder / "run", "--session", m_session}).status, 0);
    const std::map<std::string, std::string> first {{"rank_0/dump.pt", "finite"}};
    EXPECT_EQ(cells(), first);
    const auto again = run({"diagnose", m_session, "--ran", "gns-gram", "--nothing-else", "--json"}).json();
    ASSERT_THAT(again["captures"], SizeIs(2));
    EXPECT_EQ(again["captures"][0]["verdict"], "nondeterministic") << "what was seen of it is still of it";
    EXPECT_EQ(again["captures"][1]["verdict"], "downstream");
    EXPECT_EQ(again["observed"]["called"][0]["capture"], "rank_0/dump.pt");
}

TEST_F(PerRank, ANameThatMeansSeveralIsRefusedWithAllOfThem)
{
    addSecond();
    ASSERT_EQ(run({"import", m_folder / "run", "--session", m_session}).status, 0);
    const auto called = [this](const std::string& word) {
        return run({"diagnose", m_session, "--ran", "gns-gram", "--called", word});
    };
    for (const auto& refused : {sweep("dump.pt"), called("dump.pt=3/200")}) {
        EXPECT_EQ(refused.status, 2);
        ASSERT_THAT(refused.errors(), SizeIs(1)) << refused.err;
        EXPECT_THAT(refused.err, HasSubstr("rank_0/dump.pt, rank_1/dump.pt"));
    }
    EXPECT_EQ(called("rank_5/dump.pt=3/200").status, 2) << "there is none";
    for (const auto& meant :
        {std::string("rank_0/dump.pt"), std::string("run/rank_0/dump.pt"), m_folder / "run/rank_0/dump.pt"}) {
        const auto swept = sweep(meant);
        ASSERT_EQ(swept.status, 0) << swept.err;
        ASSERT_THAT(swept.json()["cells"], SizeIs(1));
        EXPECT_EQ(swept.json()["cells"][0]["capture"], "rank_0/dump.pt");
        EXPECT_EQ(called(meant + "=3/200").status, 0);
    }
    const auto observed = run({"diagnose", m_session, "--json"}).json()["observed"]["called"];
    ASSERT_THAT(observed, SizeIs(1)) << "one capture under three words";
    EXPECT_EQ(observed[0]["capture"], "rank_0/dump.pt");
}

TEST_F(PerRank, AFileThatWasWrittenAnewIsNotReplayedAsWhatItWas)
{
    ASSERT_EQ(run({"import", m_folder / "run", "--session", m_session}).status, 0);
    writeCapture(m_folder / "run/rank_0/dump.pt", {24, 40, true, true});
    const auto refused = sweep("dump.pt");
    EXPECT_EQ(refused.status, 3) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("import its folder again"));
    EXPECT_TRUE(cells().empty());
    ASSERT_EQ(run({"import", m_folder / "run", "--session", m_session}).status, 0);
    const auto swept = sweep("all");
    EXPECT_THAT(swept.out, HasSubstr("(replaced)/dump.pt"));
    const std::map<std::string, std::string> now {{"(replaced)/dump.pt", "none"}, {"rank_0/dump.pt", "nan"}};
    EXPECT_EQ(cells(), now);
    const auto diagnosed = run({"diagnose", m_session, "--json"});
    EXPECT_EQ(diagnosed.status, 0) << "that its file is gone is no fault of this diagnosis: " << diagnosed.err;
    const auto judged = diagnosed.json()["captures"];
    ASSERT_THAT(judged, SizeIs(2));
    for (const auto& verdict : judged) {
        const bool gone = verdict["capture"] == "(replaced)/dump.pt";
        EXPECT_EQ(verdict["verdict"], gone ? "undecided" : "downstream") << verdict["capture"];
        EXPECT_TRUE(verdict["unread"].is_null());
    }
}

TEST_F(PerRank, ACopyInTheFolderKeepsItsPlaceOverImports)
{
    addSecond();
    fs::create_directories(m_folder / "run/copies");
    fs::copy_file(m_folder / "run/rank_0/dump.pt", m_folder / "run/copies/dump.pt");
    std::string before;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(run({"import", m_folder / "run", "--session", m_session}).status, 0);
        const auto listed = run({"list", m_session, "captures", "--json"}).json();
        ASSERT_THAT(listed["captures"], SizeIs(2));
        const std::string name = listed["captures"][0]["file"];
        EXPECT_TRUE(i == 0 || name == before) << name;
        before = name;
    }
}
