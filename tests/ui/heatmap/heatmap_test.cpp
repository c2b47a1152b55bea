// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <limits>

#include <QImage>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>
#include <QVBoxLayout>
#include <QWheelEvent>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "ui/heatmap/heatlegend.h"
#include "ui/heatmap/heatmap.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

using test::floatInf;
using test::floatNan;

bool isClass(QRgb pixel, ValueClass value)
{
    return pixel == classColor(value, theme()).rgb() || pixel == hatchColor(value, theme()).rgb();
}

int countClass(const QImage& image, ValueClass value)
{
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            count += isClass(image.pixel(x, y), value);
        }
    }
    return count;
}

class HeatMapTest : public testing::Test
{
protected:
    HeatMapTest() { map.resize(200, 200); }

    void show(MatrixPicture picture) { map.setPicture(std::make_shared<const MatrixPicture>(std::move(picture))); }
    QImage shot() { return map.grab().toImage(); }
    QRgb pixelOf(const QImage& image, std::int64_t row, std::int64_t col) const
    {
        return image.pixel(map.elementRect(row, col).center().toPoint());
    }

    HeatView view;
    HeatMap map {&view};
};

} // namespace

TEST_F(HeatMapTest, EveryClassHasItsOwnColourOutsideTheMap)
{
    MatrixPicture picture = test::makePicture(10, 10);
    test::setElement(picture, 1, 1, floatNan);
    test::setElement(picture, 3, 3, floatInf);
    test::setElement(picture, 5, 5, -floatInf);
    test::setElement(picture, 7, 7, 0);
    show(picture);
    const QImage image = shot();
    EXPECT_TRUE(isClass(pixelOf(image, 1, 1), ValueClass::nan));
    EXPECT_TRUE(isClass(pixelOf(image, 3, 3), ValueClass::posInf));
    EXPECT_TRUE(isClass(pixelOf(image, 5, 5), ValueClass::negInf));
    EXPECT_TRUE(isClass(pixelOf(image, 7, 7), ValueClass::zero));
    for (const ValueClass value : {ValueClass::nan, ValueClass::posInf, ValueClass::negInf, ValueClass::zero}) {
        EXPECT_FALSE(isClass(pixelOf(image, 9, 9), value));
        EXPECT_EQ(countClass(image, value), 400) << "one element of 20 x 20 pixels";
    }
}

TEST_F(HeatMapTest, NonFiniteAreasAreHatchedInTheirOwnDirections)
{
    MatrixPicture picture = test::makePicture(10, 10);
    test::setElement(picture, 1, 1, floatNan);
    show(picture);
    const QImage image = shot();
    int marked = 0;
    for (int y = 20; y < 40; ++y) {
        for (int x = 20; x < 40; ++x) {
            marked += image.pixel(x, y) == hatchColor(ValueClass::nan, theme()).rgb();
        }
    }
    EXPECT_GT(marked, 20);
    EXPECT_LT(marked, 200);
    EXPECT_NE(hatched(ValueClass::nan, 3, 0), hatched(ValueClass::posInf, 3, 0));
    EXPECT_NE(hatched(ValueClass::posInf, 3, 0), hatched(ValueClass::negInf, 3, 0));
}

TEST_F(HeatMapTest, OneNanAmongManyElementsPerPixelIsStillSeen)
{
    MatrixPicture picture = test::makePicture(1000, 1000);
    test::setElement(picture, 517, 313, floatNan);
    show(picture);
    EXPECT_GE(countClass(shot(), ValueClass::nan), 1);
}

TEST_F(HeatMapTest, ColourGrowsWithMagnitude)
{
    MatrixPicture picture = test::makePicture(10, 10);
    for (int col = 0; col < 3; ++col) {
        test::setElement(picture, 0, col, 1e-4F);
    }
    test::setElement(picture, 9, 9, -10.0F);
    show(picture);
    EXPECT_NEAR(map.scale().high, 1, 1e-6);
    const QImage image = shot();
    const auto lightness = [&](int row, int col) { return QColor(pixelOf(image, row, col)).lightnessF(); };
    EXPECT_LT(lightness(0, 0), lightness(5, 5));
    EXPECT_LT(lightness(5, 5), lightness(9, 9));
}

TEST_F(HeatMapTest, DamageIsFramedInTheBirthColour)
{
    show(test::makePicture(10, 10));
    DamagePattern damage;
    damage.rowBegin = 2;
    damage.rowEnd = 4;
    damage.colBegin = 5;
    damage.colEnd = 8;
    EXPECT_FALSE(shot().pixel(map.elementRect(2, 5).topLeft().toPoint() - QPoint(2, 2)) == theme().birth.rgb());
    map.setDamage(damage, false);
    const QImage image = shot();
    const QRectF box = map.damageRect();
    EXPECT_EQ(image.pixel(QPoint(qRound(box.center().x()), qRound(box.top()) - 2)), theme().birth.rgb());
    EXPECT_EQ(image.pixel(QPoint(qRound(box.right()) + 1, qRound(box.center().y()))), theme().birth.rgb());
    EXPECT_NE(image.pixel(box.center().toPoint()), theme().birth.rgb());
}

