// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What leaves the window as a file: the picture and the numbers of every plot.
#include <csignal>
#include <limits>

#include <QAction>
#include <QContextMenuEvent>
#include <QFile>
#include <QFileDialog>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QStatusBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QXmlStreamReader>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include "tests/ui/samples.h"
#include "tests/ui/windowtest.h"
#include "ui/cliff/cliffpane.h"
#include "ui/cliff/cliffstrip.h"
#include "ui/faulttree/faulttreepane.h"
#include "ui/faulttree/faulttreeview.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/framemap.h"
#include "ui/film/framepane.h"
#include "ui/gauges/gaugespane.h"
#include "ui/heatmap/heatmap.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/copying.h"
#include "ui/shared/saving.h"
#include "ui/shared/table/texttable.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/shell/keylist.h"
#include "ui/sweep/sweeppane.h"
#include "ui/tensors/tensorspane.h"
#include "ui/timeline/timelinepane.h"

namespace nanscope {

namespace {

const QString sheet = QStringLiteral("iteration\tnote\n1\tfine, \"really\"\n2\tNaN\n");

QByteArray contents(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// The texts of a drawing; nothing, and a failure, where it is not XML.
QString textsOf(const QString& svg)
{
    QXmlStreamReader reader(contents(svg));
    QStringList texts;
    while (!reader.atEnd()) {
        if (reader.readNext() == QXmlStreamReader::Characters) {
            texts << reader.text().toString().simplified();
        }
    }
    EXPECT_FALSE(reader.hasError()) << reader.errorString().toStdString();
    return texts.join(QLatin1Char(' ')).simplified();
}

int pixelsOf(const QImage& image, const QColor& color)
{
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            count += image.pixel(x, y) == color.rgb() ? 1 : 0;
        }
    }
    return count;
}

Picture crossOf(const QColor& color)
{
    return {QSize(80, 40), [color](const PictureCanvas& canvas) {
                canvas.painter().fillRect(10, 10, 5, 5, color);
                canvas.painter().drawText(QPoint(30, 30), QStringLiteral("step 3"));
            }};
}

QAction* commandOf(const QWidget& widget, const QString& begin)
{
    for (QAction* action : widget.actions()) {
        if (action->text().startsWith(begin)) {
            return action;
        }
    }
    return nullptr;
}

/// Answers the file dialog of the widget.
void answer(QWidget& widget, const QString& path)
{
    auto* dialog = widget.findChild<QFileDialog*>(QString(), Qt::FindDirectChildrenOnly);
    ASSERT_TRUE(dialog);
    // selectFile() leaves a name alone that is being typed.
    dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(path);
    static_cast<QDialog*>(dialog)->accept();
    QCoreApplication::sendPostedEvents(dialog, QEvent::DeferredDelete);
}

/// Files cannot grow beyond a few bytes while it lives: what a full disk is to who writes.
class NoRoom
{
public:
    NoRoom()
        : m_handler(std::signal(SIGXFSZ, SIG_IGN))
    {
        getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit few {16, m_before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &few);
    }
    NoRoom(const NoRoom&) = delete;
    NoRoom& operator=(const NoRoom&) = delete;
    ~NoRoom()
    {
        setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_handler);
    }

private:
    rlimit m_before {};
    void (*m_handler)(int);
};

class Saving : public testing::Test
{
protected:
    QString file(const char* name) const { return folder.filePath(QLatin1String(name)); }

    QTemporaryDir folder;
};

/// One plot of the window and what is to be read in its drawing.
struct Shown
{
    QWidget* widget;
    QWidget* asked; ///< the parent of the dialog
    QStringList texts;
    const char* pane = ""; ///< that has to come to the front
};

