// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <fstream>
#include <span>
#include <utility>

#include <QBuffer>
#include <QComboBox>
#include <QImage>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

#include <gmock/gmock.h>

#include "core/model/verdict.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/tensorfile.h"
#include "tests/ui/samples.h"
#include "ui/jobs/reporter.h"
#include "ui/report/reportchoices.h"
#include "ui/report/reportpane.h"
#include "ui/report/reportview.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/shell/panearea.h"
#include "ui/verdict/verdictpane.h"

using testing::HasSubstr;
using testing::Not;

namespace nanscope {

namespace {

LoadedRun loadedRun()
{
    LoadedRun loaded;
    auto run = test::makeRun();
    run->root = "/home/zaphod/run";
    run->rejected.push_back({"/home/zaphod/run/broken.pt", "it is no capture"});
    loaded.run = run;
    loaded.diagnosis = test::makeDiagnosis();
    loaded.opened = "/home/zaphod/run";
    return loaded;
}

/// A capture that deepspeed-gram's cast to fp16 explains: one entry is enough, so that there is something to reduce.
LoadedRun overflowingRun(const std::string& path)
{
    constexpr std::int64_t rows = 96;
    constexpr std::int64_t cols = 160;
    std::vector<float> input(rows * cols);
    for (std::size_t i = 0; i < input.size(); ++i) {
        input[i] = std::sin(static_cast<float>(i));
    }
    input.back() = 1e5F;
    const std::vector<float> output(input.size(), std::nanf(""));
    const auto tensor = [&](const char* name, const std::vector<float>& values) {
        const auto bytes = std::as_bytes(std::span(values));
        return tensorfile::TensorToWrite {name, DType::float32, {1, rows, cols}, {bytes.begin(), bytes.end()}};
    };
    EXPECT_TRUE(tensorfile::writePt(path, {{"input", tensor("input", input)}, {"output", tensor("output", output)}}));
    const auto file = tensorfile::readCapture(path);
    EXPECT_TRUE(file);
    auto run = std::make_shared<RunData>();
    run->captures = {file->capture};
    run->captures[0].path = path;
    CaptureVerdict verdict;
    verdict.capture = file->capture.file;
    verdict.blame = Blame::numerics;
    verdict.summary = "overflow in the cast";
    verdict.variant.names = {"deepspeed-gram"};
    auto diagnosis = std::make_shared<Diagnosis>();
    diagnosis->captures = {verdict};
    LoadedRun loaded;
    loaded.run = run;
    loaded.diagnosis = diagnosis;
    loaded.opened = path;
    return loaded;
}

QTreeWidgetItem* rowNamed(QTreeWidget* tree, const QString& text)
{
    const auto found = tree->findItems(text, Qt::MatchExactly | Qt::MatchRecursive);
    return found.isEmpty() ? nullptr : found.constFirst();
}

void tick(QTreeWidget* tree, const QString& text, bool on)
{
    QTreeWidgetItem* item = rowNamed(tree, text);
    ASSERT_NE(item, nullptr) << text.toStdString();
    item->setCheckState(0, on ? Qt::Checked : Qt::Unchecked);
}

/// A pane with a reporter behind it, as the window joins them.
class ReportTest : public testing::Test
{
protected:
    ReportTest()
    {
        QObject::connect(&pane, &ReportPane::optionsChanged, &reporter, &Reporter::setOptions);
        QObject::connect(&pane, &ReportPane::watchedChanged, &reporter, &Reporter::setWatched);
        QObject::connect(&reporter, &Reporter::previewed, &pane, &ReportPane::setPreview);
        QObject::connect(&reporter, &Reporter::previewed, &pane,
            [this](std::shared_ptr<const ReportPreview> made) { preview = std::move(made); });
        pane.resize(700, 400);
    }