TEST_F(HeatMapTest, TheFirstNonFiniteElementIsRinged)
{
    HeatView view;
    HeatMap map(&view);
    map.resize(320, 192);
    MatrixPicture picture = test::makePicture(96, 160);
    picture.scan.count = 96 * 160;
    map.setPicture(std::make_shared<const MatrixPicture>(picture));
    EXPECT_TRUE(map.firstRing().isEmpty()) << "all are finite";
    picture.scan.nan = 2;
    picture.scan.firstNonFinite = 40 * 160 + 100;
    map.setPicture(std::make_shared<const MatrixPicture>(picture));
    const QRectF ring = map.firstRing();
    EXPECT_EQ(ring.center(), map.elementRect(40, 100).center());
    EXPECT_GE(ring.width(), 14) << "one element among 15,360 has to be found";
    const QImage image = map.grab().toImage();
    const QPoint top(qRound(ring.center().x()), qRound(ring.top()));
    EXPECT_GT(qGray(image.pixel(top)), 200);
    picture.scan.nan = picture.scan.count;
    map.setPicture(std::make_shared<const MatrixPicture>(picture));
    EXPECT_TRUE(map.firstRing().isEmpty()) << "where all are bad, the first is none to look for";
}

TEST_F(HeatMapTest, TheRingOfAnElementAtTheEdgeIsWhole)
{
    HeatView view;
    HeatMap map(&view);
    map.resize(320, 192);
    MatrixPicture picture = test::makePicture(96, 160);
    picture.scan.count = 96 * 160;
    picture.scan.nan = 1;
    for (const std::int64_t first : {std::int64_t {11}, std::int64_t {96 * 160 - 1}}) {
        picture.scan.firstNonFinite = first;
        map.setPicture(std::make_shared<const MatrixPicture>(picture));
        EXPECT_TRUE(QRectF(map.rect()).contains(map.firstRing().adjusted(-2, -2, 2, 2))) << first;
    }
}

TEST_F(HeatMapTest, ANarrowLegendTakesTwoLinesInALayout)
{
    QWidget pane;
    auto* layout = new QVBoxLayout(&pane);
    auto* above = new QWidget(&pane);
    auto* legend = new ClassLegend(&pane);
    layout->addWidget(above, 1);
    layout->addWidget(legend);
    pane.resize(legend->sizeHint().width() - 10, 300);
    pane.show();
    EXPECT_GE(legend->height(), legend->heightForWidth(legend->width()));
    EXPECT_GT(legend->height(), legend->sizeHint().height());
}

TEST_F(HeatMapTest, FrameOfOneElementInALargeMatrixIsLargeEnoughToSee)
{
    show(test::makePicture(1000, 1000));
    DamagePattern damage;
    damage.rowBegin = damage.colBegin = 500;
    damage.rowEnd = damage.colEnd = 501;
    map.setDamage(damage, false);
    EXPECT_GE(map.damageRect().width(), 8);
}

TEST_F(HeatMapTest, WheelKeepsTheElementUnderTheCursor)
{
    show(test::makePicture(100, 100));
    const QPointF at(61, 143);
    const auto under = [&] {
        QMouseEvent move(QEvent::MouseMove, at, map.mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&map, &move);
        return map.cursorElement();
    };
    const auto before = under();
    ASSERT_TRUE(before);
    for (int i = 0; i < 6; ++i) {
        QWheelEvent wheel(
            at, map.mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&map, &wheel);
    }
    EXPECT_GT(view.zoom(), 3);
    const auto after = under();
    ASSERT_TRUE(after);
    EXPECT_EQ(after->row, before->row);
    EXPECT_EQ(after->col, before->col);
}

TEST_F(HeatMapTest, LinkedMapsMoveTogether)
{
    HeatMap other(&view);
    other.resize(200, 200);
    other.setPicture(std::make_shared<const MatrixPicture>(test::makePicture(100, 100)));
    show(test::makePicture(100, 100));
    QTest::keyClick(&map, Qt::Key_Plus);
    QTest::keyClick(&map, Qt::Key_Right);
    EXPECT_EQ(map.elementRect(50, 50), other.elementRect(50, 50));
    ASSERT_TRUE(other.cursorElement());
    EXPECT_EQ(other.cursorElement()->col, 1);
    QTest::keyClick(&map, Qt::Key_0);
    EXPECT_EQ(view.zoom(), 1);
}