class SavingWindow : public test::SampleSessionWindow
{
protected:
    std::vector<Shown> plots()
    {
        const Panes& panes = window.panes();
        QWidget* gauges = panes.gauges->plot();
        QWidget* loss = panes.timeline->lossPlot();
        const auto alone = [](const char* pane, QWidget* widget, const QStringList& texts) {
            return Shown {widget, widget, texts, pane};
        };
        return {alone("gauges", gauges, {QStringLiteral("Gauges"), QStringLiteral("step of the iteration")}),
            alone("film", panes.film->strip(), {QStringLiteral("Film strip"), QStringLiteral("before step 1")}),
            alone("frame", panes.frame->map(), {QStringLiteral("log"), QStringLiteral("NaN")}),
            alone(
                "tensors", panes.tensors->outputMap(), {QStringLiteral("Captured output"), QStringLiteral("1×96×160")}),
            alone("faults", panes.faults->view(),
                {QStringLiteral("Fault tree"), QStringLiteral("rank 0"), QStringLiteral("birth")}),
            alone("sweep", panes.sweep->view(), {QStringLiteral("Sweep"), QStringLiteral("fp16")}),
            {loss, panes.timeline->chart("loss"), {QStringLiteral("Loss"), QStringLiteral("rank 0")}, "timeline"}};
    }

    void save(const Shown& shown, const QString& command, const QString& path)
    {
        QAction* action = commandOf(*shown.widget, command);
        ASSERT_TRUE(action) << shown.texts.front().toStdString();
        action->trigger();
        answer(*shown.asked, path);
    }
};

} // namespace

TEST_F(Saving, PngIsTwiceAsLargeOnTheGroundOfTheTheme)
{
    for (const ThemeChoice choice : {ThemeChoice::dark, ThemeChoice::light}) {
        applyTheme(choice);
        ASSERT_TRUE(savePicture(crossOf(theme().nan), QStringLiteral("Cross"), file("a.png")));
        const QImage image(file("a.png"));
        EXPECT_EQ(image.size(), QSize(160, 80));
        EXPECT_EQ(pixelsOf(image, theme().nan), 100);
        EXPECT_EQ(image.pixelColor(0, 0), theme().surface);
    }
}

TEST_F(Saving, SvgAndPdfKeepTextAndSize)
{
    ASSERT_TRUE(savePicture(crossOf(Qt::red), QStringLiteral("Cross"), file("a.pdf")));
    EXPECT_TRUE(contents(file("a.pdf")).startsWith("%PDF-"));
    EXPECT_TRUE(contents(file("a.pdf")).contains("/MediaBox [0 0 60")) << "80 pixels of 96 to the inch";
    if (!pictureEndings().contains(QStringLiteral("svg"))) {
        GTEST_SKIP() << "no Qt SVG in this build";
    }
    ASSERT_TRUE(savePicture(crossOf(Qt::red), QStringLiteral("Cross"), file("a.svg")));
    EXPECT_TRUE(textsOf(file("a.svg")).contains(QStringLiteral("step 3")));
    EXPECT_TRUE(contents(file("a.svg")).contains("viewBox=\"0 0 80 40\""));
}

TEST_F(Saving, WhatIsClippedOnTheScreenIsClippedInADrawing)
{
    if (!pictureEndings().contains(QStringLiteral("svg"))) {
        GTEST_SKIP() << "no Qt SVG in this build";
    }
    const auto paint = [](const PictureCanvas& canvas) {
        canvas.painter().translate(5, 5);
        canvas.clipped({10, 10, 20, 15},
            [](const PictureCanvas& inside) { inside.painter().drawText(QPoint(12, 20), QStringLiteral("within")); });
    };
    ASSERT_TRUE(savePicture({QSize(80, 40), paint}, QStringLiteral("Cross"), file("a.svg")));
    EXPECT_TRUE(textsOf(file("a.svg")).endsWith(QStringLiteral("within"))) << contents(file("a.svg")).toStdString();
    EXPECT_FALSE(contents(file("a.svg")).contains("@@"));
    EXPECT_TRUE(contents(file("a.svg")).contains(R"(<svg x="10" y="10" width="20" height="15")"));
}

TEST_F(Saving, TablesAreWrittenAsTheirEndingSays)
{
    const TextTable table = tableFromTsv(sheet);
    ASSERT_TRUE(saveTable(table, file("a.csv")));
    EXPECT_EQ(contents(file("a.csv")), "iteration,note\n1,\"fine, \"\"really\"\"\"\n2,nan\n");
    ASSERT_TRUE(saveTable(table, file("a.TSV")));
    EXPECT_EQ(contents(file("a.TSV")), "iteration\tnote\n1\tfine, \"really\"\n2\tnan\n");
    ASSERT_TRUE(saveTable(table, file("a.json")));
    EXPECT_EQ(QJsonDocument::fromJson(contents(file("a.json"))).array().size(), 2);
    EXPECT_EQ(contents(file("a.json")), asJson(table).toUtf8());
    ASSERT_TRUE(saveTable({table.columns, {}}, file("a.json")));
    EXPECT_EQ(contents(file("a.json")), asJson({table.columns, {}}).toUtf8());
}

