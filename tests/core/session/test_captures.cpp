// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Which capture a name stands for, however and whenever captures came into the session.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "core/session/session.h"
#include "tests/core/session/oldersession.h"
#include "tests/core/session/temporaryfolder.h"

namespace nanscope {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class NamesInASession : public testing::Test
{
protected:
    session::Session open(session::OpenMode mode = session::OpenMode::create) const
    {
        auto session = session::Session::open(m_path, mode);
        EXPECT_TRUE(session) << (session ? "" : session.error().what);
        return std::move(*session);
    }

    static Capture capture(const std::string& identity, const std::string& path)
    {
        Capture made;
        made.identity = identity;
        made.path = path;
        made.file = path.substr(path.rfind('/') + 1);
        made.input = {{2, 2}, DType::float32, {Scan {}}};
        return made;
    }

    static void add(session::Session& session, std::vector<Capture> captures)
    {
        const auto added = session.addCaptures(captures);
        ASSERT_TRUE(added) << added.error().what;
    }

    static void sweep(session::Session& session, const std::string& name, Outcome outcome)
    {
        Cell cell;
        cell.capture = name;
        cell.variant = "keller-jordan";
        cell.outcome = outcome;
        ASSERT_TRUE(session.addCell(cell));
    }

    static std::map<std::string, std::string> names(const session::Session& session)
    {
        std::map<std::string, std::string> byIdentity;
        const auto run = session.summary().value();
        for (const auto& one : run.captures) {
            byIdentity[one.identity] = one.file;
        }
        return byIdentity;
    }

    static std::map<std::string, Outcome> cells(const session::Session& session)
    {
        std::map<std::string, Outcome> byName;
        const auto all = session.cells().value();
        for (const auto& cell : all) {
            EXPECT_TRUE(byName.emplace(cell.capture, cell.outcome).second) << cell.capture;
        }
        return byName;
    }

