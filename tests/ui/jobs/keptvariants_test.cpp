// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Variants of the user's own that sessions keep beside their cells: a window shows those of the run that is open.
#include <algorithm>
#include <fstream>

#include <QPushButton>
#include <QSignalSpy>
#include <QTreeWidget>

#include "core/ingest/ingest.h"
#include "core/replay/variants/variant.h"
#include "core/replay/variants/variantjson.h"
#include "core/session/session.h"
#include "core/workflow/userfiles.h"
#include "tests/ui/openwindow.h"
#include "ui/jobs/readrun.h"
#include "ui/shell/usercontextdialog.h"

namespace nanscope::test {

namespace {

namespace fs = std::filesystem;

class KeptVariants : public OpenWindow
{
protected:
    /// A run of the captures of the sample, whose session keeps `own` with so many steps, and one cell of it.
    fs::path makeRun(const char* name, std::size_t steps = 0) const
    {
        fs::create_directory(folder / name);
        fs::copy(fs::path(NANSCOPE_SAMPLE) / "dion_nan_captures", folder / name / "dumps");
        auto session = session::Session::open(session::Session::defaultPath(folder / name), session::OpenMode::create);
        const auto run = ingest::importRun(folder / name, *session);
        EXPECT_TRUE(run);
        if (steps > 0) {
            EXPECT_TRUE(session->setVariant({"own", replay::variantToJson(variantOf(steps)).dump()}, false));
            Cell cell;
            cell.capture = run->captures.front().file;
            cell.variant = "own";
            EXPECT_TRUE(session->addCell(cell));
        }
        return folder / name;
    }

    static replay::Variant variantOf(std::size_t steps)
    {
        replay::Variant variant;
        variant.name = "own";
        variant.steps.assign(steps, {2, -1.5, 0.5});
        return variant;
    }

    QString writeFile(std::size_t steps) const
    {
        const fs::path path = folder / ("steps" + std::to_string(steps) + ".json");
        std::ofstream(path) << replay::variantToJson(variantOf(steps)).dump();
        return qstr(path.string());
    }

    bool tell(std::size_t steps)
    {
        window->workspace().addUserFiles(workflow::UserFileKind::variants, {writeFile(steps)});
        return settle();
    }

    std::ptrdiff_t ownCells() const
    {
        return std::ranges::count(window->workspace().loaded().cells, "own", &Cell::variant);
    }

    /// Steps of the variant that the name stands for; 0 for none.
    std::size_t ownSteps() const
    {
        const auto* own = window->workspace().loaded().catalogue.own("own");
        return own != nullptr ? own->steps.size() : 0;
    }