TEST_F(Saving, WhatCannotBeWrittenIsASentence)
{
    const auto noFolder = saveTable(tableFromTsv(sheet), file("gone/a.csv"));
    ASSERT_FALSE(noFolder);
    EXPECT_EQ(sentence(noFolder.error()),
        "The folder of the file is not there; choose another one: " + file("gone/a.csv").toStdString());
    const auto noForm = savePicture(crossOf(Qt::red), QStringLiteral("Cross"), file("a.jpg"));
    ASSERT_FALSE(noForm);
    EXPECT_TRUE(sentence(noForm.error()).starts_with("A picture's name has to end in .png or ."))
        << noForm.error().what;
    EXPECT_FALSE(saveTable(tableFromTsv(sheet), file("a")));
    EXPECT_FALSE(QFile::exists(file("a.jpg")));
}

TEST_F(Saving, AFullDiskLosesNothing)
{
    ASSERT_TRUE(savePicture(crossOf(Qt::red), QStringLiteral("Cross"), file("a.png")));
    const QByteArray before = contents(file("a.png"));
    {
        const NoRoom full;
        const auto failed = savePicture(crossOf(Qt::blue), QStringLiteral("Cross"), file("a.png"));
        ASSERT_FALSE(failed);
        EXPECT_TRUE(sentence(failed.error()).find("a.png") != std::string::npos) << sentence(failed.error());
    }
    EXPECT_EQ(contents(file("a.png")), before);
    EXPECT_EQ(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden), QStringList(QStringLiteral("a.png")));
}

TEST_F(Saving, TheDialogSuggestsANameAndFollowsTheKind)
{
    QWidget plot;
    setSaveFolder(folder.path());
    QFileDialog* dialog = askAndSave(plot,
        {QStringLiteral("Save picture"), QStringLiteral("rank0-gauges"), pictureKinds(),
            [](const QString&) { return Result<void>(); }});
    EXPECT_EQ(dialog->directory().absolutePath(), folder.path());
    EXPECT_EQ(dialog->selectedFiles(), QStringList(file("rank0-gauges.png")));
    dialog->selectNameFilter(pictureKinds().back());
    Q_EMIT dialog->filterSelected(pictureKinds().back());
    EXPECT_EQ(dialog->selectedFiles(), QStringList(file("rank0-gauges.pdf")));
}

TEST_F(Saving, TheDialogSaysWhatWentWrongAndKeepsTheFolder)
{
    QWidget plot;
    const PlotCopies copies {QStringLiteral("Plot"), [] { return sheet; }, [] { return crossOf(Qt::red); }};
    saveValuesOf(plot, copies);
    answer(plot, file("a.csv"));
    EXPECT_TRUE(QFile::exists(file("a.csv")));
    EXPECT_EQ(saveFolder(), folder.path());
    {
        const NoRoom full;
        savePictureOf(plot, copies);
        answer(plot, file("b.png"));
    }
    auto* box = plot.findChild<QMessageBox*>();
    ASSERT_TRUE(box);
    EXPECT_TRUE(box->text().contains(QStringLiteral("b.png"))) << box->text().toStdString();
    EXPECT_FALSE(QFile::exists(file("b.png")));
}

TEST_F(Saving, NamesOfFilesAreOnesThatEveryDiskTakes)
{
    EXPECT_EQ(fileStem({QStringLiteral("../a b:c"), QStringLiteral("film strip")}), QStringLiteral("a-b-c-film-strip"));
    EXPECT_EQ(fileStem({QString(), QStringLiteral("Q/σ")}), QStringLiteral("Q"));
    EXPECT_LE(fileStem({QString(500, QLatin1Char('x'))}).size(), 120);
}

