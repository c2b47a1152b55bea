// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QStatusBar>
#include <QStatusTipEvent>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/model/verdict.h"
#include "core/tensorfile/tensorfile.h"
#include "tests/ui/windowtest.h"
#include "ui/captures/capturemodel.h"
#include "ui/captures/capturespane.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/framemap.h"
#include "ui/film/framepane.h"
#include "ui/heatmap/heatmap.h"
#include "ui/report/reportpane.h"
#include "ui/report/reportview.h"
#include "ui/shared/partsscroll.h"
#include "ui/shared/table/roles.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/shell/mainwindow.h"
#include "ui/shell/parts/messagebar.h"
#include "ui/sweep/cellgridmodel.h"
#include "ui/sweep/sweeppane.h"
#include "ui/tensors/tensorspane.h"
#include "ui/timeline/timelinepane.h"
#include "ui/timeline/timelineplot.h"
#include "ui/verdict/verdictbox.h"
#include "ui/verdict/verdictpane.h"
#include "ui/verdict/verdictticks.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

using test::patienceMs;
using test::quietOptions;

Json expected()
{
    std::ifstream in(fs::path(NANSCOPE_SAMPLE) / "expected.json");
    return Json::parse(in, nullptr, false);
}

class WindowTest : public testing::Test
{
protected:
    // Sessions of one test are not seen by the next.
    WindowTest() { qputenv("XDG_DATA_HOME", folder.filePath(QStringLiteral("home")).toUtf8()); }

    bool waitUntil(const std::function<bool()>& condition) { return QTest::qWaitFor(condition, patienceMs); }
    bool open(const QString& path)
    {
        window.resize(1440, 900);
        window.show();
        window.openPath(path);
        return waitUntil([this] { return window.workspace().settled() && window.panes().timeline->settled(); });
    }

    QTemporaryDir folder;
    MainWindow window {quietOptions()};
};

/// The golden run: one truth, seen through the window. Without its shipped session, so that all of it is done here.
class SampleWindow : public WindowTest
{
protected:
    void SetUp() override
    {
        truth = expected();
        if (!truth.is_object()) {
            GTEST_SKIP() << "no sample run at " NANSCOPE_SAMPLE;
        }
        fs::copy(NANSCOPE_SAMPLE, sample, fs::copy_options::recursive);
        fs::remove(sample / "sample.nanscope");
        ASSERT_TRUE(open(qstr(sample.string())));
    }

    Json truth;
    fs::path sample = fs::path(folder.path().toStdString()) / "sample";
};

/// An 8 x 8 capture of step 5 whose input is this value everywhere, and whose output is zero.
void writeZeroOutput(const fs::path& folder, int rank, float inputValue)
{
    const auto tensor = [](const char* name, float value) {
        const std::vector<float> values(std::size_t {8} * 8, value);
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        return tensorfile::TensorToWrite {name, DType::float32, {8, 8}, bytes};
    };
    const auto stem = "rank" + std::to_string(rank);
    EXPECT_TRUE(tensorfile::writePt(folder / (stem + ".pt"),
        {{"input", tensor("input", inputValue)}, {"output", tensor("output", 0)}, {"rank", std::int64_t {rank}}}));
    std::ofstream(folder / (stem + ".json")) << R"({"variant": "keller-jordan", "step": 5})";
}

QStringList rolesShown(QTableView& view)
{
    QStringList roles;
    for (int row = 0; row < view.model()->rowCount(); ++row) {
        roles << view.model()->index(row, 0).data().toString();
    }
    return roles;
}

} // namespace

TEST_F(WindowTest, StartsEmptyWithOnlyOpenEnabled)
{
    EXPECT_TRUE(window.actions().openFolder->isEnabled());
    EXPECT_FALSE(window.actions().sweep->isEnabled());
    EXPECT_FALSE(window.actions().exportReport->isEnabled());
    EXPECT_FALSE(window.actions().cancel->isEnabled());
}

TEST_F(WindowTest, EveryCommandHasATipAndShortcutsDoNotClash)
{
    QList<QKeySequence> seen;
    for (const QAction* action : window.findChildren<QAction*>()) {
        // Those of one widget do not clash with another's.
        if (action->shortcut().isEmpty() || action->shortcutContext() != Qt::WindowShortcut) {
            continue;
        }
        EXPECT_FALSE(seen.contains(action->shortcut())) << action->text().toStdString();
        seen << action->shortcut();
    }
    EXPECT_GE(seen.size(), 8);
}

TEST_F(WindowTest, MissingPathIsASentenceAndTheWindowLives)
{
    ASSERT_TRUE(open(folder.filePath(QStringLiteral("not-there"))));
    EXPECT_TRUE(window.messageBar()->sentence().contains(QStringLiteral("not-there")));
    EXPECT_FALSE(window.workspace().hasRun());
}

TEST_F(WindowTest, RejectedFilesAreListedAndTheRestIsOpen)
{
    std::ofstream(fs::path(folder.path().toStdString()) / "cut.pt") << "PK\x03\x04 and then nothing";
    std::ofstream(fs::path(folder.path().toStdString()) / "train.csv") << "step,loss\n0,1.5\n1,nan\n2,1.25\n";
    ASSERT_TRUE(open(folder.path()));
    EXPECT_TRUE(window.messageBar()->sentence().startsWith(QStringLiteral("1 file could not be used")));
    EXPECT_EQ(window.panes().timeline->lossPlot()->marks().size(), 1U);
    EXPECT_EQ(window.panes().verdict->headline(),
        QStringLiteral("Loss is NaN at step 1 (train.csv:3), the only one of 3 logged losses that is not finite, and "
                       "the run went on"));
    EXPECT_TRUE(window.panes().timeline->lossPlot()->isVisible());
    EXPECT_FALSE(window.panes().timeline->gradNormPlot()->isVisible()) << "no such series in the log";
    EXPECT_FALSE(window.actions().sweep->isEnabled());
}