TEST_F(HeatMapTest, ZoomedInElementsOfLargeMatricesAreDrawnOneByOne)
{
    // A tile of 4 x 4 with a single NaN: fitted, the tile is bad; zoomed in, only that element is.
    MatrixPicture picture = test::makePicture(400, 400);
    test::setElement(picture, 201, 202, floatNan);
    TileMap tiles;
    tiles.rows = tiles.cols = 400;
    tiles.tileRows = tiles.tileCols = 4;
    tiles.height = tiles.width = 100;
    tiles.absmax.assign(10000, 0.1F);
    tiles.classes.assign(10000, classNormal);
    tiles.classes[50 * 100 + 50] |= classNan;
    picture.tiles = tiles;
    show(picture);
    EXPECT_EQ(countClass(shot(), ValueClass::nan), 4) << "a tile is 2 x 2 pixels";
    view.setView({0.5, 0.5}, 20);
    const QImage image = shot();
    EXPECT_TRUE(isClass(pixelOf(image, 201, 202), ValueClass::nan));
    EXPECT_FALSE(isClass(pixelOf(image, 200, 202), ValueClass::nan));
}

TEST_F(HeatMapTest, VectorsAndEmptyMatricesAreDrawnToo)
{
    show(test::makePicture(1, 4096));
    EXPECT_GE(map.elementRect(0, 0).height(), 40);
    EXPECT_FALSE(shot().isNull());
    show(MatrixPicture {});
    EXPECT_FALSE(shot().isNull());
}

TEST_F(HeatMapTest, ThemeChangeRepaintsInTheOtherColours)
{
    MatrixPicture picture = test::makePicture(2, 2);
    test::setElement(picture, 0, 0, floatNan);
    show(picture);
    const QRgb light = shot().pixel(52, 51);
    applyTheme(ThemeChoice::dark);
    const QRgb dark = shot().pixel(52, 51);
    applyTheme(ThemeChoice::light);
    EXPECT_EQ(light, lightTheme().nan.rgb());
    EXPECT_EQ(dark, darkTheme().nan.rgb());
}

TEST(MatrixPicture, ClassOfTellsSubnormalsInTheFilesFormat)
{
    EXPECT_EQ(classOf(1e-6, DType::float16), ValueClass::subnormal);
    EXPECT_EQ(classOf(1e-6, DType::bfloat16), ValueClass::normal);
    EXPECT_EQ(classOf(-0.0, DType::float32), ValueClass::zero);
    EXPECT_EQ(classOf(-INFINITY, DType::float32), ValueClass::negInf);
}

TEST(ColorMap, LightnessGrowsEvenlyAndStaysClearOfTheClassColours)
{
    const ColorMap& map = ColorMap::standard();
    double last = -1;
    for (int i = 0; i <= 20; ++i) {
        const QColor color(map.at(i / 20.0));
        const double luma = 0.2126 * color.redF() + 0.7152 * color.greenF() + 0.0722 * color.blueF();
        EXPECT_GT(luma, last);
        last = luma;
        for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
            for (const QColor& reserved : {theme->nan, theme->posInf, theme->negInf, theme->zero, theme->birth}) {
                const int distance = std::abs(color.red() - reserved.red()) + std::abs(color.green() - reserved.green())
                    + std::abs(color.blue() - reserved.blue());
                EXPECT_GT(distance, 60) << color.name().toStdString() << ' ' << reserved.name().toStdString();
            }
        }
    }
}

/// A matrix of 8 x 8 in tiles of 4 x 4, all of magnitude 0.1 but for one NaN.
MatrixPicture coarse(std::int64_t nanRow, std::int64_t nanCol)
{
    std::vector<float> values(64, 0.1F);
    values[static_cast<std::size_t>(nanRow * 8 + nanCol)] = floatNan;
    MatrixPicture picture = test::makePicture(2, 2);
    picture.tiles.rows = picture.tiles.cols = 8;
    picture.tiles.tileRows = picture.tiles.tileCols = 4;
    picture.tiles.classes[static_cast<std::size_t>(nanRow / 4 * 2 + nanCol / 4)] |= classNan;
    picture.floats.clear();
    return picture;
}

