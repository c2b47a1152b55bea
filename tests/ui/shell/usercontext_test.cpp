// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the user knows of a run beside what it left, told to the window.
#include <algorithm>
#include <fstream>

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTreeWidget>

#include "core/model/verdict.h"
#include "core/report/input/reportinput.h"
#include "tests/ui/openwindow.h"
#include "ui/instruments/instrumentspane.h"
#include "ui/jobs/reporter.h"
#include "ui/shell/usercontextdialog.h"
#include "ui/verdict/verdictpane.h"

namespace nanscope::test {

namespace {

namespace fs = std::filesystem;

/// What `gns-gram` is, under a name of the user's own.
constexpr const char* ownVariant = R"({"base": "gns-gram", "name": "my-gram"})";
constexpr const char* ownAdvisory = R"({"schema": "nanscope.advisories/1", "dated": "2026-08-20", "advisories": [
    {"id": "house-1", "status": "suspected", "title": "Our kernel skips a column", "text": "One sentence.",
     "link": "https://example.org/3", "packages": [{"name": "torch", "versions": "*"}]}]})";
constexpr const char* environment = R"({"schema": "nanscope.env/1", "packages": {"torch": "2.11.0"}})";

class UserContextWindow : public OpenWindow
{
protected:
    UserContextWindow()
    {
        m_config = qgetenv("XDG_CONFIG_HOME");
        qputenv("XDG_CONFIG_HOME", temporary.filePath(QStringLiteral("config")).toUtf8());
        QSettings().clear();
    }
    ~UserContextWindow() override
    {
        window.reset();
        QSettings().clear();
        qputenv("XDG_CONFIG_HOME", m_config);
    }

    QString write(const char* name, const char* text) const
    {
        std::ofstream(folder / name) << text;
        return qstr((folder / name).string());
    }

    /// One that remembers, unlike those of other tests.
    void startAgain(const workflow::UserFiles& known = {})
    {
        window.reset();
        WindowOptions options;
        options.theme = ThemeChoice::light;
        options.programs = {realService()};
        options.known = known;
        window = std::make_unique<MainWindow>(options);
        window->resize(1280, 800);
        window->show();
    }

    bool tell(workflow::UserFileKind kind, const QString& path)
    {
        window->workspace().addUserFiles(kind, {path});
        return settle();
    }

    const LoadedRun& run() const { return window->workspace().loaded(); }

    QStringList variantsInOrder() const
    {
        int identified = 0;
        return window->workspace().variantsInOrder(identified);
    }

    QStringList statusTexts() const
    {
        QStringList texts;
        for (const QLabel* label : window->statusBar()->findChildren<QLabel*>()) {
            texts << (label->isHidden() ? QString() : label->text());
        }
        return texts;
    }

    QByteArray m_config;
};

bool holds(const std::vector<std::string>& list, const char* text)
{
    return std::ranges::find(list, text) != list.end();
}

} // namespace

TEST_F(UserContextWindow, OwnVariantsAreIdentifiedSweptAndMeasured)
{
    start();
    ASSERT_TRUE(open(copySample()));
    const QString own = QStringLiteral("my-gram");
    EXPECT_FALSE(variantsInOrder().contains(own));
    ASSERT_TRUE(tell(workflow::UserFileKind::variants, write("mine.json", ownVariant)));
    EXPECT_TRUE(holds(window->workspace().verdict()->variant.names, "my-gram")) << "it fits like what it is a copy of";
    int identified = 0;
    EXPECT_TRUE(window->workspace().variantsToSweep(identified).contains(own));
    EXPECT_GE(window->panes().instruments->variantBox()->findText(own), 0);
    window->workspace().removeUserFile(workflow::UserFileKind::variants, write("mine.json", ownVariant));
    ASSERT_TRUE(settle());
    EXPECT_FALSE(holds(window->workspace().verdict()->variant.names, "my-gram"));
    EXPECT_FALSE(variantsInOrder().contains(own));
    EXPECT_LT(window->panes().instruments->variantBox()->findText(own), 0);
}

TEST_F(UserContextWindow, TheServiceReplaysAnOwnVariant)
{
    start();
    ASSERT_TRUE(open(copySample()));
    ASSERT_TRUE(tell(workflow::UserFileKind::variants, write("mine.json", ownVariant)));
    window->actions().sweep->trigger();
    ASSERT_TRUE(settle());
    const auto cells = window->workspace().cells();
    EXPECT_EQ(std::ranges::count_if(cells, [](const Cell* cell) { return cell->variant == "my-gram"; }), 5);
    EXPECT_TRUE(std::ranges::all_of(cells, [](const Cell* cell) { return cell->error.empty(); }));
    EXPECT_EQ(sentence(), QString());
}