TEST_F(WindowTest, SessionFileThatIsNoneIsRefused)
{
    const QString path = folder.filePath(QStringLiteral("x.nanscope"));
    std::ofstream(path.toStdString()) << "hello";
    ASSERT_TRUE(open(path));
    EXPECT_TRUE(window.messageBar()->sentence().contains(QStringLiteral("x.nanscope")));
}

TEST_F(WindowTest, ThemeChangesLive)
{
    window.show();
    window.actions().themeDark->trigger();
    EXPECT_TRUE(theme().dark);
    EXPECT_LT(window.grab().toImage().pixelColor(5, 400).lightness(), 100);
    window.actions().themeLight->trigger();
    EXPECT_GT(window.grab().toImage().pixelColor(5, 400).lightness(), 200);
}

TEST_F(WindowTest, DropOpensAFolder)
{
    std::ofstream(fs::path(folder.path().toStdString()) / "train.csv") << "step,loss\n0,1.5\n";
    window.show();
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(folder.path())});
    // QApplication delivers a drop only to what accepted the drag.
    QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent drop({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &drop);
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled() && window.workspace().hasRun(); }));
    EXPECT_TRUE(window.windowTitle().contains(QFileInfo(folder.path()).fileName()));
}

TEST_F(WindowTest, OpensOnABirthThatIsFiniteAndCountsNoHealthyCaptureWithIt)
{
    const fs::path run = fs::path(folder.path().toStdString()) / "run";
    fs::create_directories(run);
    writeZeroOutput(run, 0, 0);
    writeZeroOutput(run, 1, 0.25F);
    ASSERT_TRUE(open(qstr(run.string())));
    ASSERT_NE(window.workspace().verdict(), nullptr);
    EXPECT_EQ(window.workspace().verdict()->role, Role::birth) << window.workspace().verdict()->summary;
    EXPECT_EQ(window.workspace().capture()->rank, 1) << "triage, which replays nothing, takes both for healthy";
    const auto& captures = window.workspace().loaded().run->captures;
    const auto healthy = std::ranges::find(captures, std::optional(0), &Capture::rank) - captures.begin();
    window.panes().captures->selectCapture(static_cast<int>(healthy));
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    ASSERT_EQ(window.workspace().verdict()->role, Role::healthy);
    EXPECT_EQ(window.panes().verdict->headline(), QStringLiteral("Healthy"));
    EXPECT_FALSE(window.panes().verdict->place().contains(QStringLiteral("went bad")))
        << window.panes().verdict->place().toStdString();
}

TEST_F(SampleWindow, ListsTheCapturesWithTheirRoles)
{
    const QStringList roles = rolesShown(*window.panes().captures->view());
    EXPECT_EQ(roles.size(), truth["triage"]["captures"].get<int>());
    EXPECT_EQ(roles.count(QStringLiteral("birth")), truth["triage"]["births"].get<int>());
    EXPECT_EQ(roles.count(QStringLiteral("downstream")), truth["triage"]["downstream"].get<int>());
    EXPECT_EQ(window.messageBar()->sentence(), QString());
}

TEST_F(SampleWindow, SelectsTheBirthAndSaysTheVerdict)
{
    const Json& birth = truth["birth"];
    ASSERT_NE(window.workspace().capture(), nullptr);
    EXPECT_EQ(window.workspace().capture()->file, birth["capture"].get<std::string>());
    EXPECT_TRUE(
        window.panes().verdict->headline().startsWith(qstr(birth["verdict"].get<std::string>()), Qt::CaseInsensitive));
    EXPECT_TRUE(window.panes().verdict->place().startsWith(QStringLiteral("NaN: rank 0")))
        << "another birth of the same update may have been before it";
    EXPECT_TRUE(window.panes().verdict->place().contains(
        QStringLiteral("2 captures went bad in this update: this one and one of rank 1")));
    EXPECT_TRUE(window.panes().verdict->place().endsWith(QStringLiteral("4 of the 10 captures follow from it.")));
    const QTableView& view = *window.panes().captures->view();
    const QString step = QStringLiteral("%1–%2").arg(birth["step"][0].get<int>()).arg(birth["step"][1].get<int>());
    EXPECT_EQ(view.currentIndex().siblingAtColumn(2).data().toString(), step);
}

TEST_F(SampleWindow, ACaptureThatFollowsFromAnotherIsNotOfferedForASweep)
{
    const int captures = static_cast<int>(window.workspace().loaded().run->captures.size());
    int follows = 0;
    while (follows < captures && window.workspace().verdict()->role != Role::downstream) {
        window.workspace().select(follows++);
    }
    ASSERT_EQ(window.workspace().verdict()->role, Role::downstream);
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_TRUE(window.panes().film->offered()->isHidden());
    EXPECT_TRUE(window.panes().film->strip()->accessibleDescription().contains(QStringLiteral("follows from another")))
        << window.panes().film->strip()->accessibleDescription().toStdString();
}

