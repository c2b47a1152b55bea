// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <mutex>

#include <QAction>
#include <QDir>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QEvent>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QProgressBar>
#include <QSettings>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <gtest/gtest.h>

#include "core/base/job.h"
#include "tests/ui/samples.h"
#include "ui/runcomparison/runcomparison.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/shell/mainwindow.h"
#include "ui/shell/parts/messagebar.h"
#include "ui/shell/parts/startpage.h"
#include "ui/shell/parts/statusline.h"

namespace nanscope {

namespace {

using test::patienceMs;

QToolButton* buttonOf(const QWidget& page, const QString& tip)
{
    const auto buttons = page.findChildren<QToolButton*>();
    const auto found = std::ranges::find(buttons, tip, &QToolButton::toolTip);
    return found == buttons.end() ? nullptr : *found;
}

QStringList labelsOf(const QWidget& page)
{
    QStringList texts;
    for (const QLabel* label : page.findChildren<QLabel*>()) {
        if (!label->isHidden()) {
            texts << label->text();
        }
    }
    return texts;
}

class StartTest : public testing::Test
{
protected:
    StartTest()
    {
        qputenv("XDG_DATA_HOME", folder.filePath(QStringLiteral("home")).toUtf8());
        QSettings().clear();
        for (const char* name : {"one", "two"}) {
            const QString path = folder.filePath(QLatin1String(name));
            QDir().mkpath(path);
            std::ofstream((path + QStringLiteral("/train.csv")).toStdString()) << "step,loss\n0,1.5\n1,1.25\n";
            std::ofstream((path + QStringLiteral("/valid.csv")).toStdString()) << "step,val_loss\n0,1.5\n1,1.25\n";
        }
        WindowOptions options;
        options.theme = ThemeChoice::light;
        options.programs = {};
        window = std::make_unique<MainWindow>(options);
    }
    ~StartTest() override { QSettings().clear(); }