TEST_F(UserContextWindow, ABadFileIsOneSentenceAndNothingChanges)
{
    start();
    ASSERT_TRUE(open(copySample()));
    QSignalSpy refused(&window->workspace(), &Workspace::userFileRefused);
    QSignalSpy changed(&window->workspace(), &Workspace::userFilesChanged);
    for (const auto kind : workflow::everyUserFileKind) {
        ASSERT_TRUE(tell(kind, write("bad.json", "[1, 2")));
    }
    ASSERT_TRUE(tell(workflow::UserFileKind::variants, write("taken.json", R"({"base": "cans", "name": "gns-gram"})")));
    ASSERT_TRUE(tell(workflow::UserFileKind::parameters, QStringLiteral("/no/such/file")));
    EXPECT_EQ(refused.size(), 6);
    EXPECT_TRUE(sentence().endsWith(QStringLiteral("/no/such/file"))) << sentence().toStdString();
    EXPECT_TRUE(run().userFiles.empty());
    EXPECT_FALSE(window->workspace().judging());
    EXPECT_EQ(statusTexts().filter(QStringLiteral("added")), QStringList());
}

TEST_F(UserContextWindow, ParametersNameTheLayer)
{
    start();
    ASSERT_TRUE(open(copySample()));
    ASSERT_TRUE(tell(workflow::UserFileKind::parameters, write("params.txt", "blocks.0.mlp.up.weight [96, 160]\n")));
    EXPECT_NE(window->workspace().verdict()->layer.find("blocks.0.mlp.up"), std::string::npos)
        << window->workspace().verdict()->layer;
}

TEST_F(UserContextWindow, EnvironmentAndAdvisoriesAreHeldAgainstTheRun)
{
    start();
    ASSERT_TRUE(open(copySample()));
    const auto matches = [this] {
        const auto& all = run().known()->advisories;
        return std::ranges::count(all, "house-1", &AdvisoryMatch::id);
    };
    ASSERT_TRUE(tell(workflow::UserFileKind::advisories, write("house.json", ownAdvisory)));
    ASSERT_TRUE(tell(workflow::UserFileKind::environment, write("env.json", environment)));
    EXPECT_EQ(matches(), 1);
    const auto report = reportInput({run(), {}});
    ASSERT_TRUE(report);
    EXPECT_TRUE(std::ranges::any_of(report->run.settings, [](const Setting& s) { return s.value == "2.11.0"; }));
    EXPECT_NE(report->commandLine.find("--env env.json --advisories house.json"), std::string::npos)
        << report->commandLine;
    window->workspace().removeUserFile(workflow::UserFileKind::advisories, qstr((folder / "house.json").string()));
    ASSERT_TRUE(settle());
    EXPECT_EQ(matches(), 0);
}

TEST_F(UserContextWindow, AdvisoriesOfTheConfigurationFolderAreInForce)
{
    fs::create_directories(folder / "config" / "nanscope");
    write("config/nanscope/advisories.json", ownAdvisory);
    start();
    ASSERT_TRUE(open(copySample()));
    ASSERT_TRUE(tell(workflow::UserFileKind::environment, write("env.json", environment)));
    EXPECT_EQ(std::ranges::count(run().known()->advisories, "house-1", &AdvisoryMatch::id), 1);
    UserContextDialog* dialog = window->showKnown();
    ASSERT_EQ(dialog->tree()->topLevelItemCount(), 2);
    EXPECT_EQ(dialog->tree()->topLevelItem(0)->text(1), QStringLiteral("advisories.json, for every run"));
    EXPECT_FALSE(dialog->removeButton()->isEnabled()) << "it is not this run's";
}