TEST_F(SampleWindow, OpensOnTheCapturedOutputBelowTheReplayOfWhatRan)
{
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled() && window.panes().film->strip()->film(); }));
    const FilmStrip& strip = *window.panes().film->strip();
    const Film& film = *strip.film();
    ASSERT_GE(capturedFrame(film), 0);
    EXPECT_EQ(strip.current(), capturedFrame(film)) << "the replay is finite";
    EXPECT_LT(film.firstNonFinite, 0);
    EXPECT_TRUE(strip.capturedNote().contains(QStringLiteral("simulated"))) << strip.capturedNote().toStdString();
    const FrameMap& frame = *window.panes().frame->map();
    EXPECT_EQ(frame.picture()->scan.nan, window.workspace().verdict()->facts.damage.count);
    EXPECT_FALSE(frame.firstRing().isEmpty());
    EXPECT_FALSE(frame.damageRect().isEmpty());
    EXPECT_TRUE(window.panes().tensors->outputCaption().contains(QStringLiteral("rows 32–63 × columns 64–127")));
    window.panes().film->strip()->setCurrent(0);
    EXPECT_TRUE(frame.damageRect().isEmpty()) << "what is replayed has no damage";
}

TEST_F(WindowTest, OneKeyLeadsToTheInfOfTheSecondBirthAlreadySwept)
{
    const fs::path sample = fs::path(folder.path().toStdString()) / "sample";
    fs::copy(NANSCOPE_SAMPLE, sample, fs::copy_options::recursive);
    ASSERT_TRUE(open(qstr((sample / "sample.nanscope").string())));
    const FilmStrip& strip = *window.panes().film->strip();
    ASSERT_TRUE(waitUntil([&] { return window.workspace().settled() && strip.film(); }));
    const std::string overflow = expected()["overflow"]["capture"].get<std::string>();
    EXPECT_EQ(std::ranges::count(window.workspace().loaded().cells, overflow, &Cell::capture), 15);
    QTest::keyClick(window.panes().captures->view(), Qt::Key_Down);
    ASSERT_TRUE(waitUntil([&] { return window.workspace().settled() && strip.film()->firstNonFinite >= 0; }));
    EXPECT_EQ(window.workspace().capture()->file, overflow);
    EXPECT_EQ(window.panes().verdict->headline(), QStringLiteral("Numerics"));
    EXPECT_TRUE(window.panes().verdict->kind().startsWith(QStringLiteral("Overflow in the cast")));
    EXPECT_EQ(strip.current(), strip.film()->firstNonFinite);
    EXPECT_EQ(strip.film()->frames[static_cast<std::size_t>(strip.current())].name, OpName::cast);
    const Scan cast = window.panes().frame->map()->picture()->scan;
    EXPECT_EQ(cast.posInf + cast.negInf, 212);
    EXPECT_EQ(cast.nan, 0);
    EXPECT_EQ(window.workspace().verdict()->facts.damage.nan, 160 * 96) << "what becomes of it";
}

TEST_F(WindowTest, SeveralLogsHaveALineEach)
{
    const fs::path logs = fs::path(folder.path().toStdString()) / "logs";
    fs::create_directory(logs);
    for (const char* name : {"a.log", "b.log"}) {
        std::ofstream stream(logs / name);
        for (int step = 0; step < 8; ++step) {
            stream << "step " << step << " loss " << (name[0] == 'b' && step > 5 ? "nan" : "2.5") << '\n';
        }
    }
    ASSERT_TRUE(open(qstr(logs.string())));
    const auto* summary = window.panes().verdict->findChild<QLabel*>(QStringLiteral("summary"));
    ASSERT_NE(summary, nullptr);
    EXPECT_TRUE(summary->text().contains(QStringLiteral("a.log: "))) << summary->text().toStdString();
    EXPECT_TRUE(summary->text().contains(QStringLiteral("b.log: ")));
}

TEST_F(SampleWindow, PaintsTheDamageWhereItIs)
{
    const Json& damage = truth["birth"]["damage"];
    HeatMap* map = window.panes().tensors->outputMap();
    ASSERT_NE(map->picture(), nullptr);
    EXPECT_EQ(map->picture()->scan.nan, damage["nan"].get<int>());
    const QRectF first = map->elementRect(damage["rows"][0].get<int>(), damage["cols"][0].get<int>());
    const QRectF last = map->elementRect(damage["rows"][1].get<int>() - 1, damage["cols"][1].get<int>() - 1);
    EXPECT_EQ(map->damageRect(), first.united(last));
    const QRgb pixel = map->grab().toImage().pixel(map->damageRect().center().toPoint());
    EXPECT_TRUE(pixel == theme().nan.rgb() || pixel == hatchColor(ValueClass::nan, theme()).rgb());
    EXPECT_EQ(window.panes().tensors->inputMap()->picture()->scan.nonFinite(), 0);
}

TEST_F(SampleWindow, TimelinesMarkEveryNanOfBothRanks)
{
    std::size_t loss = 0;
    std::size_t gradNorm = 0;
    for (const Json& series : truth["series"]) {
        (series["name"] == "loss" ? loss : gradNorm) += series["nan"].get<std::size_t>();
    }
    EXPECT_EQ(window.panes().timeline->lossPlot()->marks().size(), loss);
    EXPECT_EQ(window.panes().timeline->gradNormPlot()->marks().size(), gradNorm);
}