TEST_F(Saving, WhatThereIsNothingOfCannotBeChosen)
{
    QWidget plot;
    QMenu menu;
    addCopyEntries(menu, plot, {QStringLiteral("Plot"), [] { return QString(); }, [] { return Picture {}; }});
    for (const QAction* action : menu.actions()) {
        EXPECT_FALSE(action->isEnabled()) << action->text().toStdString();
    }
    savePictureOf(plot, {QStringLiteral("Plot"), [] { return QString(); }, [] { return Picture {}; }});
    EXPECT_FALSE(plot.findChild<QFileDialog*>());
}

TEST_F(Saving, AHeatMapOutOfSightOfItsElementsGivesItsTiles)
{
    HeatView view;
    HeatMap map(&view);
    map.resize(200, 100);
    MatrixPicture picture = test::makePicture(100, 200);
    test::setElement(picture, 50, 100, std::numeric_limits<float>::quiet_NaN());
    auto tiles = std::make_shared<MatrixPicture>(picture);
    map.setPicture(std::make_shared<const MatrixPicture>(std::move(picture)));
    EXPECT_EQ(tableFromTsv(visibleSheet(map)).rows.size(), 20000U);
    tiles->floats.clear();
    map.setPicture(tiles);
    const TextTable table = tableFromTsv(visibleSheet(map));
    ASSERT_EQ(table.rows.size(), 20000U);
    EXPECT_EQ(table.columns.back(), QStringLiteral("holds"));
    EXPECT_EQ(table.rows[50 * 200 + 100].back(), QStringLiteral("nan"));
    const QImage image = imageOf(map.toPicture());
    EXPECT_EQ(image.size(), QSize(400, 200));
    EXPECT_GT(pixelsOf(image, theme().nan) + pixelsOf(image, hatchColor(ValueClass::nan, theme())), 0);
}

TEST_F(SavingWindow, EveryPlotSavesItsPictureWithItsTexts)
{
    for (const Shown& shown : plots()) {
        window.pane(QLatin1String(shown.pane)); // behind another tab it has no size of its own yet
        ASSERT_TRUE(waitUntil([&shown] { return shown.widget->isVisible() && shown.widget->width() > grid(40); }));
        QCoreApplication::sendPostedEvents();
        for (const QString& ending : pictureEndings()) {
            const QString path = folder.filePath(QStringLiteral("picture.") + ending);
            QFile::remove(path);
            save(shown, QStringLiteral("Save picture"), path);
            ASSERT_TRUE(QFile::exists(path)) << shown.texts.front().toStdString() << ' ' << path.toStdString();
            if (ending == QStringLiteral("svg")) {
                const QString texts = textsOf(path);
                for (const QString& text : shown.texts) {
                    EXPECT_TRUE(texts.contains(text)) << text.toStdString() << " in " << texts.toStdString();
                }
            } else if (ending == QStringLiteral("png")) {
                const QImage image(path);
                EXPECT_LE(image.width(), 2 * shown.widget->width()) << shown.texts.front().toStdString();
                EXPECT_GE(image.width(), shown.widget->width()) << "at least where it is not letter-boxed";
                EXPECT_GT(pixelsOf(image, theme().surface), 0);
                EXPECT_LT(pixelsOf(image, theme().surface), image.width() * image.height());
            }
        }
    }
}

TEST_F(SavingWindow, EveryPlotSavesItsValues)
{
    const QString path = folder.filePath(QStringLiteral("values.tsv"));
    for (const Shown& shown : plots()) {
        QFile::remove(path);
        QAction* action = commandOf(*shown.widget, QStringLiteral("Save values"));
        action = action ? action : commandOf(*shown.widget, QStringLiteral("Save rows"));
        ASSERT_TRUE(action) << shown.texts.front().toStdString();
        action->trigger();
        QWidget* asked = shown.widget == shown.asked ? shown.asked : window.panes().timeline;
        ASSERT_TRUE(waitUntil([asked] { return asked->findChild<QFileDialog*>() != nullptr; }));
        answer(*asked, path);
        const auto* box = asked->findChild<QMessageBox*>();
        EXPECT_FALSE(box) << box->text().toStdString();
        EXPECT_TRUE(waitUntil([&path] { return contents(path).count('\n') >= 2; }))
            << shown.texts.front().toStdString();
    }
}