TEST_F(UserContextWindow, IsRememberedWithTheRunAndKeptWhereAFileIsGone)
{
    const fs::path sample = copySample();
    const fs::path other = folder / "other";
    fs::copy(sample, other, fs::copy_options::recursive);
    startAgain();
    ASSERT_TRUE(open(sample));
    const QString mine = write("mine.json", ownVariant);
    ASSERT_TRUE(tell(workflow::UserFileKind::variants, mine));
    ASSERT_TRUE(tell(workflow::UserFileKind::parameters, write("params.txt", "blocks.0.mlp.up.weight [96, 160]\n")));
    ASSERT_TRUE(open(other));
    EXPECT_TRUE(run().userFiles.empty()) << "it was said of another run";
    EXPECT_FALSE(variantsInOrder().contains(QStringLiteral("my-gram")));

    startAgain();
    window->openPath(qstr(sample.string()));
    ASSERT_TRUE(waitUntil([this] { return window->workspace().hasRun(); }));
    EXPECT_FALSE(window->workspace().judging()) << "the stored verdict was judged with the same files";
    ASSERT_TRUE(settle());
    EXPECT_EQ(run().userFiles.variants, std::vector<std::string> {mine.toStdString()});
    EXPECT_TRUE(holds(window->workspace().verdict()->variant.names, "my-gram"));
    EXPECT_TRUE(waitUntil([this] { return statusTexts().contains(QStringLiteral("2 files added")); }));

    fs::remove(folder / "params.txt");
    startAgain();
    ASSERT_TRUE(open(sample));
    EXPECT_TRUE(sentence().endsWith(QStringLiteral("params.txt"))) << sentence().toStdString();
    EXPECT_EQ(run().userFiles.parameters, (folder / "params.txt").string());
    EXPECT_TRUE(window->workspace().verdict()->layer.empty()) << "judged again without it";
    EXPECT_TRUE(waitUntil([this] { return statusTexts().contains(QStringLiteral("1 of 2 added files in force")); }));
}

TEST_F(UserContextWindow, AFileThatChangedIsJudgedWithAgain)
{
    const fs::path sample = copySample();
    startAgain();
    ASSERT_TRUE(open(sample));
    ASSERT_TRUE(tell(workflow::UserFileKind::parameters, write("params.txt", "blocks.0.mlp.up.weight [96, 160]\n")));
    write("params.txt", "blocks.0.attention.weight [96, 160]\n");
    startAgain();
    ASSERT_TRUE(open(sample));
    EXPECT_NE(window->workspace().verdict()->layer.find("attention"), std::string::npos)
        << window->workspace().verdict()->layer;
}

TEST_F(UserContextWindow, OptionsAreOfTheRunThatIsOpenedFirst)
{
    const fs::path sample = copySample();
    fs::copy(sample, folder / "other", fs::copy_options::recursive);
    startAgain({{}, {}, {}, {write("mine.json", ownVariant).toStdString()}});
    ASSERT_TRUE(open(sample));
    EXPECT_TRUE(variantsInOrder().contains(QStringLiteral("my-gram")));
    ASSERT_TRUE(open(folder / "other"));
    EXPECT_FALSE(variantsInOrder().contains(QStringLiteral("my-gram")));
    startAgain();
    ASSERT_TRUE(open(sample));
    EXPECT_TRUE(variantsInOrder().contains(QStringLiteral("my-gram"))) << "remembered like what is added by hand";
}

TEST_F(UserContextWindow, TheDialogListsTakesBackAndSaysWhatIsWrong)
{
    start();
    EXPECT_FALSE(window->actions().showKnown->isEnabled());
    EXPECT_FALSE(window->actions().addVariants->isEnabled());
    ASSERT_TRUE(open(copySample()));
    ASSERT_TRUE(window->actions().showKnown->isEnabled());
    window->actions().showKnown->trigger();
    auto* dialog = window->findChild<UserContextDialog*>();
    ASSERT_NE(dialog, nullptr);
    EXPECT_FALSE(dialog->removeButton()->isEnabled());
    ASSERT_TRUE(tell(workflow::UserFileKind::variants, write("mine.json", ownVariant)));
    ASSERT_TRUE(tell(workflow::UserFileKind::parameters, write("params.txt", "blocks.0.mlp.up.weight [96, 160]\n")));
    ASSERT_EQ(dialog->tree()->topLevelItemCount(), 2);
    EXPECT_EQ(dialog->tree()->topLevelItem(0)->text(0), QStringLiteral("Own variants"));
    EXPECT_EQ(dialog->tree()->topLevelItem(0)->text(1), QStringLiteral("mine.json"));
    EXPECT_EQ(dialog->tree()->topLevelItem(0)->text(2), QStringLiteral("1 variant: my-gram"));
    ASSERT_TRUE(tell(workflow::UserFileKind::environment, write("bad.json", "[1, 2")));
    EXPECT_TRUE(dialog->message().endsWith(QStringLiteral("bad.json"))) << dialog->message().toStdString();
    EXPECT_EQ(sentence(), QString()) << "said where the user looks";
    dialog->tree()->setCurrentItem(dialog->tree()->topLevelItem(1));
    dialog->tree()->setFocus();
    QTest::keyClick(dialog->tree(), Qt::Key_Delete);
    ASSERT_TRUE(waitUntil([&] { return dialog->tree()->topLevelItemCount() == 1; }));
    ASSERT_TRUE(settle());
    EXPECT_TRUE(run().userFiles.parameters.empty());
    EXPECT_TRUE(dialog->removeButton()->isEnabled());
}