TEST_F(SampleWindow, SweepFillsTheGridAndIsThereAgainAfterwards)
{
    CellGridModel* grid = window.panes().sweep->model();
    EXPECT_EQ(grid->doneCount(), 1) << "what ran is replayed as soon as it is known";
    window.actions().sweep->trigger();
    EXPECT_TRUE(window.actions().cancel->isEnabled());
    ASSERT_TRUE(waitUntil([this] { return !window.workspace().sweeping(); }));
    EXPECT_EQ(window.messageBar()->sentence(), QString());
    EXPECT_EQ(grid->doneCount(), grid->cellCount());
    EXPECT_GE(grid->rowCount(), 7);
    EXPECT_EQ(grid->columnCount(), 5);
    // The input is finite and small: in fp64 every variant must stay finite.
    for (int row = 0; row < grid->rowCount(); ++row) {
        EXPECT_EQ(grid->index(row, 0).data().toString(), QStringLiteral("finite"));
    }
    window.openPath(qstr(sample.string()));
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_EQ(grid->doneCount(), grid->cellCount()) << "the session kept the cells";
    window.actions().sweep->trigger();
    EXPECT_FALSE(window.workspace().sweeping());
    EXPECT_EQ(window.messageBar()->sentence(),
        QStringLiteral("All %1 cells of this choice have been replayed already").arg(grid->cellCount()));
    for (auto* button : window.messageBar()->findChildren<QPushButton*>()) {
        button->click();
    }
    EXPECT_TRUE(window.workspace().sweeping());
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
}

TEST_F(SampleWindow, CancelledJudgementIsNotShownAsOneGoingOn)
{
    const std::string before = window.workspace().verdict()->summary;
    window.workspace().setRan({QStringLiteral("keller-jordan")});
    EXPECT_TRUE(window.workspace().judging());
    window.actions().cancel->trigger();
    EXPECT_FALSE(window.workspace().busy());
    EXPECT_EQ(window.workspace().verdict()->summary, before);
}

TEST_F(WindowTest, AFileThatIsNoRunLeavesTheStartPage)
{
    const QString path = folder.filePath(QStringLiteral("notes.xyz"));
    std::ofstream(path.toStdString()) << "nothing of a run";
    QSignalSpy problem(&window.workspace(), &Workspace::problem);
    ASSERT_TRUE(open(path));
    EXPECT_FALSE(window.workspace().hasRun());
    ASSERT_EQ(problem.size(), 1);
    EXPECT_EQ(problem[0][0].toString(),
        QStringLiteral("There is no capture (.pt, .safetensors, .npy), log or checkpoint in notes.xyz."));
    EXPECT_FALSE(window.actions().exportReport->isEnabled());
}

TEST_F(WindowTest, WhatIsKnownIsShownWhereTheJudgingIsStopped)
{
    const fs::path sample = fs::path(folder.path().toStdString()) / "sample";
    fs::copy(NANSCOPE_SAMPLE, sample, fs::copy_options::recursive);
    fs::remove(sample / "sample.nanscope");
    window.workspace().limitJudging(1e-9);
    ASSERT_TRUE(open(qstr(sample.string())));
    ASSERT_NE(window.workspace().verdict(), nullptr);
    EXPECT_EQ(window.workspace().verdict()->role, Role::birth);
    EXPECT_EQ(window.workspace().verdict()->summary, "not judged (the time limit of 1e-09 s)");
    const auto judge = [this] {
        for (auto* button : window.panes().verdict->findChildren<QPushButton*>()) {
            if (button->text() == QStringLiteral("Judge now")) {
                return button;
            }
        }
        return static_cast<QPushButton*>(nullptr);
    };
    ASSERT_NE(judge(), nullptr);
    EXPECT_TRUE(judge()->isVisibleTo(&window));
    EXPECT_EQ(window.panes().verdict->headline(), QStringLiteral("Not judged (the time limit of 1e-09 s)"))
        << "that is no verdict";
    const QAbstractItemModel* captures = window.panes().captures->view()->model();
    EXPECT_EQ(captures->index(0, CaptureModel::VerdictColumn).data().toString(), QStringLiteral("not judged"));
    window.workspace().limitJudging({});
    judge()->click();
    EXPECT_TRUE(window.workspace().judging());
    EXPECT_FALSE(judge()->isVisibleTo(&window));
    EXPECT_EQ(captures->index(0, CaptureModel::VerdictColumn).data().toString(), QStringLiteral("…"));
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_EQ(window.workspace().verdict()->blame, Blame::implementation) << "half a diagnosis is not kept";
    EXPECT_FALSE(judge()->isVisibleTo(&window));
}

TEST_F(SampleWindow, SayingWhatRanJudgesAgain)
{
    window.workspace().setRan({QStringLiteral("keller-jordan")});
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_EQ(window.workspace().verdict()->variant.names, std::vector<std::string> {"keller-jordan"});
    EXPECT_EQ(window.workspace().verdict()->variant.how, IdentifiedBy::given);
    window.actions().rescan->trigger();
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_EQ(window.workspace().verdict()->variant.how, IdentifiedBy::given) << "judged again by what was said";
    EXPECT_EQ(window.workspace().ran(), QStringList(QStringLiteral("keller-jordan")));
    window.workspace().setRan({});
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_EQ(window.workspace().verdict()->variant.how, IdentifiedBy::fit);
}

TEST_F(SampleWindow, TheListSaysWhatTheCardSaysOfARepeatedCall)
{
    Workspace& workspace = window.workspace();
    CapturesPane& captures = *window.panes().captures;
    const auto shown = [&] {
        const QModelIndex row = captures.view()->currentIndex();
        return row.siblingAtColumn(CaptureModel::VerdictColumn).data().toString();
    };
    ASSERT_EQ(shown(), QStringLiteral("implementation"));
    Observations observed;
    observed.called = {{workspace.capture()->file, 0, 10}};
    VerdictPane& card = *window.panes().verdict;
    card.setObserved(observed);
    workspace.setObserved(observed);
    EXPECT_EQ(shown(), blameWord(card.verdict()->blame));
    EXPECT_NE(shown(), QStringLiteral("implementation"));
    workspace.undoAnswer();
    EXPECT_EQ(shown(), QStringLiteral("implementation"));
}