    QStringList swept() const
    {
        int identified = 0;
        return window->workspace().variantsToSweep(identified);
    }
};

} // namespace

TEST_F(KeptVariants, AreThoseOfTheRunThatIsOpen)
{
    const fs::path with = makeRun("with", 3);
    const fs::path without = makeRun("without");
    start();
    ASSERT_TRUE(open(with));
    EXPECT_TRUE(swept().contains(QStringLiteral("own")));
    EXPECT_EQ(ownCells(), 1);
    ASSERT_TRUE(open(without));
    EXPECT_EQ(ownSteps(), 0U);
    EXPECT_FALSE(swept().contains(QStringLiteral("own")));
    ASSERT_TRUE(open(with));
    EXPECT_EQ(ownSteps(), 3U);
    EXPECT_EQ(sentence(), QString());
}

TEST_F(KeptVariants, OneNameMayBeAnotherVariantInAnotherRun)
{
    const fs::path three = makeRun("three", 3);
    const fs::path four = makeRun("four", 4);
    start();
    ASSERT_TRUE(open(three));
    ASSERT_TRUE(open(four));
    EXPECT_EQ(sentence(), QString());
    EXPECT_EQ(ownSteps(), 4U);
    EXPECT_EQ(ownCells(), 1) << "its own, which is of nothing else";
}

TEST_F(KeptVariants, StayWhereAnotherRunCannotBeOpened)
{
    const fs::path run = makeRun("run", 3);
    std::ofstream(folder / "broken.nanscope") << "no session";
    start();
    ASSERT_TRUE(open(run));
    ASSERT_TRUE(open(folder / "broken.nanscope"));
    EXPECT_NE(sentence(), QString());
    EXPECT_EQ(ownSteps(), 3U) << "the run is still shown";
}

TEST_F(KeptVariants, OfARunToCompareWithAreNotTaken)
{
    const fs::path run = makeRun("run");
    const fs::path other = makeRun("other", 4);
    start();
    ASSERT_TRUE(open(run));
    EXPECT_TRUE(loadRun(other, {}));
    EXPECT_EQ(ownSteps(), 0U);
}

TEST_F(KeptVariants, RefuseAFileThatGivesTheirNameToAnother)
{
    const fs::path run = makeRun("run", 3);
    start();
    ASSERT_TRUE(open(run));
    QSignalSpy refused(&window->workspace(), &Workspace::userFileRefused);
    ASSERT_TRUE(tell(4));
    ASSERT_EQ(refused.size(), 1);
    const QString why = refused[0][0].toString();
    EXPECT_TRUE(why.contains(QStringLiteral("keeps another variant 'own' (steps differs)"))) << why.toStdString();
    EXPECT_EQ(ownSteps(), 3U);
    EXPECT_EQ(ownCells(), 1);
}

TEST_F(KeptVariants, RefuseAlsoWhatTookTheirNameWhileTheWindowWasClosed)
{
    const fs::path run = makeRun("run", 3);
    start();
    window->workspace().open(qstr(run.string()), [file = writeFile(4)](const fs::path&) {
        return UserContext {{{}, {}, {}, {file.toStdString()}}, {}};
    });
    ASSERT_TRUE(settle());
    EXPECT_TRUE(sentence().contains(QStringLiteral("steps differs"))) << sentence().toStdString();
    EXPECT_EQ(ownSteps(), 3U);
    EXPECT_EQ(ownCells(), 1);
}

TEST_F(KeptVariants, OfASweepStayWhenTheirFileIsTakenBack)
{
    const fs::path run = makeRun("run");
    start();
    ASSERT_TRUE(open(run));
    ASSERT_TRUE(tell(3));
    window->workspace().sweepSelected();
    ASSERT_TRUE(settle());
    ASSERT_GT(ownCells(), 0);
    window->workspace().removeUserFile(workflow::UserFileKind::variants, writeFile(3));
    ASSERT_TRUE(settle());
    EXPECT_TRUE(swept().contains(QStringLiteral("own"))) << "as after the next start";
    QSignalSpy refused(&window->workspace(), &Workspace::userFileRefused);
    ASSERT_TRUE(tell(4));
    EXPECT_EQ(refused.size(), 1) << "the cells that are shown are of the other";
    EXPECT_EQ(ownSteps(), 3U);
}

TEST_F(KeptVariants, AreListedAndNotTakenBack)
{
    const fs::path run = makeRun("run", 3);
    start();
    ASSERT_TRUE(open(run));
    UserContextDialog* dialog = window->showKnown();
    ASSERT_EQ(dialog->tree()->topLevelItemCount(), 1);
    EXPECT_EQ(dialog->tree()->topLevelItem(0)->text(1), QStringLiteral("Kept with the run"));
    EXPECT_EQ(dialog->tree()->topLevelItem(0)->text(2), QStringLiteral("1 variant: own"));
    EXPECT_FALSE(dialog->removeButton()->isEnabled());
}

TEST_F(KeptVariants, ThatAnotherProgramSweptAreJudgedWithToo)
{
    const fs::path run = makeRun("run");
    start();
    ASSERT_TRUE(open(run));
    const auto judgedAgain = [&] {
        window->openPath(qstr(run.string()));
        bool judging = false;
        const auto watch = QObject::connect(&window->workspace(), &Workspace::stateChanged, window.get(),
            [&] { judging = judging || window->workspace().judging(); });
        EXPECT_TRUE(settle());
        QObject::disconnect(watch);
        return judging;
    };
    EXPECT_FALSE(judgedAgain());
    auto session = session::Session::open(session::Session::defaultPath(run), session::OpenMode::readWrite);
    replay::Variant like = *replay::builtInVariant("gns-gram");
    like.name = "own";
    ASSERT_TRUE(session->setVariant({"own", replay::variantToJson(like).dump()}, false));
    EXPECT_TRUE(judgedAgain());
    EXPECT_FALSE(judgedAgain());
}

} // namespace nanscope::test