    void show()
    {
        pane.show();
        settle();
    }
    void settle()
    {
        QCoreApplication::processEvents();
        ASSERT_TRUE(QTest::qWaitFor([this] { return !reporter.busy(); }, 60000));
    }
    std::string saved(const QString& name)
    {
        QSignalSpy written(&reporter, &Reporter::written);
        const QString path = folder.filePath(name);
        reporter.save(path);
        EXPECT_TRUE(QTest::qWaitFor([&] { return !written.isEmpty(); }, 60000));
        std::ifstream in(path.toStdString(), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    QTreeWidget* tree() { return pane.choices()->tree(); }

    QTemporaryDir folder;
    LoadedRun run = loadedRun();
    std::string about;
    std::shared_ptr<const ReportPreview> preview;
    ReportPane pane;
    Reporter reporter {[this] { return ReportSubject {run, about}; }};
};

} // namespace

TEST_F(ReportTest, IsMadeOnlyWhileSomebodyLooks)
{
    reporter.subjectChanged();
    settle();
    EXPECT_EQ(preview, nullptr);
    show();
    ASSERT_NE(preview, nullptr);
    EXPECT_THAT(pane.view()->toPlainText().toStdString(), HasSubstr("Result"));
    preview.reset();
    pane.hide();
    reporter.subjectChanged();
    settle();
    EXPECT_EQ(preview, nullptr);
}

TEST_F(ReportTest, WhatIsSeenIsWhatIsCopiedAndSaved)
{
    show();
    tick(tree(), QStringLiteral("Findings in the logs"), false);
    tick(tree(), QStringLiteral("Impact"), false);
    settle();
    ASSERT_NE(preview, nullptr);
    QSignalSpy copied(&reporter, &Reporter::issueText);
    reporter.copyIssueText();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !copied.isEmpty(); }, 60000));
    EXPECT_EQ(copied[0][0].toString().toStdString(), preview->issue);
    EXPECT_THAT(preview->issue, Not(HasSubstr("Impact")));
    EXPECT_EQ(saved(qstr(suggestedReportName(*run.run))), preview->files.front().bytes);
    for (std::size_t i = 1; i < preview->files.size(); ++i) {
        EXPECT_TRUE(QFile::exists(folder.filePath(qstr(preview->files[i].name))));
    }
    pane.looks()->setCurrentIndex(ReportPane::source);
    EXPECT_EQ(pane.view()->toPlainText().toStdString(), qstr(preview->issue).trimmed().toStdString() + "\n");
    EXPECT_THAT(saved(QStringLiteral("x.html")), Not(HasSubstr("Impact")));
}

TEST_F(ReportTest, FollowsTheSubjectAndTheNewestWins)
{
    show();
    auto judged = std::make_shared<Diagnosis>(*run.diagnosis);
    run.diagnosis = judged;
    for (int i = 0; i < 20; ++i) {
        judged = std::make_shared<Diagnosis>(*judged);
        judged->captures.back().summary = "the summary of try " + std::to_string(i);
        run.diagnosis = judged;
        about = judged->captures.back().capture;
        reporter.subjectChanged();
    }
    settle();
    EXPECT_EQ(preview->about, about);
    EXPECT_THAT(preview->issue, HasSubstr("ummary of try 19"));
    EXPECT_THAT(pane.view()->toPlainText().toStdString(), HasSubstr("ummary of try 19"));
}

TEST_F(ReportTest, ANewCellIsShownWithoutMeasuringTheCaptureAnew)
{
    const std::string path = folder.filePath(QStringLiteral("a.pt")).toStdString();
    run = overflowingRun(path);
    show();
    ASSERT_NE(preview, nullptr);
    ASSERT_THAT(preview->issue, HasSubstr("SHA-256"));
    ASSERT_THAT(preview->issue, Not(HasSubstr("keller-jordan")));
    ASSERT_TRUE(QFile::remove(qstr(path)));
    Cell added = test::makeCell("keller-jordan", Precision::bf16, Outcome::finite);
    added.capture = run.run->captures[0].file;
    run.cells.push_back(added);
    reporter.cellsChanged();
    settle();
    EXPECT_THAT(preview->issue, HasSubstr("keller-jordan"));
    EXPECT_THAT(preview->issue, HasSubstr("SHA-256")) << "the file would have to be read for it";
}

TEST_F(ReportTest, ListsWhatIsHiddenAndLeavesInWhatIsUnticked)
{
    show();
    const QString home = QStringLiteral("/home/zaphod");
    ASSERT_NE(rowNamed(tree(), home), nullptr);
    EXPECT_TRUE(rowNamed(tree(), home)->text(1).startsWith(QStringLiteral("<home> ×")));
    EXPECT_THAT(preview->issue, Not(HasSubstr("zaphod")));
    tick(tree(), home, false);
    settle();
    EXPECT_THAT(preview->issue, HasSubstr("zaphod"));
    EXPECT_EQ(rowNamed(tree(), home)->checkState(0), Qt::Unchecked);
    tick(tree(), home, true);
    settle();
    EXPECT_THAT(preview->issue, Not(HasSubstr("zaphod")));
    EXPECT_TRUE(pane.choices()->options().report.redactions.empty());
}

TEST_F(ReportTest, HidesAnotherTextEverywhereUntilUnticked)
{
    show();
    ASSERT_THAT(preview->issue, HasSubstr("variant stays"));
    pane.choices()->field()->setText(QStringLiteral(" variant stays "));
    QTest::keyClick(pane.choices()->field(), Qt::Key_Return);
    settle();
    EXPECT_THAT(preview->issue, Not(HasSubstr("variant stays")));
    EXPECT_THAT(saved(QStringLiteral("x.json")), Not(HasSubstr("variant stays")));
    EXPECT_TRUE(pane.choices()->field()->text().isEmpty());
    tick(tree(), QStringLiteral("variant stays"), false);
    settle();
    EXPECT_THAT(preview->issue, HasSubstr("variant stays"));
    EXPECT_EQ(rowNamed(tree(), QStringLiteral("variant stays")), nullptr);
}