TEST_F(HeatMapTest, APatchShowsElementsInPlaceOfTheirTiles)
{
    MatrixPicture picture = coarse(1, 5);
    show(picture);
    EXPECT_TRUE(isClass(pixelOf(shot(), 3, 7), ValueClass::nan)) << "of the tile nothing more is known";
    std::vector<float> values(9, 0.1F);
    values[3] = floatNan;
    picture.patch = std::make_shared<const MatrixPatch>(MatrixPatch {{0, 5, 3, 3}, values, {}});
    show(picture);
    const QImage image = shot();
    EXPECT_TRUE(isClass(pixelOf(image, 1, 5), ValueClass::nan));
    EXPECT_FALSE(isClass(pixelOf(image, 1, 6), ValueClass::nan));
    EXPECT_FALSE(isClass(pixelOf(image, 2, 7), ValueClass::nan));
    EXPECT_TRUE(isClass(pixelOf(image, 3, 7), ValueClass::nan)) << "beyond the patch the tile stays";
    EXPECT_FALSE(isClass(pixelOf(image, 7, 0), ValueClass::nan));
    EXPECT_TRUE(std::isnan(picture.elementAt(1, 5).value_or(0)));
    EXPECT_EQ(picture.elementAt(2, 6), 0.1F);
    EXPECT_FALSE(picture.elementAt(3, 5));
    EXPECT_FALSE(picture.elementAt(0, 4));
}

TEST_F(HeatMapTest, APatchHidesNothingNonFiniteBesideIt)
{
    // Three elements share a pixel; the patch has only some of those around the NaN.
    MatrixPicture picture = coarse(1, 5);
    picture.patch = std::make_shared<const MatrixPatch>(MatrixPatch {{0, 6, 8, 2}, std::vector<float>(16, 0.1F), {}});
    const QImage image = renderHeat(picture, {{0, 0}, {1.0 / 3, 1.0 / 3}}, {-3, 0}, {3, 3}, theme());
    EXPECT_TRUE(isClass(image.pixel(1, 0), ValueClass::nan));
}

TEST_F(HeatMapTest, KnowsWhichElementsAreInSight)
{
    EXPECT_FALSE(map.visibleRegion());
    show(test::makePicture(100, 100));
    EXPECT_EQ(map.visibleRegion(), (replay::Region {0, 0, 100, 100}));
    QSignalSpy changes(&map, &HeatMap::visibleChanged);
    view.setView({0.25, 0.5}, 4);
    EXPECT_EQ(changes.size(), 1);
    // A quarter of each side is in sight, its middle at a quarter and a half.
    const auto inSight = *map.visibleRegion();
    EXPECT_LE(inSight.row, 38);
    EXPECT_GE(inSight.row, 37);
    EXPECT_LE(inSight.col, 13);
    EXPECT_GE(inSight.col, 12);
    EXPECT_NEAR(static_cast<double>(inSight.rows), 26, 1);
    EXPECT_NEAR(static_cast<double>(inSight.cols), 26, 1);
}

TEST(HeatCover, APixelThatHasToDoForSeveralElementsIsToldOf)
{
    HeatView view;
    HeatMap map(&view);
    map.resize(400, 400);
    map.setPicture(std::make_shared<const MatrixPicture>(test::makePicture(100, 100)));
    EXPECT_EQ(map.cover(), PixelCover()) << "each has pixels of its own";
    map.resize(50, 50);
    EXPECT_EQ(map.cover(), (PixelCover {2, 2}));
    ScaleBar bar;
    EXPECT_FALSE(bar.toolTip().contains(QStringLiteral("pixel")));
    bar.setCover(map.cover());
    EXPECT_TRUE(bar.toolTip().contains(QStringLiteral("largest magnitude of about 2 × 2 elements")))
        << bar.toolTip().toStdString();
    view.zoomTo({0.5, 0.5}, 4, Gesture::fresh);
    EXPECT_EQ(map.cover(), PixelCover());
    MatrixPicture tiles = test::makePicture(10, 10);
    tiles.floats.clear();
    tiles.tiles.tileRows = 8;
    tiles.tiles.tileCols = 4;
    EXPECT_EQ(pixelCover(tiles, {{0, 0}, {1, 1}}), (PixelCover {8, 4})) << "a tile has the colour of its largest";
}

TEST(HeatCover, TheMenuDrawsABoxWithoutShift)
{
    HeatView view;
    HeatMap map(&view);
    map.resize(400, 400);
    map.setPicture(std::make_shared<const MatrixPicture>(test::makePicture(100, 100)));
    map.show();
    view.zoomTo({0.5, 0.5}, 2, Gesture::fresh);
    const auto dragged = [&] {
        const double zoom = view.zoom();
        QTest::mousePress(&map, Qt::LeftButton, {}, {100, 100});
        QTest::mouseMove(&map, {150, 150});
        QMouseEvent move(QEvent::MouseMove, QPointF(160, 160), map.mapToGlobal(QPointF(160, 160)), Qt::NoButton,
            Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&map, &move);
        QTest::mouseRelease(&map, Qt::LeftButton, {}, {160, 160});
        return view.zoom() > zoom;
    };
    EXPECT_FALSE(dragged()) << "it moves";
    map.drawBoxNext();
    EXPECT_EQ(map.cursor().shape(), Qt::CrossCursor);
    EXPECT_TRUE(dragged());
    EXPECT_FALSE(dragged()) << "one drag alone";
}

} // namespace nanscope