    void change(const std::string& sql) const
    {
        sqlite3* db = nullptr;
        ASSERT_EQ(sqlite3_open(m_path.c_str(), &db), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
        sqlite3_close(db);
    }

    TemporaryFolder m_folder;
    std::filesystem::path m_path = m_folder / "a.nanscope";
};

TEST_F(NamesInASession, TellCapturesOfOneImportApart)
{
    auto session = open();
    add(session, {capture("a", "/run/rank_0/dump.pt"), capture("b", "/run/rank_1/dump.pt"), capture("c", "/run/c.pt")});
    EXPECT_THAT(names(session),
        UnorderedElementsAre(Pair("a", "rank_0/dump.pt"), Pair("b", "rank_1/dump.pt"), Pair("c", "c.pt")));
    sweep(session, "rank_0/dump.pt", Outcome::finite);
    sweep(session, "rank_1/dump.pt", Outcome::nan);
    EXPECT_THAT(cells(session),
        UnorderedElementsAre(Pair("rank_0/dump.pt", Outcome::finite), Pair("rank_1/dump.pt", Outcome::nan)));
}

TEST_F(NamesInASession, OfOneThatGetsANamesakeTakeAlongWhatIsStoredOfIt)
{
    auto session = open();
    add(session, {capture("a", "/run/rank_0/dump.pt")});
    EXPECT_EQ(names(session)["a"], "dump.pt");
    sweep(session, "dump.pt", Outcome::nan);
    const std::string seen = R"({"called":[{"capture":"other.pt","failed":1},{"capture":"dump.pt","failed":3}]})";
    ASSERT_TRUE(session.setObservations(seen));
    ASSERT_TRUE(session.setDiagnosis(R"({"captures":[{"capture":"dump.pt"}]})"));

    add(session, {capture("b", "/run/rank_1/dump.pt")});
    EXPECT_THAT(names(session), UnorderedElementsAre(Pair("a", "rank_0/dump.pt"), Pair("b", "rank_1/dump.pt")));
    EXPECT_THAT(cells(session), ElementsAre(Pair("rank_0/dump.pt", Outcome::nan))) << "none of the new one's";
    EXPECT_EQ(session.observations().value(),
        R"({"called":[{"capture":"other.pt","failed":1},{"capture":"rank_0/dump.pt","failed":3}]})");
    EXPECT_EQ(session.diagnosis().value(), "") << "its names mean others now";
    EXPECT_EQ(session.captureName("a").value(), "rank_0/dump.pt");
    EXPECT_EQ(session.captureName("none").value(), std::nullopt);
    EXPECT_TRUE(session.isCaptureName("dump.pt").value());
    EXPECT_TRUE(session.isCaptureName("rank_1/dump.pt").value());
    EXPECT_FALSE(session.isCaptureName("rank_2/dump.pt").value());
}

TEST_F(NamesInASession, AreTheSameInEveryOrderAndAfterEveryImport)
{
    const std::vector all {capture("a", "/run/x/rank_0/dump.pt"), capture("b", "/run/y/rank_0/dump.pt"),
        capture("c", "/run/rank_1/dump.pt")};
    std::map<std::string, std::string> expected;
    for (const auto& order : {std::vector {0, 1, 2}, std::vector {2, 1, 0}, std::vector {1, 2, 0}}) {
        std::filesystem::remove(m_path);
        auto session = open();
        for (const int i : order) {
            add(session, {all[static_cast<std::size_t>(i)]});
        }
        if (expected.empty()) {
            expected = names(session);
        }
        EXPECT_EQ(names(session), expected);
        add(session, all);
        for (const auto& one : all) {
            ASSERT_TRUE(session.knowsCapture(one.identity, one.path).value());
        }
        EXPECT_EQ(names(session), expected);
    }
    EXPECT_THAT(expected,
        UnorderedElementsAre(
            Pair("a", "x/rank_0/dump.pt"), Pair("b", "y/rank_0/dump.pt"), Pair("c", "rank_1/dump.pt")));
}

TEST_F(NamesInASession, OfAFileThatWasRenamedFollowItWithItsCells)
{
    auto session = open();
    add(session, {capture("a", "/run/dump.pt")});
    sweep(session, "dump.pt", Outcome::nan);
    ASSERT_TRUE(session.knowsCapture("a", "/run/first.pt").value());
    EXPECT_EQ(names(session)["a"], "first.pt");
    EXPECT_THAT(cells(session), ElementsAre(Pair("first.pt", Outcome::nan)));
    add(session, {capture("b", "/run/dump.pt")});
    EXPECT_EQ(names(session)["b"], "dump.pt");
    EXPECT_THAT(cells(session), ElementsAre(Pair("first.pt", Outcome::nan))) << "the new one has none";
}

TEST_F(NamesInASession, OfACopyInOneImportDoNotTakeAnothersCells)
{
    auto session = open();
    add(session, {capture("a", "/run/dump.pt")});
    sweep(session, "dump.pt", Outcome::nan);
    add(session, {capture("b", "/run/sub/dump.pt"), capture("b", "/run/sub/copy.pt")});
    EXPECT_EQ(names(session)["b"], "copy.pt");
    EXPECT_THAT(cells(session), ElementsAre(Pair(names(session)["a"], Outcome::nan)));
}

TEST_F(NamesInASession, OfACaptureWrittenOverAnotherAreNeverTheOthers)
{
    auto session = open();
    ASSERT_TRUE(session.setRun("run", "/run"));
    add(session, {capture("a", "/run/dump.pt")});
    sweep(session, "dump.pt", Outcome::nan);
    add(session, {capture("b", "/run/dump.pt")});
    EXPECT_THAT(names(session), UnorderedElementsAre(Pair("a", "(replaced)/dump.pt"), Pair("b", "run/dump.pt")));
    EXPECT_THAT(cells(session), ElementsAre(Pair("(replaced)/dump.pt", Outcome::nan)));
    EXPECT_EQ(session.summary()->captures.at(0).path, "/run/(replaced)/dump.pt") << "what lies there is the other";
    EXPECT_EQ(session.summary()->captures.at(1).path, "/run/dump.pt");
    ASSERT_TRUE(session.knowsCapture("a", "/run/dump.pt").value());
    EXPECT_EQ(session.summary()->captures.at(0).path, "/run/dump.pt") << "it was brought back";
    EXPECT_EQ(session.summary()->captures.at(1).path, "/run/(replaced)/dump.pt");
}

TEST_F(NamesInASession, OfAnOldOneAreReadAsTheyAreAndToldApart)
{
    {
        auto session = open();
        add(session,
            {capture("a", "/run/rank_0/dump.pt"), capture("b", "/run/rank_1/dump.pt"), capture("c", "/run/c.pt")});
        sweep(session, "c.pt", Outcome::finite);
        ASSERT_TRUE(session.setDiagnosis("{}"));
    }
    makeOlder(m_path, 4);
    // Two replays, one of each: the later one took the earlier one's place.
    change("INSERT INTO cells VALUES (NULL, 'dump.pt', 'keller-jordan', 'bf16', 'cpu', 'eager', 0, '', '', '', '', 1, "
           "'', 0, 'nan', 0, '')");
    {
        const auto old = open(session::OpenMode::readOnly);
        EXPECT_THAT(names(old),
            UnorderedElementsAre(Pair("a", "rank_0/dump.pt"), Pair("b", "rank_1/dump.pt"), Pair("c", "c.pt")));
        EXPECT_THAT(old.variants().value(), IsEmpty());
    }
    auto session = open(session::OpenMode::readWrite);
    EXPECT_THAT(names(session),
        UnorderedElementsAre(Pair("a", "rank_0/dump.pt"), Pair("b", "rank_1/dump.pt"), Pair("c", "c.pt")));
    EXPECT_THAT(cells(session), ElementsAre(Pair("c.pt", Outcome::finite))) << "nobody knows whose the other was";
    EXPECT_EQ(session.diagnosis().value(), "");
}

TEST_F(NamesInASession, OfAnOldOneWithoutNamesakesStayWithTheirCells)
{
    {
        auto session = open();
        add(session, {capture("a", "/run/rank_0/a.pt")});
        sweep(session, "a.pt", Outcome::nan);
        ASSERT_TRUE(session.setDiagnosis("{}"));
    }
    makeOlder(m_path, 4);
    const auto session = open(session::OpenMode::readWrite);
    EXPECT_THAT(cells(session), ElementsAre(Pair("a.pt", Outcome::nan)));
    EXPECT_EQ(session.diagnosis().value(), "{}");
}

TEST_F(NamesInASession, OfAStrangersOldFileAreNotLookedAt)
{
    {
        auto session = open();
        add(session, {capture("a", "/run/a.pt")});
    }
    makeOlder(m_path, 4);
    change("CREATE TABLE own (x)");
    const auto refused = session::Session::open(m_path, session::OpenMode::readWrite);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::refused);
    change("DROP TABLE own");
    EXPECT_TRUE(session::Session::open(m_path, session::OpenMode::readWrite)) << "left as it was";
}

TEST_F(NamesInASession, StandBesideWhatTheirSidecarsSay)
{
    auto told = capture("b", "/run/b.pt");
    told.nothingElse = true;
    told.scene = {"mine:ns", R"({"steps":6})", 9, 2, true, true};
    {
        auto session = open();
        add(session, {capture("a", "/run/a.pt"), told, capture("c", "/run/c.pt")});
        const auto stored = session.load()->captures;
        ASSERT_THAT(stored, SizeIs(3));
        EXPECT_EQ(stored[1].scene, told.scene);
        EXPECT_TRUE(stored[1].nothingElse);
        EXPECT_EQ(stored[2].scene, Scene {});
        EXPECT_FALSE(stored[2].nothingElse);
    }
    makeOlder(m_path, 11);
    EXPECT_EQ(open(session::OpenMode::readOnly).load()->captures.at(1).scene, Scene {}) << "of a version without them";
    auto session = open(session::OpenMode::readWrite);
    add(session, {told});
    EXPECT_EQ(session.load()->captures.at(1).scene, told.scene);
    told.scene = {};
    add(session, {told});
    EXPECT_EQ(session.load()->captures.at(1).scene, Scene {}) << "a sidecar that is gone says nothing any more";
}

TEST_F(NamesInASession, StandBesideAllOfTheirScenes)
{
    auto told = capture("b", "/run/b.json");
    auto& scene = told.scene;
    scene = {"mine:ns", R"({"steps":6})", 9, 2, true, true};
    scene.sourceHash = "00ff";
    scene.state = OwnState::notKnown;
    scene.notCalledAgain = "the call needs every rank";
    scene.exception = "ValueError: no";
    scene.stale = StaleOutput {0, 17};
    scene.parameters = ParameterState {4, 1, 3, 2, "blocks.0.q", ParameterCoverage {70, 64, true}, 4, 3, 3, 1, 2};
    scene.weightsBefore = WeightsBefore {12, 1, "blocks.1.q", true};
    scene.optimizerStep = 28;
    scene.callIndex = 170;
    scene.badNotWritten = 2;
    scene.notLookedAt = 49;
    scene.namedLike = "keller-jordan";
    scene.loneTensor = scene.onCpu = true;
    scene.world = 8;
    scene.mesh = "5e6f";
    scene.control = "nanscope_control_rank0.pt";
    scene.rotated = true;
    scene.withheld = Withheld::inputLost;
    scene.withheldBecause = "nobody held it";
    scene.singular = SingularValues {0.25, 0.5, 3};
    scene.otherEpsilon = 0;
    scene.problem = SidecarProblem::tooLong;
    {
        auto session = open();
        add(session, {capture("a", "/run/a.pt"), told});
        EXPECT_EQ(session.load()->captures.at(1).scene, scene);
        told.scene.stale.reset();
        ASSERT_TRUE(session.setDiagnosis("{}"));
        ASSERT_TRUE(session.takeSidecar(told));
        EXPECT_EQ(session.load()->captures.at(1).scene, scene);
        EXPECT_EQ(session.diagnosis().value(), "") << "it was judged with other facts";
    }
    const auto of15 = m_folder / "of15.nanscope";
    std::filesystem::copy_file(m_path, of15);
    makeOlder(of15, 15);
    auto uncovered = told.scene;
    uncovered.parameters->coverage.reset();
    uncovered.parameters->weights = uncovered.parameters->badWeights = 0;
    uncovered.parameters->weightsBefore = uncovered.parameters->badWeightsBefore = 0;
    uncovered.parameters->momentaBefore = 0;
    const auto forgetUnwritten = [](Scene& one) {
        one.weightsBefore.reset();
        one.optimizerStep.reset();
        one.badNotWritten = one.notLookedAt = 0;
        one.namedLike.clear();
        one.arguments.clear();
        one.callIndex.reset();
        one.loneTensor = one.onCpu = false;
        one.world = 0;
        one.mesh.clear();
    };
    forgetUnwritten(uncovered);
    EXPECT_EQ(session::Session::open(of15, session::OpenMode::readOnly)->load()->captures.at(1).scene, uncovered);
    const auto of14 = m_folder / "of14.nanscope";
    std::filesystem::copy_file(m_path, of14);
    makeOlder(of14, 14);
    auto without = told.scene;
    without.parameters.reset();
    forgetUnwritten(without);
    const auto old = session::Session::open(of14, session::OpenMode::readOnly);
    ASSERT_TRUE(old) << sentence(old.error());
    const auto loaded = old->load();
    ASSERT_TRUE(loaded) << sentence(loaded.error());
    EXPECT_EQ(loaded->captures.at(1).scene, without);
    makeOlder(m_path, 13);
    const auto calls = Scene {"mine:ns", {}, 9, 2, true, true};
    EXPECT_EQ(open(session::OpenMode::readOnly).load()->captures.at(1).scene, calls) << "what version 13 has of it";
    auto session = open(session::OpenMode::readWrite);
    EXPECT_EQ(session.load()->captures.at(1).scene, calls) << "the rest is NULL until the next import";
    ASSERT_TRUE(session.takeSidecar(told));
    EXPECT_EQ(session.load()->captures.at(1).scene, told.scene);
}

TEST_F(NamesInASession, LeadFromALineToItsDump)
{
    auto session = open();
    add(session, {capture("a", "/run/rank_0/dump.pt"), capture("b", "/run/rank_1/dump.pt")});
    Event event;
    event.kind = EventKind::captureDumped;
    event.capture = "dump.pt";
    event.text = "dumped to rank_1/dump.pt";
    ASSERT_TRUE(session.addLog("c.log", "dion", {}, {{}, {event}, {}, {}}));
    EXPECT_EQ(session.summary()->events.at(0).capture, "rank_1/dump.pt");
    EXPECT_EQ(session.load()->events.at(0).capture, "rank_1/dump.pt");
}

TEST_F(NamesInASession, ObservationsThatAreNoJsonAreLeftAlone)
{
    auto session = open();
    for (const std::string odd : {"", "no json", "[]", R"({"called":3})", R"({"called":["dump.pt"]})"}) {
        const auto file = std::to_string(odd.size()) + ".pt";
        add(session, {capture("a" + odd, "/run/rank_0/" + file)});
        ASSERT_TRUE(session.setObservations(odd));
        add(session, {capture("b" + odd, "/run/rank_1/" + file)});
        EXPECT_EQ(names(session)["a" + odd], "rank_0/" + file);
        EXPECT_EQ(session.observations().value(), odd);
    }
}

TEST_F(NamesInASession, VariantsComeBackAndReplaceTheirOwnOnly)
{
    auto session = open();
    EXPECT_EQ(session.setVariant({"mine", "{}"}, false).value(), 0);
    EXPECT_EQ(session.setVariant({"other", "[]"}, false).value(), 0);
    EXPECT_EQ(session.setVariant({"mine", R"({"a":1})"}, true).value(), 0);
    const auto stored = session.variants().value();
    ASSERT_THAT(stored, SizeIs(2));
    EXPECT_EQ(stored[0].name, "mine");
    EXPECT_EQ(stored[0].definition, R"({"a":1})");
}

TEST_F(NamesInASession, CellsOfAnotherDefinitionAreDropped)
{
    auto session = open();
    add(session, {capture("a", "/run/a.pt")});
    sweep(session, "a.pt", Outcome::nan);
    EXPECT_EQ(session.setVariant({"other", "{}"}, false).value(), 0);
    EXPECT_EQ(session.setVariant({"keller-jordan", "{}"}, true).value(), 0);
    EXPECT_THAT(session.cells().value(), SizeIs(1));
    EXPECT_EQ(session.setVariant({"keller-jordan", "[]"}, false).value(), 1);
    EXPECT_THAT(session.cells().value(), IsEmpty());
}

TEST_F(NamesInASession, DefinitionsBeyondMeasureAreNotRead)
{
    auto session = open();
    ASSERT_TRUE(session.setVariant({"large", std::string(session::maxDefinitionBytes + 1, ' ')}, false));
    for (int i = 0; i < session::maxStoredVariants; ++i) {
        ASSERT_TRUE(session.setVariant({"v" + std::to_string(i), "{}"}, false));
    }
    const auto stored = session.variants().value();
    EXPECT_THAT(stored, SizeIs(session::maxStoredVariants));
    EXPECT_EQ(stored[0].name, "large");
    EXPECT_THAT(stored[0].definition, IsEmpty());
}

} // namespace

} // namespace nanscope