TEST_F(ReportTest, SaysHowMuchOfAnIssueItFills)
{
    show();
    const QString count = countLabel(qstr(preview->issue).toUcs4().size());
    EXPECT_EQ(pane.sizeText(), QStringLiteral("%1 of %2 characters that an issue holds").arg(count, countLabel(65536)));
}

TEST_F(ReportTest, ABundleSaysWhatItLeftOut)
{
    QSignalSpy written(&reporter, &Reporter::written);
    report::BundleOptions options;
    options.capture = true;
    reporter.setOptions(options);
    saved(QStringLiteral("x.zip"));
    ASSERT_EQ(written.size(), 1);
    EXPECT_THAT(written[0][1].toString().toStdString(), HasSubstr("left out"));
    EXPECT_GT(QFileInfo(folder.filePath(QStringLiteral("x.zip"))).size(), 1000);
}

TEST_F(ReportTest, ASavedBundleSaysWhatItIsAt)
{
    QStringList phases;
    QObject::connect(
        &reporter, &Reporter::progressed, &pane, [&](const Progress& progress) { phases << qstr(progress.phase); });
    QSignalSpy saving(&reporter, &Reporter::savingChanged);
    saved(QStringLiteral("x.zip"));
    EXPECT_EQ(phases.value(0), QStringLiteral("reading the run"));
    EXPECT_TRUE(phases.contains(QStringLiteral("writing the report")));
    EXPECT_EQ(saving.size(), 2);
    EXPECT_FALSE(reporter.saving());
}

TEST_F(ReportTest, ABundleCanBeCancelledWhileItIsMadeSmaller)
{
    run = overflowingRun(folder.filePath(QStringLiteral("dump.pt")).toStdString());
    about = run.run->captures[0].file;
    report::BundleOptions options;
    options.capture = true;
    reporter.setOptions(options);
    QSignalSpy cancelled(&reporter, &Reporter::cancelled);
    QSignalSpy written(&reporter, &Reporter::written);
    QSignalSpy problems(&reporter, &Reporter::problem);
    bool smaller = false;
    QObject::connect(&reporter, &Reporter::progressed, &pane, [&](const Progress& progress) {
        if (progress.phase == "smallest capture" && !std::exchange(smaller, true)) {
            reporter.cancel();
            EXPECT_EQ(cancelled.size(), 1) << "said at once";
            EXPECT_FALSE(reporter.saving());
        }
    });
    const QString path = folder.filePath(QStringLiteral("x.zip"));
    reporter.save(path);
    EXPECT_TRUE(reporter.saving());
    settle();
    EXPECT_TRUE(smaller);
    EXPECT_EQ(written.size() + problems.size(), 0);
    EXPECT_FALSE(QFileInfo::exists(path));
    QFile::remove(path);
    reporter.cancel();
    EXPECT_EQ(cancelled.size(), 1) << "there is nothing left to cancel";
}

TEST_F(ReportTest, WhileItIsSavedThePaneOffersToCancel)
{
    show();
    const auto shown = [this](const char* text) {
        const auto buttons = pane.findChildren<QPushButton*>();
        return std::ranges::any_of(buttons, [&](const QPushButton* button) {
            return button->isVisibleTo(&pane) && button->isEnabled() && button->text() == QString::fromUtf8(text);
        });
    };
    QSignalSpy asked(&pane, &ReportPane::cancelRequested);
    EXPECT_FALSE(shown("Cancel saving"));
    pane.setSaving(true);
    EXPECT_TRUE(shown("Cancel saving"));
    EXPECT_FALSE(shown("Save bundle…") || shown("Save…"));
    EXPECT_TRUE(shown("Copy as issue text"));
    for (auto* button : pane.findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("Cancel saving")) {
            button->click();
        }
    }
    EXPECT_EQ(asked.size(), 1);
    pane.setSaving(false);
    EXPECT_FALSE(shown("Cancel saving"));
    EXPECT_TRUE(shown("Save bundle…"));
}

TEST_F(ReportTest, WhatCannotBeWrittenIsOneSentence)
{
    QSignalSpy problems(&reporter, &Reporter::problem);
    for (const auto* name : {"no/x.md", "no/x.zip"}) {
        reporter.save(folder.filePath(QString::fromLatin1(name)));
        ASSERT_TRUE(QTest::qWaitFor([&] { return !reporter.busy(); }, 60000));
    }
    EXPECT_EQ(problems.size(), 2);
}