    QString path(const char* name) const { return folder.filePath(QLatin1String(name)); }
    bool opened(const QString& path)
    {
        return QTest::qWaitFor(
            [&] {
                return window->workspace().settled() && window->workspace().hasRun()
                    && qstr(window->workspace().loaded().opened.string()) == path;
            },
            patienceMs);
    }
    void drop(const QStringList& paths)
    {
        QMimeData data;
        QList<QUrl> urls;
        std::ranges::transform(paths, std::back_inserter(urls), QUrl::fromLocalFile);
        data.setUrls(urls);
        constexpr auto offered = Qt::CopyAction | Qt::MoveAction;
        QDragEnterEvent enter({10, 10}, offered, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(window.get(), &enter);
        EXPECT_TRUE(enter.isAccepted());
        const auto* hint = window->findChild<QLabel*>(QStringLiteral("dropHere"));
        EXPECT_TRUE(hint->isVisibleTo(window.get()));
        QDropEvent dropped({10, 10}, offered, &data, Qt::LeftButton, Qt::NoModifier);
        dropped.setDropAction(Qt::MoveAction); // as the window system proposes it
        QCoreApplication::sendEvent(window.get(), &dropped);
        EXPECT_FALSE(hint->isVisibleTo(window.get()));
        EXPECT_EQ(dropped.dropAction(), Qt::CopyAction) << "whoever drags may remove what was moved";
    }

    QTemporaryDir folder;
    std::unique_ptr<MainWindow> window;
};

} // namespace

TEST(StartPage, TellsPinnedRecentAndWhatIsGone)
{
    StartPage page;
    page.setPlaces({{QStringLiteral("/runs/a"), true, PlaceState::checking},
        {QStringLiteral("/runs/b"), false, PlaceState::gone}, {QStringLiteral("/runs/c"), false, PlaceState::closed}});
    const QStringList labels = labelsOf(page);
    EXPECT_TRUE(labels.contains(QStringLiteral("Pinned")));
    EXPECT_TRUE(labels.contains(QStringLiteral("Recent")));
    EXPECT_TRUE(labels.contains(QStringLiteral("/runs/b – not there any more")));
    EXPECT_TRUE(labels.contains(QStringLiteral("/runs/c – no permission to read it")));
    QSignalSpy pinned(&page, &StartPage::pinRequested);
    QSignalSpy removed(&page, &StartPage::removeRequested);
    buttonOf(page, QStringLiteral("Unpin /runs/a"))->click();
    buttonOf(page, QStringLiteral("Forget /runs/b"))->click();
    EXPECT_EQ(pinned.value(0), QVariantList({QStringLiteral("/runs/a"), false}));
    EXPECT_EQ(removed.value(0), QVariantList({QStringLiteral("/runs/b")}));
}

TEST_F(StartTest, ARunThatWasComparedWithIsAmongTheRecentOnes)
{
    window->openPath(path("one"));
    ASSERT_TRUE(opened(path("one")));
    RunComparisonWindow* comparison = window->compareWith(path("two"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !comparison->comparer().busy(); }, patienceMs));
    EXPECT_EQ(WindowSettings(true).recent(), QStringList({path("two"), path("one")}));
}

TEST_F(StartTest, PinnedFolderOutlivesTheClearedList)
{
    window->openPath(path("one"));
    ASSERT_TRUE(opened(path("one")));
    EXPECT_FALSE(window->actions().pin->isChecked());
    window->actions().pin->trigger();
    window->openPath(path("two"));
    ASSERT_TRUE(opened(path("two")));
    EXPECT_FALSE(window->actions().pin->isChecked());
    const auto entries = window->actions().recent->actions();
    EXPECT_EQ(entries.first()->statusTip(), path("one"));
    entries.last()->trigger();
    const WindowSettings settings(true);
    EXPECT_TRUE(settings.recent().isEmpty());
    EXPECT_EQ(settings.pinned(), QStringList(path("one")));
    EXPECT_EQ(window->actions().recent->actions().first()->statusTip(), path("one"));
}

TEST_F(StartTest, GoneFolderIsShownAsGoneAndCanBeForgotten)
{
    window->openPath(path("one"));
    ASSERT_TRUE(opened(path("one")));
    QDir(path("one")).removeRecursively();
    window->openPath(path("two"));
    ASSERT_TRUE(opened(path("two")));
    const auto isGone = [this] {
        const auto entries = window->actions().recent->actions();
        const auto found = std::ranges::find(entries, path("one"), &QAction::statusTip);
        return found != entries.end() && !(*found)->isEnabled();
    };
    ASSERT_TRUE(QTest::qWaitFor(isGone, patienceMs));
    buttonOf(*window->startPage(), QStringLiteral("Forget %1").arg(path("one")))->click();
    EXPECT_EQ(WindowSettings(true).recent(), QStringList(path("two")));
}

TEST_F(StartTest, WhatCannotBeOpenedIsForgottenAtOnce)
{
    for (const char* name : {"one", "two"}) {
        window->openPath(path(name));
        ASSERT_TRUE(opened(path(name)));
    }
    window->actions().pin->trigger();
    window.reset();
    WindowOptions options;
    options.theme = ThemeChoice::light;
    options.programs = {};
    options.placeState = [](const QString& /*asked*/) { return PlaceState::closed; };
    window = std::make_unique<MainWindow>(options);
    const auto forget = [this] {
        const auto entries = window->actions().recent->actions();
        const auto found = std::ranges::find(entries, QStringLiteral("Forget what cannot be opened"), &QAction::text);
        return found == entries.end() ? nullptr : *found;
    };
    // Each is asked about on a thread of its own.
    const auto isClosed = [this](const QString& place) {
        const auto entries = window->actions().recent->actions();
        const auto found = std::ranges::find(entries, place, &QAction::statusTip);
        return found != entries.end() && !(*found)->isEnabled()
            && (*found)->text().endsWith(QStringLiteral("– no permission to read it"));
    };
    ASSERT_TRUE(QTest::qWaitFor([&] { return isClosed(path("one")) && isClosed(path("two")); }, patienceMs));
    forget()->trigger();
    EXPECT_TRUE(WindowSettings(true).recent().isEmpty());
    EXPECT_TRUE(WindowSettings(true).pinned().isEmpty());
}

TEST_F(StartTest, FolderThatDoesNotAnswerHoldsNothingUp)
{
    window->openPath(path("one"));
    ASSERT_TRUE(opened(path("one")));
    window->openPath(path("two"));
    ASSERT_TRUE(opened(path("two")));
    window.reset();
    const auto lock = std::make_shared<std::mutex>();
    std::unique_lock dead(*lock);
    WindowOptions options;
    options.theme = ThemeChoice::light;
    options.programs = {};
    options.placeState = [lock, slow = path("one")](const QString& asked) {
        if (asked != slow) {
            return PlaceState::there;
        }
        const std::lock_guard wait(*lock);
        return PlaceState::gone;
    };
    QElapsedTimer clock;
    clock.start();
    window = std::make_unique<MainWindow>(options);
    EXPECT_LT(clock.elapsed(), 5000);
    const auto told = [this](const char* what) {
        return labelsOf(*window->startPage()).filter(path("one")).value(0).endsWith(QString::fromUtf8(what));
    };
    EXPECT_FALSE(told(" – checking…")) << "a disk that answers at once is not worth a word";
    ASSERT_TRUE(QTest::qWaitFor([&] { return told(" – checking…"); }, patienceMs));
    EXPECT_TRUE(labelsOf(*window->startPage()).filter(path("two")).value(0).endsWith(QStringLiteral("</a>")));
    const auto entries = window->actions().recent->actions();
    EXPECT_TRUE((*std::ranges::find(entries, path("one"), &QAction::statusTip))->isEnabled()) << "it can be tried";
    dead.unlock();
    ASSERT_TRUE(QTest::qWaitFor([&] { return told(" – not there any more"); }, patienceMs));
}

TEST(Places, AreThereWhateverTheirNames)
{
    const QTemporaryDir folder;
    for (const QString& name : {QStringLiteral("L\u00e4ufe \u5b9f\u884c"), QStringLiteral("two\nlines"),
             QStringLiteral("100%20"), QStringLiteral(" end ")}) {
        const QString place = folder.filePath(name);
        EXPECT_EQ(PlaceCheck::onDisk(place), PlaceState::gone) << name.toStdString();
        ASSERT_TRUE(QDir().mkdir(place));
        EXPECT_EQ(PlaceCheck::onDisk(place), PlaceState::there) << name.toStdString();
    }
}

TEST_F(StartTest, ClosingDoesNotWaitForAFolderThatDoesNotAnswer)
{
    const auto lock = std::make_shared<std::mutex>();
    auto answered = std::make_shared<std::atomic<int>>(0);
    std::unique_lock dead(*lock);
    {
        PlaceCheck check([lock, answered](const QString& /*path*/) {
            const std::lock_guard wait(*lock);
            ++*answered;
            return PlaceState::there;
        });
        check.check({QStringLiteral("/dead/a"), QStringLiteral("/dead/b")});
        check.check({QStringLiteral("/dead/a"), QStringLiteral("/dead/b")});
        EXPECT_EQ(check.state(QStringLiteral("/dead/a")), PlaceState::there);
    }
    EXPECT_EQ(*answered, 0);
    dead.unlock();
    EXPECT_TRUE(QTest::qWaitFor([&] { return *answered == 2; }, patienceMs)) << "and nobody is asked twice at a time";
}

TEST_F(StartTest, SeveralFilesOfOneFolderOpenTheFolder)
{
    drop({path("one/train.csv"), path("one/valid.csv")});
    ASSERT_TRUE(opened(path("one")));
    EXPECT_EQ(window->messageBar()->sentence(), QString());
}

TEST_F(StartTest, SeveralFoldersOpenTheFirstAndSaySo)
{
    window->show();
    drop({path("two"), path("one")});
    ASSERT_TRUE(opened(path("two")));
    EXPECT_TRUE(window->messageBar()->sentence().startsWith(QStringLiteral("One run is open at a time: two.")));
}

TEST_F(StartTest, FollowsTheDesktopWhenItTurns)
{
    window->actions().themeSystem->trigger();
    const bool desktop = theme().dark;
    applyTheme(desktop ? ThemeChoice::light : ThemeChoice::dark);
    QEvent turned(QEvent::ThemeChange);
    QCoreApplication::sendEvent(window.get(), &turned);
    EXPECT_EQ(theme().dark, desktop);
    window->actions().themeDark->trigger();
    QCoreApplication::sendEvent(window.get(), &turned);
    EXPECT_TRUE(theme().dark) << "who chose dark keeps it";
    applyTheme(ThemeChoice::light);
}

TEST(StatusLine, ProgressOfMoreThanAnIntIsAShareOfItsTotal)
{
    QStatusBar bar;
    StatusLine line(bar);
    line.showProgress({"import", "logs", 1'108'380'000, 1'847'300'000, "bytes", ""}, true);
    const auto* progress = bar.findChild<QProgressBar*>();
    ASSERT_NE(progress, nullptr);
    EXPECT_NEAR(double(progress->value()) / progress->maximum(), 0.6, 0.01);
    line.showProgress({"diagnose", "judge", 0, 1, "captures", "gns-gram in fp16, x.pt"}, true);
    EXPECT_EQ(progress->maximum(), 0) << "one of one has no share: the bar only moves";
}

TEST(StatusLine, HoldsAJobToWhatItSaidBeforehand)
{
    QStatusBar bar;
    StatusLine line(bar);
    line.setBusy(true, true);
    line.showProgress({"diagnose", "planned", 0, 300, "seconds", "Judging replays 1 capture", true}, true);
    EXPECT_EQ(line.phase(), QStringLiteral("Planned · about 5 min as a rule · Judging replays 1 capture"));
    line.showProgress({"diagnose", "judging", 0, 1, "captures", "x.pt", true}, true);
    EXPECT_EQ(line.phase(), QStringLiteral("Judging: 0 of 1 captures · about 5 min as a rule · x.pt"));
    line.showProgress({"import", "logs", 0, 9, "bytes", ""}, true);
    EXPECT_EQ(line.phase(), QStringLiteral("Logs: 0 of 9 bytes")) << "another job";
}

TEST(StatusLine, StandsAsideForATipUntilSomethingRuns)
{
    QStatusBar bar;
    StatusLine line(bar);
    const auto* progress = bar.findChild<QProgressBar*>();
    line.setBusy(true, true);
    bar.showMessage(QStringLiteral("a tip, as of a window that opens under the mouse"));
    bar.show();
    EXPECT_FALSE(progress->isVisible());
    line.showProgress({"import", "logs", 1, 2, "bytes", ""}, true);
    EXPECT_TRUE(progress->isVisible());
    EXPECT_EQ(bar.currentMessage(), QString());
}

TEST(StatusLine, TheLastWordOfAJobThatHasEndedIsNotKept)
{
    QStatusBar bar;
    StatusLine line(bar);
    const Progress film {"film", "replaying", 20, 22, "ops", "update 5"};
    line.setBusy(false, true);
    line.showProgress(film, true);
    EXPECT_EQ(line.phase(), QStringLiteral("Replaying: 20 of 22 ops · update 5"));
    line.setBusy(false, false);
    EXPECT_EQ(line.phase(), QString());
    line.showProgress(film, false);
    EXPECT_EQ(line.phase(), QString()) << "it was on its way when the replay ended";
}

TEST(StatusLine, WhatDoesNotFitEndsInDots)
{
    QStatusBar bar;
    StatusLine line(bar);
    line.setWorker(QStringLiteral("Worker: ended; starts again when needed"), QStringLiteral("details"));
    line.showProgress({"diagnose", "judge", 0, 2, "captures", "a_capture_with_a_long_name.pt"}, true);
    bar.resize(300, bar.sizeHint().height());
    bar.show();
    QCoreApplication::processEvents();
    const auto labels = bar.findChildren<ElidedLabel*>();
    for (const ElidedLabel* label : labels) {
        if (!label->text().isEmpty()) {
            EXPECT_LE(label->fontMetrics().horizontalAdvance(label->text()), label->contentsRect().width())
                << label->fullText().toStdString();
        }
    }
    const auto worker = std::ranges::find_if(
        labels, [](const ElidedLabel* label) { return label->fullText().startsWith(QStringLiteral("Worker")); });
    ASSERT_NE(worker, labels.end());
    EXPECT_TRUE((*worker)->text().endsWith(QStringLiteral("…")));
    EXPECT_TRUE((*worker)->toolTip().endsWith(QStringLiteral("details")));
}

TEST(StatusLine, WhatIsLongLeavesTheWordsBesideItWhole)
{
    QStatusBar bar;
    StatusLine line(bar);
    line.setWorker(QStringLiteral("Worker: idle"), {});
    line.setSession({});
    line.setListed(QStringLiteral("25 captures"));
    bar.resize(600, bar.sizeHint().height());
    bar.show();
    QCoreApplication::processEvents();
    const int height = bar.sizeHint().height();
    line.say(QString(200, QLatin1Char('a')) + QStringLiteral("\nand a second line"));
    QCoreApplication::processEvents();
    EXPECT_EQ(bar.sizeHint().height(), height) << "of one line";
    int whole = 0;
    for (const ElidedLabel* label : bar.findChildren<ElidedLabel*>()) {
        whole += !label->fullText().isEmpty() && label->text() == label->fullText() ? 1 : 0;
    }
    EXPECT_EQ(whole, 3);
}

TEST(StatusLine, WhatIsOfferedGoesWithTheNextWord)
{
    QStatusBar bar;
    StatusLine line(bar);
    bar.resize(600, bar.sizeHint().height());
    bar.show();
    int taken = 0;
    line.offer(QStringLiteral("Report written"), QStringLiteral("Open it"), [&] { ++taken; });
    auto* button = bar.findChild<QToolButton*>();
    ASSERT_NE(button, nullptr);
    ASSERT_TRUE(button->isVisible());
    button->click();
    EXPECT_EQ(taken, 1);
    line.say(QStringLiteral("Layout saved"));
    EXPECT_FALSE(button->isVisible());
}

TEST(TimeLeft, IsToldOnceItCanBe)
{
    TimeLeft left;
    Progress progress {"sweep", "replay", 0, 40, "cells", {}};
    EXPECT_FALSE(left.after(progress, 0));
    progress.done = 10;
    EXPECT_FALSE(left.after(progress, 500)) << "too early to tell";
    EXPECT_DOUBLE_EQ(left.after(progress, 5000).value_or(0), 15);
    progress.total = 0;
    EXPECT_FALSE(left.after(progress, 6000));
    progress = {"sweep", "replay", 2, 40, "cells", {}};
    EXPECT_FALSE(left.after(progress, 7000)) << "begun again";
}

TEST(TimeLeft, IsNotToldOfUnevenUnits)
{
    TimeLeft left;
    Progress progress {"diagnose", "judging", 1, 40, "comparisons", {}, true};
    EXPECT_FALSE(left.after(progress, 0));
    EXPECT_FALSE(left.spent("diagnose", 9'000));
    progress.done = 10;
    EXPECT_FALSE(left.after(progress, 5000));
    EXPECT_FALSE(left.after({"sweep", "replaying", 0, 4, "cells", {}}, 6000));
    EXPECT_DOUBLE_EQ(left.spent("diagnose", 20'000).value_or(0), 20) << "also with a sweep in between";
}

TEST(TimeLeft, IsWordedAsAnEstimate)
{
    EXPECT_EQ(durationLabel(0.2), QStringLiteral("1 s"));
    EXPECT_EQ(durationLabel(45.4), QStringLiteral("46 s"));
    EXPECT_EQ(durationLabel(200), QStringLiteral("3 min"));
    EXPECT_EQ(durationLabel(2 * 3600 + 600), QStringLiteral("2 h 10 min"));
}

} // namespace nanscope