TEST_F(UserContextWindow, AnswersAreListedAndTakenBack)
{
    start();
    ASSERT_TRUE(open(copySample()));
    UserContextDialog* dialog = window->showKnown();
    EXPECT_EQ(dialog->tree()->topLevelItemCount(), 0);
    window->workspace().setRan({QStringLiteral("keller-jordan")});
    ASSERT_TRUE(settle());
    ASSERT_EQ(dialog->tree()->topLevelItemCount(), 1);
    EXPECT_EQ(dialog->tree()->topLevelItem(0)->text(0), QStringLiteral("What ran"));
    EXPECT_EQ(dialog->tree()->topLevelItem(0)->text(2), QStringLiteral("keller-jordan"));
    const std::vector<Experiment>& next = window->workspace().verdict()->next;
    const auto proposed = std::ranges::find_if(next, [](const Experiment& each) { return !each.id.empty(); });
    ASSERT_NE(proposed, next.end());
    const QString what = qstr(proposed->what);
    Observations observed;
    observed.tried = {{proposed->id, Seen::gone, 12}};
    observed.rate = FailureRate {3, 40};
    window->workspace().setObserved(observed);
    window->workspace().setTicks({QStringLiteral("keller-jordan")});
    ASSERT_EQ(dialog->tree()->topLevelItemCount(), 4);
    EXPECT_EQ(dialog->tree()->topLevelItem(1)->text(1), qstr(window->workspace().capture()->file));
    EXPECT_EQ(dialog->tree()->topLevelItem(2)->text(2), QStringLiteral("Stayed away: %1, for 12.0 h").arg(what));
    EXPECT_EQ(dialog->tree()->topLevelItem(3)->text(2), QStringLiteral("3 in 40.0 h"));
    const auto takeBack = [dialog](int row) {
        dialog->tree()->setCurrentItem(dialog->tree()->topLevelItem(row));
        dialog->removeButton()->click();
    };
    takeBack(2);
    EXPECT_TRUE(run().observed.tried.empty());
    EXPECT_TRUE(run().observed.rate);
    takeBack(1);
    EXPECT_EQ(window->workspace().ticks(), QStringList());
    takeBack(1);
    EXPECT_FALSE(run().observed.rate);
    takeBack(0);
    ASSERT_TRUE(settle());
    EXPECT_EQ(window->workspace().ran(), QStringList());
    EXPECT_EQ(dialog->tree()->topLevelItemCount(), 0);
    EXPECT_FALSE(dialog->removeButton()->isEnabled());
}

TEST_F(UserContextWindow, AnswersAreUndoneAndRedone)
{
    start();
    ASSERT_TRUE(open(copySample()));
    Workspace& workspace = window->workspace();
    EXPECT_FALSE(workspace.canUndoAnswer());
    Observations observed;
    observed.rate = FailureRate {3, 40};
    workspace.setObserved(observed);
    workspace.setRan({QStringLiteral("keller-jordan")});
    ASSERT_TRUE(settle());
    workspace.setTicks({QStringLiteral("keller-jordan")});
    EXPECT_EQ(workspace.ticks(), QStringList(QStringLiteral("keller-jordan")));
    QAction* undo = nullptr;
    for (QAction* action : window->findChildren<QAction*>()) {
        undo = action->text() == QLatin1String("&Undo answer") ? action : undo;
    }
    ASSERT_NE(undo, nullptr);
    undo->trigger();
    EXPECT_EQ(workspace.ticks(), QStringList());
    EXPECT_EQ(workspace.ran(), QStringList(QStringLiteral("keller-jordan")));
    undo->trigger();
    ASSERT_TRUE(settle());
    EXPECT_EQ(workspace.ran(), QStringList()) << "and it is judged again";
    EXPECT_TRUE(run().observed.rate);
    undo->trigger();
    EXPECT_FALSE(run().observed.rate);
    EXPECT_FALSE(undo->isEnabled());
    workspace.redoAnswer();
    EXPECT_TRUE(run().observed.rate);
    workspace.setTicks({QStringLiteral("gns-gram")});
    EXPECT_FALSE(workspace.canRedoAnswer()) << "another answer was given";
}

} // namespace nanscope::test
