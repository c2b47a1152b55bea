// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QGuiApplication>
#include <QPushButton>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "ui/sweep/agreedialog.h"

namespace nanscope {

namespace {

/// Stands in for nanscope.
class AgreeTest : public testing::Test
{
protected:
    QString program(const QByteArray& script)
    {
        QFile file(folder.filePath(QStringLiteral("nanscope")));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/sh\n" + script + "\n");
        file.setPermissions(file.permissions() | QFileDevice::ExeOwner);
        return file.fileName();
    }

    bool says(const QString& text) const
    {
        return QTest::qWaitFor([&] { return dialog->answer().contains(text); }, 20000);
    }

    void ask(const QString& name)
    {
        dialog = std::make_unique<AgreeDialog>(AgreeDialog::Programs {name, QStringLiteral("/opt/worker")},
            QStringLiteral("/run/a.pt"), test::askedFor(test::makeCell("gns-gram", Precision::bf16, Outcome::finite)),
            catalogue);
        dialog->runButton()->click();
    }

    QTemporaryDir folder;
    replay::Catalogue catalogue;
    std::unique_ptr<AgreeDialog> dialog;
};

} // namespace

TEST_F(AgreeTest, ShowsWhatTheCommandSaysToBeCopied)
{
    ask(program("echo \"$@\"; echo \"$NANSCOPE_WORKER\""));
    ASSERT_TRUE(says(QStringLiteral("/opt/worker")));
    EXPECT_TRUE(
        dialog->answer().startsWith(QStringLiteral("agree /run/a.pt --variant gns-gram --precision bf16 --repeats 3")))
        << dialog->answer().toStdString();
    for (QPushButton* button : dialog->findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("Copy")) {
            button->click();
        }
    }
    EXPECT_EQ(QGuiApplication::clipboard()->text(), dialog->answer());
}

TEST_F(AgreeTest, OffersTheUsersOwnVariantsAndHandsTheirDefinitionOn)
{
    replay::Variant own = **catalogue.find("gns-gram");
    own.name = "ours";
    ASSERT_TRUE(catalogue.add(own));
    ask(program("for word; do last=$word; done; if [ -f \"$last\" ]; then cat \"$last\"; else echo \"$last\"; fi"));
    ASSERT_GE(dialog->variantBox()->findText(QStringLiteral("ours")), 0);
    ASSERT_TRUE(says(QStringLiteral("none"))) << "a published one needs no definition";
    dialog->variantBox()->setCurrentText(QStringLiteral("ours"));
    dialog->runButton()->click();
    EXPECT_TRUE(says(QStringLiteral("\"name\":\"ours\""))) << dialog->answer().toStdString();
}

TEST_F(AgreeTest, ADefinitionThatCannotBeWrittenIsSaid)
{
    replay::Variant own = **catalogue.find("gns-gram");
    own.name = "ours";
    ASSERT_TRUE(catalogue.add(own));
    const auto name = program("echo replayed");
    const auto before = qEnvironmentVariable("TMPDIR", QStringLiteral("/tmp")).toLocal8Bit();
    qputenv("TMPDIR", name.toLocal8Bit()); // no folder: root cannot write there either
    ask(name);
    EXPECT_TRUE(says(QStringLiteral("replayed"))) << "a published one needs no definition";
    dialog->variantBox()->setCurrentText(QStringLiteral("ours"));
    dialog->runButton()->click();
    qputenv("TMPDIR", before);
    EXPECT_TRUE(dialog->answer().startsWith(QStringLiteral("The definition of ours could not be written")))
        << dialog->answer().toStdString();
    EXPECT_EQ(dialog->runButton()->text(), QStringLiteral("Compare"));
}

TEST_F(AgreeTest, AnErrorIsSaidAndALongOneCanBeCancelled)
{
    ask(program("echo 'There is no GPU here' >&2; exit 4"));
    EXPECT_TRUE(says(QStringLiteral("There is no GPU here")));
    ask(folder.filePath(QStringLiteral("nothing")));
    EXPECT_TRUE(says(QStringLiteral("could not be run")));
    ask(program("exec sleep 600"));
    EXPECT_EQ(dialog->runButton()->text(), QStringLiteral("Cancel"));
    dialog->runButton()->click();
    EXPECT_EQ(dialog->answer(), QStringLiteral("Cancelled"));
    EXPECT_TRUE(QTest::qWaitFor([this] { return dialog->runButton()->text() == QStringLiteral("Compare"); }, 20000));
    EXPECT_EQ(dialog->answer(), QStringLiteral("Cancelled"));
}

} // namespace nanscope
