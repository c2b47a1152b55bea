// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Pictures without text against stored ones. Fonts differ between machines and are left out; what a picture means is
// tested elsewhere, this finds what nobody thought of. NANSCOPE_UPDATE_SNAPSHOTS=1 accepts what is drawn now.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <QDir>
#include <QFileInfo>
#include <QImage>
#include <QPainter>

#include <gtest/gtest.h>

#include "tests/ui/samples.h"
#include "ui/heatmap/heatrender.h"
#include "ui/shared/marks.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int colourTolerance = 12;
constexpr double permittedShare = 0.005;

bool similar(QRgb a, QRgb b)
{
    const int far = std::max({std::abs(qRed(a) - qRed(b)), std::abs(qGreen(a) - qGreen(b)),
        std::abs(qBlue(a) - qBlue(b)), std::abs(qAlpha(a) - qAlpha(b))});
    return far <= colourTolerance;
}

/// Share of pixels that differ by more than the tolerance; all of them where the sizes differ.
double differingShare(const QImage& a, const QImage& b)
{
    if (a.size() != b.size() || a.isNull()) {
        return 1;
    }
    int differing = 0;
    for (int y = 0; y < a.height(); ++y) {
        for (int x = 0; x < a.width(); ++x) {
            differing += similar(a.pixel(x, y), b.pixel(x, y)) ? 0 : 1;
        }
    }
    return static_cast<double>(differing) / (a.width() * a.height());
}

void expectSnapshot(const QImage& drawn, const QString& name)
{
    const QString reference = QStringLiteral(NANSCOPE_SNAPSHOTS "/%1.png").arg(name);
    if (qEnvironmentVariableIntValue("NANSCOPE_UPDATE_SNAPSHOTS") == 1) {
        ASSERT_TRUE(drawn.save(reference));
        return;
    }
    const double share = differingShare(drawn, QImage(reference));
    if (share > permittedShare) {
        const QString actual = QDir::temp().filePath(QStringLiteral("nanscope-%1-actual.png").arg(name));
        drawn.save(actual);
        ADD_FAILURE() << 100 * share << " % of the pixels differ from " << reference.toStdString() << "; see "
                      << actual.toStdString();
    }
}

QImage canvas(int width, int height)
{
    QImage image(width, height, QImage::Format_ARGB32_Premultiplied);
    image.fill(theme().surface);
    return image;
}

QImage heatOfEveryClass(double elementSize)
{
    MatrixPicture picture = test::makePicture(12, 16);
    for (std::int64_t row = 0; row < 12; ++row) {
        for (std::int64_t col = 0; col < 16; ++col) {
            test::setElement(
                picture, row, col, std::pow(10.0F, static_cast<float>(col) / 4 - 3) + 1e-4F * static_cast<float>(row));
        }
    }
    test::setElement(picture, 2, 3, std::numeric_limits<float>::quiet_NaN());
    test::setElement(picture, 4, 5, std::numeric_limits<float>::infinity());
    test::setElement(picture, 6, 7, -std::numeric_limits<float>::infinity());
    test::setElement(picture, 8, 9, 0);
    const QSize size(static_cast<int>(16 * elementSize), static_cast<int>(12 * elementSize));
    return renderHeat(picture, {{0, 0}, {elementSize, elementSize}}, scaleOf(picture.tiles), size, theme());
}

QImage marks()
{
    QImage image = canvas(160, 64);
    QPainter painter(&image);
    int x = 8;
    for (const Role role : {Role::birth, Role::upstream, Role::downstream, Role::padding}) {
        drawRoleMark(painter, QRectF(x, 8, 16, 16), static_cast<int>(role));
        x += 28;
    }
    x = 8;
    for (const Outcome outcome : {Outcome::finite, Outcome::degenerate, Outcome::zero, Outcome::inf, Outcome::nan}) {
        drawOutcomeMark(painter, QRectF(x, 40, 16, 16), outcome);
        x += 28;
    }
    return image;
}

class Snapshot : public testing::TestWithParam<bool>
{
protected:
    Snapshot() { applyTheme(GetParam() ? ThemeChoice::dark : ThemeChoice::light); }
    ~Snapshot() override { applyTheme(ThemeChoice::light); }
    QString named(const char* what) const
    {
        return QStringLiteral("%1-%2").arg(
            QLatin1String(what), GetParam() ? QStringLiteral("dark") : QStringLiteral("light"));
    }
};

} // namespace

TEST_P(Snapshot, HeatMapOfEveryClassOfValue)
{
    expectSnapshot(heatOfEveryClass(10), named("heat-zoomed"));
    expectSnapshot(heatOfEveryClass(2.5), named("heat-small"));
}

TEST_P(Snapshot, MarksOfRolesAndOutcomes)
{
    expectSnapshot(marks(), named("marks"));
}

INSTANTIATE_TEST_SUITE_P(Themes, Snapshot, testing::Bool());

TEST(SnapshotComparison, SeesALostMarkAndForgivesAShade)
{
    QImage one = canvas(100, 100);
    QImage other = one;
    EXPECT_EQ(differingShare(one, other), 0);
    other.fill(theme().surface.darker(102));
    EXPECT_EQ(differingShare(one, other), 0) << "a shade";
    QPainter(&other).fillRect(10, 10, 10, 10, theme().birth);
    EXPECT_DOUBLE_EQ(differingShare(one, other), 0.01);
    EXPECT_EQ(differingShare(one, canvas(99, 100)), 1);
}

} // namespace nanscope
