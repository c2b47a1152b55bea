// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/heatmap/heatlegend.h"

#include <QPainter>

#include "ui/shared/text.h"
#include "ui/shared/theme.h"

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

const QString legendGap = QStringLiteral("&nbsp;&nbsp; ");

QString legendEntry(const QColor& color, const QString& text)
{
    return QStringLiteral("<span style='color:%1'>■</span>&nbsp;%2").arg(color.name(), text);
}

} // namespace

QString classLegendText()
{
    QStringList parts;
    for (const ValueClass value : shownClasses) {
        parts << legendEntry(classColor(value, theme()), classWord(value));
    }
    return parts.join(legendGap);
}

QString heatLegendText(const LogScale& scale)
{
    const auto at = [&](double part) {
        const QString number = QString::number(scale.low + part * (scale.high - scale.low), 'f', 1);
        return legendEntry(
            QColor(ColorMap::standard().at(part)), QString(number).replace(QLatin1Char('-'), QChar(0x2212)));
    };
    const QStringList parts {ScaleBar::tr("log₁₀|x|:"), at(0), at(0.5), at(1), classLegendText()};
    return parts.join(legendGap);
}

QString coverText(const PixelCover& cover)
{
    return ScaleBar::tr("Each pixel shows the largest magnitude of about %1 × %2 elements, and NaN or infinity before "
                        "that. A smaller picture is lighter for it; zoom in to see single elements.")
        .arg(cover.rows)
        .arg(cover.cols);
}

ScaleBar::ScaleBar(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setScale({});
}

void ScaleBar::setScale(const LogScale& scale)
{
    m_scale = scale;
    updateTexts();
}

void ScaleBar::setNote(const QString& note)
{
    m_note = note;
    updateTexts();
}

void ScaleBar::setCover(const PixelCover& cover)
{
    if (!(m_cover == cover)) {
        m_cover = cover;
        updateTexts();
    }
}

/// What stands after the upper end of the scale.
QString ScaleBar::remarks() const
{
    QStringList parts;
    if (!m_note.isEmpty()) {
        parts << m_note;
    }
    if (m_cover.several()) {
        parts << tr("max of %1 × %2").arg(m_cover.rows).arg(m_cover.cols);
    }
    return parts.join(QStringLiteral(" · "));
}

void ScaleBar::updateTexts()
{
    const QString range = tr("Scale: log10|x| from %1 to %2").arg(m_scale.low, 0, 'f', 1).arg(m_scale.high, 0, 'f', 1);
    const QString remarks = this->remarks();
    setAccessibleName(remarks.isEmpty() ? range : QStringLiteral("%1, %2").arg(range, remarks));
    const QString scale = tr("Colour is log10 of the magnitude, from the 1st percentile to the largest finite value");
    setToolTip(m_cover.several() ? QStringLiteral("%1\n%2").arg(scale, coverText(m_cover)) : scale);
    update();
}

QSize ScaleBar::sizeHint() const
{
    return {180, fontMetrics().height() + grid(1)};
}

void ScaleBar::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.setPen(theme().muted);
    const QString low =
        QStringLiteral("log₁₀|x| %1").arg(m_scale.low, 0, 'f', 1).replace(QLatin1Char('-'), QChar(0x2212));
    const QString high = QString::number(m_scale.high, 'f', 1).replace(QLatin1Char('-'), QChar(0x2212));
    const int left = fontMetrics().horizontalAdvance(low) + grid(1);
    const int right = fontMetrics().horizontalAdvance(high) + grid(1);
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, low);
    const QString remarks = this->remarks();
    const int words = remarks.isEmpty() ? 0 : grid(2) + fontMetrics().horizontalAdvance(remarks) + 1;
    constexpr int widest = 160;
    const int barWidth = std::clamp(width() - left - right - words, std::min(grid(10), width() - left - right), widest);
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
    const int after = bar.right() + 1 + right + grid(2);
    painter.drawText(QRect(after, 0, width() - after, height()), Qt::AlignLeft | Qt::AlignVCenter,
        fontMetrics().elidedText(remarks, Qt::ElideRight, width() - after));
}

ClassLegend::ClassLegend(QWidget* parent)
    : QWidget(parent)
{
    // A layout never gives a fixed height more than the hint, which is that of one line.
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Legend: NaN, +Inf, −Inf and zero have their own colours and hatching; damage is framed"));
}

std::vector<ClassLegend::Entry> ClassLegend::entries()
{
    std::vector<Entry> all;
    for (const ValueClass value : shownClasses) {
        all.push_back({classWord(value), value});
    }
    all.push_back({tr("damage"), std::nullopt});
    return all;
}

int ClassLegend::widthOf(const Entry& entry) const
{
    return swatch + grid(1) + fontMetrics().horizontalAdvance(entry.text) + 1;
}

int ClassLegend::lineHeight() const
{
    return fontMetrics().height() + grid(1);
}

std::vector<QPoint> ClassLegend::places(int width) const
{
    std::vector<QPoint> corners;
    QPoint corner(0, 0);
    for (const Entry& entry : entries()) {
        const int wide = widthOf(entry);
        if (corner.x() > 0 && corner.x() + wide > width) {
            corner = {0, corner.y() + lineHeight()};
        }
        corners.push_back(corner);
        corner.rx() += wide + grid(3);
    }
    return corners;
}

QSize ClassLegend::sizeHint() const
{
    int width = -grid(3);
    for (const Entry& entry : entries()) {
        width += widthOf(entry) + grid(3);
    }
    return {width, lineHeight()};
}

QSize ClassLegend::minimumSizeHint() const
{
    return {grid(24), lineHeight()};
}

int ClassLegend::heightForWidth(int width) const
{
    return places(width).back().y() + lineHeight();
}

// Not every layout asks for the height of a width.
void ClassLegend::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    setFixedHeight(heightForWidth(width()));
}

void ClassLegend::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    const std::vector<Entry> all = entries();
    const std::vector<QPoint> corners = places(width());
    const int drop = (lineHeight() - swatch) / 2;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const QRect box(corners[i] + QPoint(0, drop), QSize(swatch, swatch));
        if (all[i].value) {
            painter.drawImage(box.topLeft(), swatchImage(*all[i].value));
        } else {
            painter.setPen(QPen(theme().birth, 2));
            painter.drawRect(box.adjusted(1, 1, -1, -1));
        }
        if (all[i].value == ValueClass::zero && theme().dark) {
            painter.setPen(theme().line);
            painter.drawRect(box.adjusted(0, 0, -1, -1));
        }
        painter.setPen(theme().muted);
        painter.drawText(QRect(box.right() + 1 + grid(1), corners[i].y(), widthOf(all[i]), lineHeight()),
            Qt::AlignVCenter, all[i].text);
    }
}

} // namespace nanscope
