// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatlegend.h"

#include <QPainter>

#include "ui/plots/heatrender.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr int swatch = 12;
constexpr ValueClass shownClasses[] = {ValueClass::nan, ValueClass::posInf, ValueClass::negInf, ValueClass::zero};

QImage swatchImage(ValueClass value)
{
    QImage image(swatch, swatch, QImage::Format_RGB32);
    for (int y = 0; y < swatch; ++y) {
        for (int x = 0; x < swatch; ++x) {
            image.setPixelColor(x, y, hatched(value, x, y) ? hatchColor(value, theme()) : classColor(value, theme()));
        }
    }
    return image;
}

QString damageLabel()
{
    return ClassLegend::tr("damage");
}

} // namespace

ScaleBar::ScaleBar(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setToolTip(tr("Colour is log10 of the magnitude, from the 1st percentile to the largest finite value"));
    setScale({});
}

void ScaleBar::setScale(const LogScale& scale)
{
    m_scale = scale;
    setAccessibleName(tr("Scale: log10|x| from %1 to %2").arg(scale.low, 0, 'f', 1).arg(scale.high, 0, 'f', 1));
    update();
}

QSize ScaleBar::sizeHint() const
{
    return {180, fontMetrics().height() + grid(1)};
}

void ScaleBar::paintEvent(QPaintEvent* event)
{
    Q_UNUSED(event)
    QPainter painter(this);
    painter.setPen(theme().muted);
    const QString low =
        QStringLiteral("log₁₀|x| %1").arg(m_scale.low, 0, 'f', 1).replace(QLatin1Char('-'), QChar(0x2212));
    const QString high = QString::number(m_scale.high, 'f', 1).replace(QLatin1Char('-'), QChar(0x2212));
    const int left = fontMetrics().horizontalAdvance(low) + grid(1);
    const int right = fontMetrics().horizontalAdvance(high) + grid(1);
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, low);
    const int barWidth = std::min(width() - left - right, 160);
    if (barWidth < grid(4)) {
        return;
    }
    const QRect bar(left, (height() - 8) / 2, barWidth, 8);
    for (int x = 0; x < bar.width(); ++x) {
        painter.setPen(QColor(ColorMap::standard().at(double(x) / bar.width())));
        painter.drawLine(bar.left() + x, bar.top(), bar.left() + x, bar.bottom());
    }
    painter.setPen(theme().muted);
    painter.drawText(QRect(bar.right() + grid(1) + 1, 0, right, height()), Qt::AlignLeft | Qt::AlignVCenter, high);
}

ClassLegend::ClassLegend(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAccessibleName(tr("Legend: NaN, +Inf, −Inf and zero have their own colours and hatching; damage is framed"));
}

QSize ClassLegend::sizeHint() const
{
    int width = 0;
    for (const ValueClass value : shownClasses) {
        width += swatch + grid(1) + fontMetrics().horizontalAdvance(classWord(value)) + grid(3);
    }
    return {width + swatch + grid(1) + fontMetrics().horizontalAdvance(damageLabel()) + 1,
        fontMetrics().height() + grid(1)};
}

void ClassLegend::paintEvent(QPaintEvent* event)
{
    Q_UNUSED(event)
    QPainter painter(this);
    int x = 0;
    const int top = (height() - swatch) / 2;
    const auto label = [&](const QString& text) {
        painter.setPen(theme().muted);
        const int advance = fontMetrics().horizontalAdvance(text);
        painter.drawText(QRect(x + swatch + grid(1), 0, advance + 1, height()), Qt::AlignVCenter, text);
        x += swatch + grid(1) + advance + grid(3);
    };
    for (const ValueClass value : shownClasses) {
        painter.drawImage(x, top, swatchImage(value));
        if (value == ValueClass::zero && theme().dark) {
            painter.setPen(theme().line);
            painter.drawRect(x, top, swatch - 1, swatch - 1);
        }
        label(classWord(value));
    }
    painter.setPen(QPen(theme().birth, 2));
    painter.drawRect(x + 1, top + 1, swatch - 2, swatch - 2);
    label(damageLabel());
}

} // namespace nanscope
