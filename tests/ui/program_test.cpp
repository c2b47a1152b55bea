// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"

namespace nanscope {

namespace {

using test::patienceMs;

struct Ran
{
    int status = -1;
    QString out;
    QString err;
};

Ran run(const QString& program, const QStringList& arguments, const QStringList& without = {})
{
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const QString& name : without) {
        environment.remove(name);
    }
    process.setProcessEnvironment(environment);
    process.start(program, arguments);
    if (!process.waitForFinished(patienceMs)) {
        process.kill();
        process.waitForFinished();
        return {};
    }
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
        QString::fromUtf8(process.readAllStandardOutput()), QString::fromUtf8(process.readAllStandardError())};
}

const QString gui = QStringLiteral(NANSCOPE_PROGRAMS "/nanscope-gui");
const QStringList displays {
    QStringLiteral("DISPLAY"), QStringLiteral("WAYLAND_DISPLAY"), QStringLiteral("QT_QPA_PLATFORM")};

} // namespace

TEST(Program, HelpAndVersionNeedNoDisplay)
{
    const Ran version = run(gui, {QStringLiteral("--version")}, displays);
    EXPECT_EQ(version.status, 0);
    EXPECT_TRUE(version.out.startsWith(QStringLiteral("nanscope ")));
    const Ran help = run(gui, {QStringLiteral("--help")}, displays);
    EXPECT_EQ(help.status, 0);
    for (const char* option : {"--screenshot", "--layout", "--reset-layout", "--filter", "--variant-file", "--params",
             "--env", "--advisories"}) {
        EXPECT_TRUE(help.out.contains(QLatin1String(option))) << option;
    }
}

TEST(Program, WithoutADisplayItSaysSo)
{
    const Ran ran = run(gui, {}, displays);
    EXPECT_EQ(ran.status, 1);
    EXPECT_TRUE(ran.err.contains(QStringLiteral("no display")));
}

TEST(Program, WrongOptionsAreWrongUsage)
{
    EXPECT_EQ(run(gui, {QStringLiteral("--theme"), QStringLiteral("pink")}).status, 2);
    EXPECT_EQ(run(gui, {QStringLiteral("--size"), QStringLiteral("huge")}).status, 2);
    const Ran picture = run(gui, {QStringLiteral("--screenshot"), QStringLiteral("window.docx")});
    EXPECT_EQ(picture.status, 2);
    EXPECT_TRUE(picture.err.contains(QStringLiteral("window.docx"))) << picture.err.toStdString();
    EXPECT_TRUE(picture.err.contains(QStringLiteral("png"))) << picture.err.toStdString();
}

TEST(Program, AFileThatCannotBeUsedIsOneSentence)
{
    for (const char* option : {"--variant-file", "--params", "--env", "--advisories"}) {
        const Ran ran = run(gui, {QLatin1String(option), QStringLiteral("/no/such/file")});
        EXPECT_EQ(ran.status, 2) << option;
        EXPECT_TRUE(ran.err.endsWith(QStringLiteral(": /no/such/file\n"))) << ran.err.toStdString();
        EXPECT_EQ(ran.err.count(QStringLiteral("nanscope-gui: ")), 1) << ran.err.toStdString();
    }
}

TEST(Program, UnknownLayoutIsASentenceWithTheNearestNames)
{
    const QTemporaryDir folder;
    const QStringList asked {QStringLiteral("--screenshot"), folder.filePath(QStringLiteral("window.png")),
        QStringLiteral("--layout"), QStringLiteral("flim")};
    const QByteArray before = qgetenv("XDG_CONFIG_HOME");
    qputenv("XDG_CONFIG_HOME", folder.path().toUtf8());
    const Ran none = run(gui, asked, displays);
    EXPECT_EQ(none.status, 0);
    EXPECT_TRUE(none.err.contains(QStringLiteral("no layout was saved yet"))) << none.err.toStdString();
    QDir(folder.path()).mkpath(QStringLiteral("nanscope"));
    {
        QSettings saved(folder.filePath(QStringLiteral("nanscope/nanscope.conf")), QSettings::IniFormat);
        for (const char* name : {"film", "night watch"}) {
            saved.setValue(
                QStringLiteral("layouts1/") + QString::fromLatin1(QByteArray(name).toHex()), QByteArray("x"));
        }
    }
    const Ran other = run(gui, asked, displays);
    qputenv("XDG_CONFIG_HOME", before);
    EXPECT_EQ(other.status, 0);
    EXPECT_TRUE(other.err.contains(QStringLiteral("the nearest are film, night watch"))) << other.err.toStdString();
}

TEST(Program, ScreenshotNeedsNoDisplayAndHasTheSizeAskedFor)
{
    const QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("window.png"));
    const Ran ran = run(gui,
        {QStringLiteral(NANSCOPE_SAMPLE), QStringLiteral("--screenshot"), picture, QStringLiteral("--size"),
            QStringLiteral("1280x800"), QStringLiteral("--theme"), QStringLiteral("dark")},
        displays);
    EXPECT_EQ(ran.status, 0) << ran.err.toStdString();
    const QImage image(picture);
    EXPECT_EQ(image.size(), QSize(1280, 800));
    EXPECT_LT(image.pixelColor(4, 400).lightness(), 100);
}

TEST(Program, PictureOfOnePaneIsSmallerThanTheWindow)
{
    const QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("pane.png"));
    const QStringList asked {QStringLiteral(NANSCOPE_SAMPLE), QStringLiteral("--screenshot"), picture,
        QStringLiteral("--size"), QStringLiteral("1280x800")};
    const Ran ran = run(gui, asked + QStringList {QStringLiteral("--pane"), QStringLiteral("captures")}, displays);
    EXPECT_EQ(ran.status, 0) << ran.err.toStdString();
    const QImage image(picture);
    EXPECT_GT(image.width(), 200);
    EXPECT_LT(image.width(), 640);
    const Ran unknown = run(gui, asked + QStringList {QStringLiteral("--pane"), QStringLiteral("attic")}, displays);
    EXPECT_EQ(unknown.status, 1);
    EXPECT_TRUE(unknown.err.contains(QStringLiteral("attic")));
}

TEST(Program, WindowFitsASmallScreen)
{
    const QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("small.png"));
    const Ran ran = run(gui,
        {QStringLiteral(NANSCOPE_SAMPLE), QStringLiteral("--screenshot"), picture, QStringLiteral("--size"),
            QStringLiteral("800x600")},
        displays);
    EXPECT_EQ(ran.status, 0) << ran.err.toStdString();
    EXPECT_EQ(QImage(picture).size(), QSize(800, 600));
}

TEST(Program, StartsUnderAnXServer)
{
    const QString xvfb = QStandardPaths::findExecutable(QStringLiteral("xvfb-run"));
    if (xvfb.isEmpty()) {
        GTEST_SKIP() << "xvfb-run is not installed";
    }
    const QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("window.png"));
    const Ran ran = run(xvfb,
        {QStringLiteral("-a"), QStringLiteral("-s"), QStringLiteral("-screen 0 1600x1000x24"), gui,
            QStringLiteral(NANSCOPE_SAMPLE), QStringLiteral("--screenshot"), picture},
        displays);
    EXPECT_EQ(ran.status, 0) << ran.err.toStdString();
    EXPECT_EQ(QImage(picture).size(), QSize(1440, 900));
}

} // namespace nanscope