TEST_F(WindowTest, OfAHealthyLogNoFaultIsSpokenOf)
{
    const fs::path run = fs::path(folder.path().toStdString()) / "healthy";
    fs::create_directories(run);
    std::ofstream(run / "train.log") << "Step 0: train_loss=2.0000\nStep 1: train_loss=1.5000\n";
    ASSERT_TRUE(open(qstr(run.string())));
    const auto says = [this](const QString& what) {
        const auto labels = window.panes().verdict->findChildren<QLabel*>();
        return std::ranges::any_of(labels, [&](const QLabel* label) { return label->text().contains(what); });
    };
    EXPECT_FALSE(says(QStringLiteral("whose fault")));
    EXPECT_TRUE(says(QStringLiteral("if a NaN comes")));
    std::ofstream(run / "train.log", std::ios::app) << "Step 2: train_loss=nan\n";
    window.actions().rescan->trigger();
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_TRUE(says(QStringLiteral("whose fault")));
}

TEST(RememberedRun, WhatRanIsKeptFromVisitToVisit)
{
    const QTemporaryDir folder;
    qputenv("XDG_DATA_HOME", folder.filePath(QStringLiteral("home")).toUtf8());
    const fs::path sample = fs::path(folder.path().toStdString()) / "sample";
    fs::copy(NANSCOPE_SAMPLE, sample, fs::copy_options::recursive);
    WindowOptions options = quietOptions();
    options.remember = true;
    const auto settled = [](MainWindow& window) {
        return QTest::qWaitFor([&] { return window.workspace().settled(); }, patienceMs);
    };
    const QStringList said {QStringLiteral("keller-jordan")};
    {
        MainWindow window(options);
        window.openPath(qstr(sample.string()));
        ASSERT_TRUE(settled(window));
        window.workspace().setRan(said);
        ASSERT_TRUE(settled(window));
    }
    {
        MainWindow window(options);
        window.openPath(qstr(sample.string()));
        ASSERT_TRUE(settled(window));
        EXPECT_EQ(window.workspace().ran(), said);
        EXPECT_EQ(window.workspace().verdict()->variant.how, IdentifiedBy::given);
        window.workspace().setRan({});
        ASSERT_TRUE(settled(window));
    }
    MainWindow window(options);
    window.openPath(qstr(sample.string()));
    ASSERT_TRUE(settled(window));
    EXPECT_EQ(window.workspace().ran(), QStringList()) << "and can be taken back";
}

TEST_F(SampleWindow, TheFilmFollowsWhatTheUserSaysMayHaveRun)
{
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled() && window.panes().film->strip()->film(); }));
    const FilmPane& film = *window.panes().film;
    EXPECT_TRUE(film.note().contains(QStringLiteral("that may have run"))) << film.note().toStdString();
    const std::string shown = window.panes().film->strip()->film()->cell.variant;
    Q_EMIT window.panes().verdict->ticksChanged({qstr(shown)});
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_FALSE(film.note().contains(QStringLiteral("may have run"))) << film.note().toStdString();
}

TEST_F(SampleWindow, TheFilmLeavesAFunctionThatDidNotRun)
{
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled() && window.panes().film->strip()->film(); }));
    const auto shown = [this] {
        const Film* film = window.panes().film->strip()->film();
        return film ? film->cell.variant : std::string();
    };
    ASSERT_EQ(shown(), "gns-gram");
    Q_EMIT window.panes().verdict->ticksChanged({QStringLiteral("gns-standard")});
    EXPECT_TRUE(waitUntil([&] { return shown() == "gns-standard"; })) << shown();
}

TEST_F(SampleWindow, TakingAnAnswerBackShowsTheFilmFromBefore)
{
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled() && window.panes().film->strip()->film(); }));
    const auto shown = [this] {
        const Film* film = window.panes().film->strip()->film();
        return film ? film->cell.variant : std::string();
    };
    ASSERT_EQ(shown(), "gns-gram");
    Q_EMIT window.panes().verdict->ticksChanged({QStringLiteral("gns-standard")});
    ASSERT_TRUE(waitUntil([&] { return shown() == "gns-standard"; })) << shown();
    window.actions().undoAnswer->trigger();
    EXPECT_TRUE(waitUntil([&] { return shown() == "gns-gram"; })) << shown();
    window.workspace().setRan({QStringLiteral("gns-standard")});
    ASSERT_TRUE(waitUntil([&] { return window.workspace().settled() && shown() == "gns-standard"; })) << shown();
    window.actions().undoAnswer->trigger();
    EXPECT_TRUE(waitUntil([&] { return window.workspace().settled() && shown() == "gns-gram"; })) << shown();
}

TEST_F(SampleWindow, ARescanSaysWhatItFound)
{
    QSignalSpy notes(&window.workspace(), &Workspace::note);
    window.actions().rescan->trigger();
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    ASSERT_EQ(notes.size(), 1);
    EXPECT_EQ(notes.first().first().toString(), QStringLiteral("Read again: nothing new"));
    window.actions().follow->setChecked(false);
    writeZeroOutput(sample / "dion_nan_captures", 7, 1);
    window.actions().rescan->trigger();
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_EQ(notes.last().first().toString(), QStringLiteral("Read again: 1 new capture"));
}

TEST_F(WindowTest, ARescanOfLogsAloneSaysWhatItFound)
{
    std::ofstream(folder.filePath(QStringLiteral("train.log")).toStdString()) << "step 1 loss 2.5\nstep 2 loss 2.4\n";
    ASSERT_TRUE(open(folder.path()));
    QSignalSpy notes(&window.workspace(), &Workspace::note);
    window.actions().rescan->trigger();
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    ASSERT_EQ(notes.size(), 1);
    EXPECT_EQ(notes.first().first().toString(), QStringLiteral("Read again: nothing new"));
}