TEST(ReportView, NothingIsReachedByScrollingSideways)
{
    const std::string name = "dion_nan_capture_rank0_shape1x96x160_pid41207_1792231455315.pt";
    const std::string text = "# Heading\n\n| capture | role | rank | between steps | input | output | verdict |\n"
                             "| --- | --- | --- | --- | --- | --- | --- |\n| `"
        + name
        + "` | downstream | 0 | 6–7 | 15,360 NaN | 15,360 NaN | implementation |\n\n"
          "| variant | precision | envelope | give the dump's pattern | slack | max abs Q | headroom (binades) | first "
          "bad |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
          "| `gns-standard-0.1.6` | fp16 | 8 of 8 finite | 0 | 5.51 % | 25.52 | 11.33 | – |\n\n```sh\nnanscope sweep "
          "run --capture "
        + name + " --variant gns-gram,gns-standard\n```\n\n- " + name + "\n";
    ReportView view;
    view.resize(375, 300);
    view.show();
    view.showRendered({{"report.md", text}});
    QApplication::processEvents();
    EXPECT_EQ(view.horizontalScrollBar()->maximum(), 0);
    view.showSource(text);
    QApplication::processEvents();
    EXPECT_EQ(view.horizontalScrollBar()->maximum(), 0);
}

TEST(ReportView, LoadsNothingButItsPictures)
{
    ReportView view;
    view.resize(400, 300);
    QImage image(40, 20, QImage::Format_RGB32);
    image.fill(Qt::red);
    QBuffer png;
    ASSERT_TRUE(image.save(&png, "PNG"));
    view.showRendered({{"x.md", "![a](x-1.png) ![b](file:///etc/hostname)"}, {"x-1.png", png.data().toStdString()}});
    const auto load = [&view](const char* name) {
        return view.loadResource(QTextDocument::ImageResource, QUrl(QString::fromLatin1(name)));
    };
    EXPECT_EQ(load("x-1.png").value<QImage>().size(), QSize(40, 20));
    EXPECT_FALSE(load("file:///etc/hostname").isValid());
    EXPECT_FALSE(load("https://example.org/x.png").isValid());
    view.showRendered({{"x.md", "<img src=\"x-1.png\"> text"}});
    EXPECT_FALSE(load("x-1.png").isValid());
}

TEST(ReportView, ShowsTheAppendixOpenAndNoneOfItsMarkup)
{
    ReportView view;
    view.showRendered({{"x.md",
        "# T\n\n**Result.** x\n<!-- In an issue: drag it. -->\n\n<details>\n<summary>Appendix</summary>\n\n**Call.** "
        "y\n\n</details>\n"}});
    const auto shown = view.toPlainText().toStdString();
    EXPECT_THAT(shown, HasSubstr("Appendix"));
    EXPECT_THAT(shown, HasSubstr("Call. y"));
    EXPECT_THAT(shown, Not(HasSubstr("<")));
}

TEST(ReportChoices, AreRememberedButNotThePermissionToSendACapture)
{
    report::BundleOptions options;
    options.report.sections.erase(report::ReportSection::console);
    options.report.redactions = {{"alice", "<redacted>", 0}, {"/home/shared", "/home/shared", 0}};
    options.report.figures = false;
    options.capture = true;
    const auto back = restoreReportOptions(saveReportOptions(options));
    EXPECT_EQ(back.report.sections, options.report.sections);
    ASSERT_EQ(back.report.redactions.size(), 2U);
    EXPECT_EQ(back.report.redactions[1].replacement, "/home/shared");
    EXPECT_FALSE(back.report.figures);
    EXPECT_FALSE(back.capture);
}

TEST(ReportChoices, CanBeReadInAThemeChosenLater)
{
    ReportChoices choices;
    const QTreeWidgetItem* sections = choices.tree()->topLevelItem(1);
    ASSERT_GT(sections->childCount(), 0);
    applyTheme(ThemeChoice::dark);
    QCoreApplication::processEvents();
    EXPECT_EQ(sections->child(0)->foreground(0).color(), theme().text);
    applyTheme(ThemeChoice::light);
}

TEST(ReportChoices, OfAnotherVersionAreForgotten)
{
    for (const char* state : {"", "{", R"({"version":2,"without":["claim"]})", R"({"without":["claim"]})", "[1]"}) {
        EXPECT_EQ(restoreReportOptions(state).report.sections, report::allReportSections());
    }
    EXPECT_EQ(
        restoreReportOptions(R"({"version":1,"without":["no such"]})").report.sections, report::allReportSections());
}

} // namespace nanscope