TEST_F(SavingWindow, TheDamagedTileIsInItsPicture)
{
    const QImage image = imageOf(window.panes().tensors->outputMap()->toPicture());
    EXPECT_GT(pixelsOf(image, theme().nan), 100);
    EXPECT_GT(pixelsOf(image, theme().birth), 50) << "the frame about it";
}

TEST_F(SavingWindow, TheCliffIsOnePictureOfCurveLadderAndMarks)
{
    CliffPane* cliff = window.panes().cliff;
    window.pane(QStringLiteral("cliff"));
    ASSERT_TRUE(waitUntil([cliff] { return !cliff->history().all().empty(); }));
    QWidget* page = cliff->strip()->parentWidget();
    const Shown shown {page, page, {}};
    const QString path = folder.filePath(QStringLiteral("cliff.") + pictureEndings().at(1));
    save(shown, QStringLiteral("Save picture"), path);
    if (pictureEndings().contains(QStringLiteral("svg"))) {
        const QString texts = textsOf(path);
        for (const char* text : {"Cliff", "limit", "in % of each step's limit", "1/4"}) {
            EXPECT_TRUE(texts.contains(QLatin1String(text))) << text << " in " << texts.toStdString();
        }
    }
}

TEST_F(SavingWindow, TheContextMenuKeyOpensTheMenuAndTheListOfKeysTellsTheCommands)
{
    GaugePlot* plot = window.panes().gauges->plot();
    window.pane(QStringLiteral("gauges"));
    QStringList entries;
    QTimer::singleShot(0, plot, [&entries] {
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        ASSERT_TRUE(menu);
        for (const QAction* action : menu->actions()) {
            entries << action->text().section(QLatin1Char('\t'), 0, 0);
        }
        menu->close();
    });
    QContextMenuEvent key(QContextMenuEvent::Keyboard, plot->rect().center(), plot->mapToGlobal(QPoint(5, 5)));
    QApplication::sendEvent(plot, &key);
    EXPECT_TRUE(entries.contains(QStringLiteral("Save picture…")));
    EXPECT_TRUE(entries.contains(QStringLiteral("Save values…")));
    const auto rows = keyRows(window);
    EXPECT_TRUE(std::ranges::any_of(rows, [](const KeyRow& row) {
        return row.keys == QStringLiteral("Ctrl+S") && row.what.contains(QStringLiteral("Save picture"));
    }));
    window.activateWindow();
    plot->setFocus();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    QTest::keyClick(plot, Qt::Key_S, Qt::ControlModifier);
    EXPECT_TRUE(plot->findChild<QFileDialog*>());
}

TEST_F(SavingWindow, TheStatusBarSaysWhereAFileWasSaved)
{
    const QString path = QDir::temp().filePath(QStringLiteral("numbers.csv"));
    QString writtenTo;
    const auto write = [&writtenTo](const QString& to) {
        writtenTo = to;
        return Result<void>();
    };
    QFileDialog* dialog = askAndSave(*window.panes().gauges->plot(), {QStringLiteral("Save"), {}, tableKinds(), write});
    Q_EMIT dialog->fileSelected(path);
    EXPECT_EQ(writtenTo, path);
    EXPECT_THAT(window.statusBar()->currentMessage().toStdString(), testing::HasSubstr("Saved: "));
    EXPECT_THAT(window.statusBar()->currentMessage().toStdString(), testing::HasSubstr("numbers.csv"));
    dialog->close();
}

TEST_F(SavingWindow, TheStatusBarSaysHowManyValuesWereSaved)
{
    const QString path = folder.filePath(QStringLiteral("loss.csv"));
    Q_EMIT window.panes().timeline->chart("loss")->rowsWanted(RowsUse::file);
    answer(*window.panes().timeline, path);
    const auto said = [this] { return window.statusBar()->currentMessage(); };
    ASSERT_TRUE(waitUntil([&] { return said().startsWith(QStringLiteral("Saved: ")); })) << said().toStdString();
    const auto rows = contents(path).count('\n') - 1;
    EXPECT_TRUE(said().endsWith(QStringLiteral("(%1 values)").arg(countLabel(rows)))) << said().toStdString();
}

} // namespace nanscope