TEST_F(SampleWindow, SweepSaysWhyItWaits)
{
    const auto tip = [this] { return window.actions().sweep->toolTip(); };
    EXPECT_TRUE(tip().startsWith(QStringLiteral("Replay the selected capture"))) << tip().toStdString();
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    window.workspace().replayCell(test::cellRequest("keller-jordan", Precision::fp32));
    ASSERT_FALSE(window.actions().sweep->isEnabled());
    EXPECT_TRUE(tip().startsWith(QStringLiteral("The film is being replayed"))) << tip().toStdString();
    QSignalSpy notes(&window.workspace(), &Workspace::note);
    window.workspace().replayCell(test::cellRequest("keller-jordan", Precision::fp64));
    EXPECT_EQ(notes.size(), 1) << "what a click does not do is said";
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_TRUE(tip().startsWith(QStringLiteral("Replay the selected capture"))) << tip().toStdString();
}

TEST_F(SampleWindow, ComparingGivesItsRoomBack)
{
    window.resize(1280, 800);
    window.show();
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    QDockWidget* answer = window.findChild<QDockWidget*>(QStringLiteral("answer"));
    ASSERT_NE(answer, nullptr);
    // What is on its way when the next thing happens has no height to speak of.
    qobject_cast<QMainWindow*>(answer->parentWidget())->setAnimated(false);
    const PartsScroll* parts = window.panes().verdict->parts();
    ASSERT_TRUE(waitUntil([&] { return parts->leastHeight() <= parts->viewport()->height(); })) << "at this width";
    const int before = answer->height();
    window.actions().compare->trigger();
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_TRUE(QTest::qWaitFor([&] { return answer->height() < before - 50; }, patienceMs))
        << "there is nothing to give back before the second film is there";
    window.actions().compare->trigger();
    constexpr int roundedAway = 4;
    EXPECT_TRUE(QTest::qWaitFor([&] { return std::abs(answer->height() - before) <= roundedAway; }, 10000))
        << answer->height() << " of " << before;
}

TEST(MainWindowCompare, WhatWasComparedFromTheStartGivesTheAnswerItsShare)
{
    MainWindow window(quietOptions());
    window.resize(1280, 800);
    window.actions().compare->setChecked(true); // as it is restored
    window.show();
    window.openPath(QStringLiteral(NANSCOPE_SAMPLE));
    ASSERT_TRUE(QTest::qWaitFor([&] { return window.workspace().settled(); }, patienceMs));
    QDockWidget* answer = window.findChild<QDockWidget*>(QStringLiteral("answer"));
    ASSERT_NE(answer, nullptr);
    qobject_cast<QMainWindow*>(answer->parentWidget())->setAnimated(false);
    ASSERT_TRUE(QTest::qWaitFor([&] { return answer->height() < 200; }, patienceMs)) << "two films take its room";
    window.actions().compare->trigger();
    EXPECT_TRUE(QTest::qWaitFor([&] { return answer->height() > 220; }, 10000)) << answer->height();
}

TEST_F(SampleWindow, CancelIsAnsweredWithin200Milliseconds)
{
    window.actions().sweep->trigger();
    QElapsedTimer clock;
    clock.start();
    window.actions().cancel->trigger();
    EXPECT_FALSE(window.workspace().sweeping());
    EXPECT_LT(clock.elapsed(), 200);
    EXPECT_TRUE(window.actions().sweep->isEnabled());
}

TEST_F(SampleWindow, AHoverTextHidesNothingOfWhatRuns)
{
    const auto hover = [this] {
        QStatusTipEvent tip(QStringLiteral("Stop what is running"));
        QCoreApplication::sendEvent(&window, &tip);
        return window.statusBar()->currentMessage();
    };
    EXPECT_EQ(hover(), QStringLiteral("Stop what is running"));
    window.actions().sweep->trigger();
    ASSERT_TRUE(window.workspace().busy());
    window.statusBar()->clearMessage();
    EXPECT_EQ(hover(), QString());
    window.statusBar()->showMessage(QStringLiteral("of the mouse before"));
    window.actions().cancel->trigger();
    EXPECT_EQ(window.statusBar()->currentMessage(), QString()) << "it would hide that it was cancelled";
    const auto labels = window.statusBar()->findChildren<QLabel*>();
    EXPECT_TRUE(std::ranges::any_of(
        labels, [](const QLabel* label) { return label->text() == QStringLiteral("Sweep cancelled"); }));
}

TEST_F(SampleWindow, CancelStopsOneJobAndTheNextWithTheNextPress)
{
    window.workspace().setRan({QStringLiteral("keller-jordan")});
    ASSERT_TRUE(window.workspace().judging());
    window.actions().sweep->trigger();
    ASSERT_TRUE(window.workspace().sweeping());
    EXPECT_TRUE(window.actions().cancel->toolTip().startsWith(QStringLiteral("Stop the sweep")));
    QSignalSpy notes(&window.workspace(), &Workspace::note);
    window.actions().cancel->trigger();
    EXPECT_FALSE(window.workspace().sweeping());
    EXPECT_TRUE(window.workspace().judging()) << "nobody asked to stop that";
    EXPECT_EQ(notes.value(0).value(0).toString(), QStringLiteral("Sweep cancelled"));
    EXPECT_TRUE(window.actions().cancel->toolTip().startsWith(QStringLiteral("Stop judging")));
    window.actions().cancel->trigger();
    EXPECT_FALSE(window.workspace().judging());
    EXPECT_FALSE(window.actions().cancel->isEnabled());
}

