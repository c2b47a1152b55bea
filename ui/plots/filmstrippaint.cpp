// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How a film strip looks.
#include <algorithm>

#include <QPainter>

#include "ui/plots/filmstrip.h"
#include "ui/plots/heatrender.h"
#include "ui/plots/heatview.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

QString badgeText(const Scan& scan)
{
    QStringList parts;
    if (scan.nan > 0) {
        parts << FilmStrip::tr("%1 NaN").arg(countLabel(scan.nan));
    }
    if (const auto infinities = scan.posInf + scan.negInf; infinities > 0) {
        parts << FilmStrip::tr("%1 Inf").arg(countLabel(infinities));
    }
    return parts.join(QStringLiteral(" · "));
}

void drawBadge(QPainter& painter, const QRect& frame, const QString& text)
{
    if (text.isEmpty()) {
        return;
    }
    const QFontMetrics metrics(painter.font());
    QRect box(0, 0, metrics.horizontalAdvance(text) + grid(2), metrics.height());
    // It must not hide what it counts; the tool tip has the numbers too.
    if (box.width() > frame.width() || 3 * box.height() > frame.height()) {
        return;
    }
    box.moveBottomRight(frame.bottomRight() - QPoint(1, 1));
    painter.fillRect(box, QColor(0, 0, 0, 200));
    painter.setPen(Qt::white);
    painter.drawText(box, Qt::AlignCenter, text);
}

QFont smallFont(const QFont& font)
{
    QFont small(font);
    small.setPointSizeF(font.pointSizeF() * 0.88);
    return small;
}

} // namespace

QImage FilmStrip::rendered(int frame, double ratio) const
{
    const auto at = static_cast<std::size_t>(frame);
    const MatrixPicture& picture = *m_film->frames[at].picture;
    const QSize size = m_rects[at].size() * ratio;
    const QSizeF element(size.width() / static_cast<double>(picture.tiles.cols),
        size.height() / static_cast<double>(picture.tiles.rows));
    QImage image = renderHeat(picture, {{0, 0}, element}, scaleOfFrame(frame), size, theme());
    image.setDevicePixelRatio(ratio);
    return image;
}

const QImage& FilmStrip::thumbnail(int frame)
{
    QImage& image = m_thumbnails[static_cast<std::size_t>(frame)];
    if (image.isNull()) {
        image = rendered(frame, devicePixelRatioF());
    }
    return image;
}

void FilmStrip::drawCursor(QPainter& painter, int frame) const
{
    if (!m_view->hasCursor() || m_current < 0) {
        return;
    }
    const TileMap& own = m_film->frames[static_cast<std::size_t>(frame)].picture->tiles;
    const TileMap& shown = m_film->frames[static_cast<std::size_t>(m_current)].picture->tiles;
    if (own.rows != shown.rows || own.cols != shown.cols) {
        return;
    }
    const QRect rect = frameRect(frame);
    const QPointF at(
        rect.left() + m_view->cursor().x() * rect.width(), rect.top() + m_view->cursor().y() * rect.height());
    painter.setPen(QPen(Qt::black, 3));
    painter.drawEllipse(at, 3.5, 3.5);
    painter.setPen(QPen(Qt::white, 1));
    painter.drawEllipse(at, 3.5, 3.5);
}

void FilmStrip::drawFrame(QPainter& painter, int frame, const QImage& image) const
{
    const Theme& colors = theme();
    const QRect rect = frameRect(frame);
    painter.drawImage(rect.topLeft(), image);
    const Scan& scan = m_film->frames[static_cast<std::size_t>(frame)].picture->scan;
    painter.setFont(smallFont(font()));
    drawBadge(painter, rect, badgeText(scan));
    painter.setFont(font());
    painter.setBrush(Qt::NoBrush);
    if (frame == m_film->birth) {
        painter.setPen(QPen(colors.birth, 3));
        painter.drawRect(rect.adjusted(-3, -3, 2, 2));
    } else if (!scan.finite()) {
        painter.setPen(QPen(colors.birth, 1, Qt::DashLine));
        painter.drawRect(rect.adjusted(-2, -2, 1, 1));
    }
}

/// An arrow from above, which reads in the smallest frame and beside the frame of a birth.
void FilmStrip::drawPlanted(QPainter& painter) const
{
    const int planted = plantedFrame();
    if (planted < 0) {
        return;
    }
    const QRect rect = frameRect(planted);
    const QPointF tip(rect.center().x() + 0.5, rect.top() - 2);
    const qreal size = grid(1) + 2;
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(theme().surface, 1));
    painter.setBrush(theme().accent);
    painter.drawPolygon(QPolygonF({tip, tip + QPointF(-size, -size * 1.4), tip + QPointF(size, -size * 1.4)}));
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void FilmStrip::drawCurrent(QPainter& painter) const
{
    if (m_current >= 0) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(hasFocus() ? theme().accent : theme().muted, 2));
        painter.drawRect(frameRect(m_current).adjusted(-6, -6, 5, 5));
    }
}

Picture FilmStrip::picture() const
{
    if (!m_film || m_film->frames.empty()) {
        return {};
    }
    return {size(), [this](const PictureCanvas& canvas) {
                canvas.painter().setFont(font());
                drawLabels(canvas.painter());
                for (int frame = 0; frame < static_cast<int>(m_film->frames.size()); ++frame) {
                    drawFrame(canvas.painter(), frame, rendered(frame, 2));
                }
                drawPlanted(canvas.painter());
            }};
}

void FilmStrip::drawLabels(QPainter& painter) const
{
    painter.setPen(theme().muted);
    painter.setFont(smallFont(font()));
    const QFontMetrics metrics(painter.font());
    for (int column = 0; column < m_grid.columns; ++column) {
        const QString text = column == 0 ? tr("before step 1") : tr("step %1").arg(column);
        QRect header = headerRect(column);
        header.setWidth(std::max(header.width(), metrics.horizontalAdvance(text)));
        painter.drawText(header, Qt::AlignCenter, text);
    }
    for (int row = 0; row < static_cast<int>(m_grid.rows.size()); ++row) {
        const QString formula = opFormula(m_grid.rows[static_cast<std::size_t>(row)]);
        painter.drawText(rowLabelRect(row), Qt::AlignVCenter | Qt::AlignRight | Qt::TextWordWrap, formula);
    }
    for (std::size_t i = 0; i < m_grid.places.size(); ++i) {
        if (m_grid.places[i].column == 0) {
            const QRect slot = slotRect(m_grid.places[i]);
            const QString text = frameLabel(m_film->frames[i]);
            const int wide = std::max(slot.width(), metrics.horizontalAdvance(text));
            painter.drawText(QRect(slot.left(), slot.top(), wide, metrics.height()), Qt::AlignCenter, text);
        }
    }
    if (isShared()) {
        const QRect note = scaleNoteRect();
        painter.drawText(note, Qt::AlignVCenter | Qt::AlignRight,
            metrics.elidedText(tr("one scale for both"), Qt::ElideRight, note.width()));
    }
    painter.setFont(font());
}

void FilmStrip::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    if (!m_film || m_film->frames.empty()) {
        painter.setPen(theme().muted);
        painter.drawText(rect().adjusted(grid(6), 0, -grid(6), 0), Qt::AlignCenter | Qt::TextWordWrap, m_message);
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    drawLabels(painter);
    for (int frame = 0; frame < static_cast<int>(m_film->frames.size()); ++frame) {
        drawFrame(painter, frame, thumbnail(frame));
        drawCursor(painter, frame);
    }
    drawCurrent(painter);
    drawPlanted(painter);
}

} // namespace nanscope
