// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Session files that vanish, are replaced, cut, locked, full or from a stranger while the window works on them: the
// window lives, says what happened, and Rescan is the way back.
#include <algorithm>
#include <csignal>
#include <fstream>

#include <sqlite3.h>
#include <sys/resource.h>

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QLabel>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTableView>

#include "core/model/verdict.h"
#include "core/session/lockwait.h"
#include "core/session/session.h"
#include "tests/ui/openwindow.h"
#include "ui/captures/capturespane.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/timeline/timelineplot.h"
#include "ui/verdict/verdictpane.h"

namespace nanscope {

namespace {

namespace fs = std::filesystem;

/// What nobody but core/session does otherwise: SQL on a session file.
class Sql
{
public:
    explicit Sql(const fs::path& path) { sqlite3_open(path.c_str(), &m_db); }
    ~Sql() { sqlite3_close(m_db); }
    Sql(const Sql&) = delete;
    Sql& operator=(const Sql&) = delete;

    void run(const char* statement)
    {
        EXPECT_EQ(sqlite3_exec(m_db, statement, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(m_db);
    }

private:
    sqlite3* m_db = nullptr;
};

/// Files of this process cannot grow beyond it: as on a full disk, where root may not make one.
class SmallDisk
{
public:
    explicit SmallDisk(rlim_t bytes)
    {
        std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit small {bytes, m_before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
    }
    ~SmallDisk() { setrlimit(RLIMIT_FSIZE, &m_before); }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

private:
    rlimit m_before {};
};

class BadSession : public test::OpenWindow
{
protected:
    void openSample(bool withSession = true)
    {
        start();
        sample = copySample(withSession);
        ASSERT_TRUE(open(sample));
        session = window->workspace().loaded().session;
        ASSERT_FALSE(session.empty());
        ASSERT_EQ(sentence(), QString());
    }

    /// Everything a user does with a run that reads the session again; what was said meanwhile.
    QStringList useEverything()
    {
        QSignalSpy problems(&window->workspace(), &Workspace::problem);
        QTableView* list = window->panes().captures->view();
        for (int row = 0; row < list->model()->rowCount(); ++row) {
            list->selectRow(row);
        }
        list->selectRow(0);
        window->panes().timeline->view()->zoomBy(0.5, 3, TimelineView::Gesture::wheel);
        EXPECT_TRUE(settle());
        window->workspace().sweepAgain();
        EXPECT_TRUE(settle());
        window->exportTo(temporary.filePath(QStringLiteral("report.html")));
        EXPECT_TRUE(settle());
        window->workspace().setRan({QStringLiteral("keller-jordan")});
        EXPECT_TRUE(settle());
        QStringList said;
        for (const auto& problem : problems) {
            said << problem[0].toString();
        }
        return said;
    }

    void expectRescanHelps()
    {
        window->actions().rescan->trigger();
        ASSERT_TRUE(settle());
        EXPECT_EQ(window->workspace().loaded().run->captures.size(), 10U);
        ASSERT_NE(window->workspace().verdict(), nullptr);
        EXPECT_FALSE(window->workspace().verdict()->summary.empty());
    }

    fs::path sample;
    fs::path session;
};

int countContaining(const QStringList& texts, const char* part)
{
    return static_cast<int>(
        std::ranges::count_if(texts, [&](const QString& text) { return text.contains(QLatin1String(part)); }));
}

} // namespace

TEST_F(BadSession, FirstLookAtTheReportMovesNoDock)
{
    openSample();
    const auto widths = [this] {
        std::vector<int> all;
        for (const QDockWidget* dock : window->findChildren<QDockWidget*>()) {
            all.push_back(dock->width());
        }
        return all;
    };
    const auto before = widths();
    window->pane(QStringLiteral("report"));
    ASSERT_TRUE(settle());
    EXPECT_EQ(widths(), before);
}

TEST_F(BadSession, DeletedWhileOpen)
{
    openSample();
    fs::remove(session);
    const QStringList said = useEverything();
    EXPECT_EQ(countContaining(said, "session of this run is gone"), 3) << "sweep, report, verdict";
    EXPECT_FALSE(fs::exists(session)) << "a sweep makes no session of cells alone";
    expectRescanHelps();
    EXPECT_TRUE(fs::exists(session));
}

TEST_F(BadSession, DeletedWhileOpenIsMadeAnewOfWhatTheWindowHolds)
{
    openSample();
    const auto cells = [this] { return session::Session::open(session, session::OpenMode::readOnly)->cells()->size(); };
    const auto before = cells();
    ASSERT_GT(before, 0U);
    Observations observed;
    observed.rate = FailureRate {3, 4.2};
    window->workspace().setObserved(observed);
    window->workspace().waitForNotes(test::patienceMs);
    const auto deletedIsSaid = [this] {
        const auto labels = window->statusBar()->findChildren<QLabel*>();
        return std::ranges::count(labels, QStringLiteral("Session deleted"), &QLabel::text) == 1;
    };
    EXPECT_FALSE(deletedIsSaid());
    fs::remove(session);
    fs::remove(sample / "sample.nanscope");
    EXPECT_TRUE(waitUntil(deletedIsSaid));
    expectRescanHelps();
    EXPECT_FALSE(deletedIsSaid());
    EXPECT_TRUE(sentence().contains(QStringLiteral("deleted or replaced"))) << sentence().toStdString();
    const auto anew = cells();
    EXPECT_GE(anew, before) << "a CPU with other instructions than the sample was made on has a cell more";
    EXPECT_TRUE(window->workspace().loaded().observed.rate);
    window.reset();
    start();
    ASSERT_TRUE(open(sample));
    EXPECT_EQ(cells(), anew);
    EXPECT_TRUE(window->workspace().loaded().observed.rate);
}

TEST_F(BadSession, NothingToReadLeavesTheRunOpen)
{
    openSample();
    const QString title = window->windowTitle();
    fs::create_directory(folder / "holiday");
    std::ofstream(folder / "holiday" / "beach.png") << "no picture";
    ASSERT_TRUE(open(folder / "holiday"));
    EXPECT_TRUE(sentence().contains(QStringLiteral("log or checkpoint in holiday, so"))) << sentence().toStdString();
    EXPECT_FALSE(fs::exists(session::Session::defaultPath(folder / "holiday")));
    const fs::path missing = folder / "missing";
    ASSERT_TRUE(open(missing));
    ASSERT_TRUE(waitUntil([this] { return !sentence().isEmpty(); }));
    EXPECT_TRUE(sentence().startsWith(QStringLiteral("No such file or folder"))) << sentence().toStdString();
    EXPECT_FALSE(fs::exists(session::Session::defaultPath(missing))) << "no session of what is not there";
    EXPECT_EQ(window->windowTitle(), title);
    EXPECT_EQ(window->workspace().loaded().run->captures.size(), 10U);
}

TEST_F(BadSession, ReplacedByAnotherRuns)
{
    openSample();
    const fs::path other = folder / "other.nanscope";
    {
        auto made = session::Session::open(other, session::OpenMode::create);
        ASSERT_TRUE(made && made->setRun("other", "/another/run"));
    }
    fs::rename(other, session);
    const QStringList said = useEverything();
    EXPECT_GE(countContaining(said, "replaced by another run's"), 3) << said.join(QLatin1Char('\n')).toStdString();
    const auto cells = session::Session::open(session, session::OpenMode::readOnly)->cells();
    ASSERT_TRUE(cells);
    EXPECT_TRUE(cells->empty()) << "nothing of this run is written into another's session";
}

TEST_F(BadSession, OverwrittenWithGarbage)
{
    openSample();
    std::ofstream(session, std::ios::trunc) << std::string(200000, 'x');
    const QStringList said = useEverything();
    EXPECT_GE(said.size(), 3) << said.join(QLatin1Char('\n')).toStdString();
    expectRescanHelps();
    EXPECT_TRUE(sentence().contains(QStringLiteral("Nothing will be remembered"))) << sentence().toStdString();
}

TEST_F(BadSession, CutWhileOpen)
{
    openSample();
    fs::resize_file(session, fs::file_size(session) / 2);
    EXPECT_FALSE(useEverything().isEmpty());
    window->actions().rescan->trigger();
    ASSERT_TRUE(settle());
    EXPECT_EQ(window->workspace().loaded().run->captures.size(), 10U);
}

TEST_F(BadSession, LockedByAnotherProgram)
{
    openSample();
    Sql other(session);
    other.run("PRAGMA locking_mode = EXCLUSIVE");
    other.run("BEGIN EXCLUSIVE");
    const session::NoLockWait notTenSecondsEach;
    window->actions().rescan->trigger();
    ASSERT_TRUE(settle());
    EXPECT_TRUE(sentence().contains(QStringLiteral("keeps the session locked"))) << sentence().toStdString();
    EXPECT_EQ(window->workspace().loaded().run->captures.size(), 10U) << "the folder is read all the same";
}

TEST_F(BadSession, LockedWhileTheWindowCloses)
{
    openSample();
    Sql other(session);
    other.run("PRAGMA locking_mode = EXCLUSIVE");
    other.run("BEGIN EXCLUSIVE");
    window->workspace().setObserved({});
    window->actions().rescan->trigger();
    QElapsedTimer clock;
    clock.start();
    window->close();
    EXPECT_TRUE(window->isVisible()) << "what was said last is not stored yet";
    EXPECT_TRUE(sentence().contains(QStringLiteral("not stored yet"))) << sentence().toStdString();
    window->close();
    EXPECT_FALSE(window->isVisible()) << "who was told once decides";
    window.reset();
    EXPECT_LT(clock.elapsed(), 5000) << "SQLite alone waits for ten seconds";
}

TEST_F(BadSession, LockThatIsGoneInTimeKeepsNothingOpen)
{
    openSample();
    Observations observed;
    observed.rate = FailureRate {3, 4.2};
    window->workspace().setObserved(observed);
    window->close();
    EXPECT_FALSE(window->isVisible());
    window.reset();
    start();
    ASSERT_TRUE(open(sample));
    EXPECT_TRUE(window->workspace().loaded().observed.rate);
}

TEST_F(BadSession, NoPlaceForOne)
{
    std::ofstream(folder / "file") << "not a folder";
    qputenv("XDG_DATA_HOME", temporary.filePath(QStringLiteral("file")).toUtf8());
    start();
    ASSERT_TRUE(open(copySample()));
    EXPECT_TRUE(sentence().contains(QStringLiteral("Nothing will be remembered"))) << sentence().toStdString();
    EXPECT_EQ(window->workspace().loaded().run->captures.size(), 10U);
    EXPECT_FALSE(window->workspace().verdict()->summary.empty());
    EXPECT_TRUE(waitUntil([this] { return window->panes().film->strip()->film() != nullptr; })) << "what ran is quick";
    EXPECT_EQ(useEverything(), QStringList());
    window->workspace().showCell(window->workspace().loaded().cells.front(), 0);
    EXPECT_TRUE(waitUntil([this] { return window->panes().film->strip()->film() != nullptr; }))
        << "what no session keeps is replayed";
}

TEST_F(BadSession, DiskFullInTheImport)
{
    start();
    sample = copySample(false);
    {
        const SmallDisk disk(100000);
        ASSERT_TRUE(open(sample));
    }
    EXPECT_TRUE(sentence().contains(QStringLiteral("Nothing will be remembered"))) << sentence().toStdString();
    EXPECT_EQ(window->workspace().loaded().run->captures.size(), 10U);
    expectRescanHelps();
    EXPECT_FALSE(window->workspace().loaded().session.empty());
}

TEST_F(BadSession, ReportThatCannotBeWritten)
{
    openSample();
    QSignalSpy problems(&window->workspace(), &Workspace::problem);
    window->exportTo(QStringLiteral("/proc/report.md"));
    ASSERT_TRUE(settle());
    EXPECT_TRUE(sentence().contains(QStringLiteral("/proc/report.md"))) << sentence().toStdString();
    const SmallDisk disk(1000);
    window->exportTo(temporary.filePath(QStringLiteral("report.md")));
    ASSERT_TRUE(settle());
    EXPECT_EQ(problems.size(), 2);
    EXPECT_FALSE(fs::exists(folder / "report.md"));
}

TEST_F(BadSession, NewerVersionIsRefusedByName)
{
    start();
    const fs::path newer = folder / "newer.nanscope";
    fs::copy_file(fs::path(NANSCOPE_SAMPLE) / "sample.nanscope", newer);
    Sql(newer).run("PRAGMA user_version = 99");
    ASSERT_TRUE(open(newer));
    EXPECT_TRUE(sentence().contains(QStringLiteral("version 99"))) << sentence().toStdString();
    EXPECT_FALSE(window->workspace().hasRun());
}

TEST_F(BadSession, StrangersTriggerIsRefused)
{
    start();
    const fs::path strange = folder / "strange.nanscope";
    fs::copy_file(fs::path(NANSCOPE_SAMPLE) / "sample.nanscope", strange);
    Sql(strange).run("CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM captures; END");
    ASSERT_TRUE(open(strange));
    EXPECT_TRUE(sentence().contains(QStringLiteral("did not make"))) << sentence().toStdString();
    EXPECT_FALSE(window->workspace().hasRun());
}

TEST_F(BadSession, StrangersTextAndNumbersAreOnlyShown)
{
    start();
    const fs::path strange = folder / "strange.nanscope";
    fs::copy_file(fs::path(NANSCOPE_SAMPLE) / "sample.nanscope", strange);
    {
        Sql sql(strange);
        sql.run("UPDATE facts SET value = '<img src=\"file:///etc/passwd\">' WHERE name = 'run_name'");
        sql.run("UPDATE captures SET path = '../../../../../../etc/passwd', file = '<b>' || id || "
                "'</b><script>x</script>'");
        sql.run("UPDATE captures SET path = '/dev/zero', rank = -2147483648, timestamp_ms = 9223372036854775807, "
                "step = 9223372036854775807 WHERE id % 2");
        sql.run(
            "UPDATE scans SET count = 9223372036854775807, nan = 1000000000, first_nonfinite = 9223372036854775807");
        sql.run("UPDATE events SET text = '<script>alert(1)</script><img src=x>', step = -9223372036854775807 - 1");
        sql.run("UPDATE series SET points = 9223372036854775807, first_step = -9223372036854775807, "
                "last_step = 9223372036854775807, nan = 1000000000");
        sql.run(
            "UPDATE chunks SET count = 1000000000, first_step = -9223372036854775807, last_step = 9223372036854775807");
        sql.run("UPDATE OR REPLACE cells SET capture = '<b>1</b><script>x</script>', epsilon = 1e308, seconds = "
                "-1e308, threads = -1");
        sql.run("UPDATE gauges SET iteration = 2147483647");
        sql.run("UPDATE ops SET rows = 1000000000000, cols = 1000000000000, iteration = -2147483648");
    }
    ASSERT_TRUE(open(strange));
    ASSERT_TRUE(window->workspace().hasRun()) << sentence().toStdString();
    useEverything();
    for (const QLabel* label : window->findChildren<QLabel*>()) {
        if (label->text().contains(QStringLiteral("script")) || label->text().contains(QStringLiteral("<img"))) {
            EXPECT_EQ(label->textFormat(), Qt::PlainText) << label->text().toStdString();
        }
    }
    const QAbstractItemModel& model = *window->panes().captures->view()->model();
    for (int row = 0; row < model.rowCount(); ++row) {
        const QString tip = model.index(row, 0).data(Qt::ToolTipRole).toString();
        EXPECT_FALSE(tip.contains(QStringLiteral("<script>")) && Qt::mightBeRichText(tip)) << tip.toStdString();
    }
    EXPECT_FALSE(window->grab().isNull());
    std::ifstream in(folder / "report.html");
    const std::string html(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(html.find("<script>alert"), std::string::npos);
    EXPECT_EQ(html.find("<img src=x"), std::string::npos);
    EXPECT_EQ(html.find("root:x:0"), std::string::npos) << "no file of this machine's gets into a report";
}

} // namespace nanscope