TEST_F(SampleWindow, ReportSaysWhatTheWindowSays)
{
    const QString path = folder.filePath(QStringLiteral("report.md"));
    QSignalSpy written(&window.workspace().reporter(), &Reporter::written);
    window.exportTo(path);
    ASSERT_TRUE(waitUntil([&] { return !written.isEmpty(); }));
    std::ifstream in(path.toStdString());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    EXPECT_NE(text.find(truth["birth"]["verdict"].get<std::string>()), std::string::npos);
    EXPECT_LE(text.size(), 65536U);
    const auto buttons = window.statusBar()->findChildren<QToolButton*>();
    EXPECT_TRUE(std::ranges::any_of(buttons,
        [](const QToolButton* button) { return button->isVisible() && button->text() == QStringLiteral("Open it"); }));

    window.exportTo(folder.filePath(QStringLiteral("report.json")));
    ASSERT_TRUE(waitUntil([&] { return written.size() == 2; }));
    std::ifstream json(folder.filePath(QStringLiteral("report.json")).toStdString());
    EXPECT_TRUE(Json::parse(json, nullptr, false).is_object());

    QApplication::clipboard()->clear();
    window.actions().copyIssueText->trigger();
    ASSERT_TRUE(waitUntil([] { return !QApplication::clipboard()->text().isEmpty(); }));
    // The same words; only the file has pictures.
    const std::string issue = QApplication::clipboard()->text().toStdString();
    EXPECT_EQ(issue.substr(0, 200), text.substr(0, 200));
    EXPECT_EQ(issue.find("report-"), std::string::npos);
    EXPECT_NE(text.find("(report-"), std::string::npos);
}

TEST_F(SampleWindow, TheReportTabShowsTheVerdict)
{
    auto* tabs = window.findChild<QTabWidget*>();
    tabs->setCurrentWidget(window.panes().report);
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    const std::string shown = window.panes().report->view()->toPlainText().toStdString();
    EXPECT_NE(shown.find(truth["birth"]["verdict"].get<std::string>()), std::string::npos);
    EXPECT_TRUE(window.panes().report->sizeText().contains(countLabel(65536)));
}

TEST_F(SampleWindow, DownstreamLeadsBackToTheBirth)
{
    QTableView* view = window.panes().captures->view();
    view->selectRow(truth["triage"]["births"].get<int>());
    ASSERT_EQ(view->currentIndex().data(CaptureRoleRole).toInt(), static_cast<int>(Role::downstream));
    EXPECT_TRUE(window.panes().verdict->headline().startsWith(QStringLiteral("Downstream")));
    Q_EMIT window.panes().verdict->causeRequested();
    EXPECT_EQ(view->currentIndex().data(CaptureRoleRole).toInt(), static_cast<int>(Role::birth));
}

TEST_F(SampleWindow, SecondVisitShowsTheStoredVerdictWithoutJudgingAgain)
{
    bool judgedAgain = true;
    QObject::connect(
        &window.workspace(), &Workspace::runChanged, &window, [&] { judgedAgain = window.workspace().judging(); });
    window.openPath(qstr(sample.string()));
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    EXPECT_FALSE(judgedAgain);
    EXPECT_EQ(window.workspace().capture()->file, truth["birth"]["capture"].get<std::string>());
}

TEST_F(SampleWindow, WhatTheUserSaysRanIsThereAtTheNextVisitAndTakenBack)
{
    const QStringList all = window.panes().verdict->ticked();
    ASSERT_GE(all.size(), 2);
    for (auto* box : window.panes().verdict->ticks()->findChildren<VerdictBox*>()) {
        if (box->text().startsWith(all.front() + QStringLiteral(" "))) {
            box->click();
        }
    }
    const QStringList left = window.panes().verdict->ticked();
    ASSERT_EQ(left.size() + 1, all.size());
    ASSERT_TRUE(window.workspace().waitForNotes(5000));
    const auto visit = [this] {
        window.openPath(qstr(sample.string()));
        return waitUntil([this] { return window.workspace().settled(); });
    };
    ASSERT_TRUE(visit());
    EXPECT_EQ(window.panes().verdict->ticked(), left);
    EXPECT_EQ(window.workspace().ticks(), left);
    for (auto* button : window.panes().verdict->ticks()->findChildren<QToolButton*>()) {
        if (button->text() == QStringLiteral("Take back")) {
            EXPECT_TRUE(button->isVisible());
            button->click();
        }
    }
    ASSERT_TRUE(window.workspace().waitForNotes(5000));
    ASSERT_TRUE(visit());
    EXPECT_EQ(window.panes().verdict->ticked(), all);
    EXPECT_TRUE(window.workspace().ticks().isEmpty());
}

TEST_F(WindowTest, ShippedSessionIsTheStartOfTheUsersOwn)
{
    const fs::path shipped = fs::path(NANSCOPE_SAMPLE) / "sample.nanscope";
    if (!fs::exists(shipped)) {
        GTEST_SKIP() << "no session beside the sample run";
    }
    const auto written = fs::last_write_time(shipped);
    ASSERT_TRUE(open(QStringLiteral(NANSCOPE_SAMPLE)));
    EXPECT_NE(window.workspace().loaded().session, shipped);
    EXPECT_EQ(fs::last_write_time(shipped), written);
    EXPECT_EQ(window.workspace().loaded().run->captures.size(), expected()["triage"]["captures"].get<std::size_t>());
    EXPECT_NE(window.workspace().verdict(), nullptr);
    EXPECT_GT(window.panes().sweep->model()->doneCount(), 0);
    EXPECT_EQ(window.messageBar()->sentence(), QString());
}

TEST_F(WindowTest, RolesAreShownBeforeAnyReplay)
{
    const fs::path sample = fs::path(folder.path().toStdString()) / "fresh";
    fs::copy(NANSCOPE_SAMPLE, sample, fs::copy_options::recursive);
    fs::remove(sample / "sample.nanscope");
    QStringList early;
    QString earlyHeadline;
    QString earlyVerdict;
    QObject::connect(&window.workspace(), &Workspace::runChanged, &window, [&] {
        if (early.isEmpty()) {
            QTableView& view = *window.panes().captures->view();
            early = rolesShown(view);
            earlyVerdict = view.model()->index(0, 4).data().toString();
            earlyHeadline = window.panes().verdict->headline();
            EXPECT_TRUE(window.workspace().judging());
        }
    });
    ASSERT_TRUE(open(qstr(sample.string())));
    EXPECT_EQ(early, rolesShown(*window.panes().captures->view()));
    EXPECT_EQ(earlyVerdict, QStringLiteral("…"));
    EXPECT_EQ(earlyHeadline, QStringLiteral("Judging…"));
    EXPECT_NE(window.panes().verdict->headline(), earlyHeadline);
}

TEST_F(SampleWindow, FilmShowsTheDifferenceToFp64)
{
    window.actions().sweep->trigger();
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled() && window.panes().film->strip()->film(); }));
    const auto values = window.panes().film->strip()->film()->frames.size();
    window.panes().film->modeBox()->setCurrentIndex(1);
    ASSERT_TRUE(waitUntil([this] {
        const Film* film = window.panes().film->strip()->film();
        return film && film->mode == FilmMode::againstFp64;
    }));
    const Film* film = window.panes().film->strip()->film();
    EXPECT_EQ(film->frames.size() + 1, values) << "the captured output is no part of a difference";
    EXPECT_EQ(film->frames.front().distance, 0.0) << "both start from the same input";
    ASSERT_TRUE(film->frames.back().distance);
    EXPECT_GT(*film->frames.back().distance, 0);
    EXPECT_LT(*film->frames.back().distance, 0.02);
    window.panes().film->modeBox()->setCurrentIndex(2);
    ASSERT_TRUE(waitUntil([this] {
        const Film* shown = window.panes().film->strip()->film();
        return shown && shown->mode == FilmMode::againstOutput;
    }));
    // The dump's output has NaN where the replay has numbers: that is what a difference must not hide.
    EXPECT_GT(window.panes().film->strip()->film()->frames.back().picture->scan.nan, 0);
}

TEST_F(SampleWindow, FollowsAFolderThatGrows)
{
    const auto lossPoints = [this] {
        std::int64_t points = 0;
        for (const Series& series : window.workspace().loaded().run->series) {
            points += series.name == "loss" ? series.pointCount : 0;
        }
        return points;
    };
    const auto before = lossPoints();
    const std::string selected = window.workspace().capture()->file;
    std::ofstream(sample / "console.log", std::ios::app)
        << "[default0]:Step 900: train_loss=0.5000, grad_norm=0.2000\n";
    ASSERT_TRUE(waitUntil([&] { return lossPoints() > before; }));
    EXPECT_EQ(window.workspace().capture()->file, selected);
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));

    window.actions().follow->setChecked(false);
    std::ofstream(sample / "console.log", std::ios::app) << "[default0]:Step 901: train_loss=0.5000\n";
    EXPECT_FALSE(QTest::qWaitFor([&] { return lossPoints() > before + 1; }, 1500));
}

TEST_F(SampleWindow, TellsOfABirthAndOfAFirstBadValueWhileItFollows)
{
    auto& bar = *window.messageBar();
    const auto says = [&](const char* words) { return bar.sentence().contains(QLatin1String(words)); };
    EXPECT_FALSE(says("First bad value")) << "what was there is no news";
    std::ofstream(sample / "late.log") << "Step 1: train_loss=0.5000\n";
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    std::ofstream(sample / "late.log", std::ios::app) << "Step 2: train_loss=nan\n";
    EXPECT_TRUE(waitUntil([&] { return says("First bad value: loss is NaN at step 2 (late.log:2)"); }))
        << bar.sentence().toStdString();
    ASSERT_TRUE(waitUntil([this] { return window.workspace().settled(); }));
    std::vector<float> values(8 * 8, 0.25F);
    const Shape shape {8, 8};
    const auto tensor = [&](const char* name) {
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        return tensorfile::TensorToWrite {name, DType::float32, shape, bytes};
    };
    const auto input = tensor("input");
    values[3] = std::numeric_limits<float>::quiet_NaN();
    ASSERT_TRUE(tensorfile::writePt(
        sample / "late.pt", {{"input", input}, {"output", tensor("output")}, {"rank", std::int64_t {9}}}));
    EXPECT_TRUE(waitUntil([&] { return says("New birth: rank 9, late.pt"); })) << bar.sentence().toStdString();
}

TEST_F(SampleWindow, MovedSessionFindsItsCapturesBesideItself)
{
    fs::copy_file(window.workspace().loaded().session, sample / "mailed.nanscope");
    const fs::path moved = sample.parent_path() / "moved";
    fs::rename(sample, moved);
    ASSERT_TRUE(open(qstr((moved / "mailed.nanscope").string())));
    EXPECT_EQ(window.workspace().loaded().run->captures.size(), truth["triage"]["captures"].get<std::size_t>());
    EXPECT_NE(window.panes().tensors->outputMap()->picture(), nullptr);
}

} // namespace nanscope
