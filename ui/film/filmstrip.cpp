// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/film/filmstrip.h"

#include <algorithm>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/heatmap/heatlegend.h"
#include "ui/heatmap/heatrender.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int tileGap = grid(2);
constexpr int labelWidth = grid(31);
constexpr int headerHeight = grid(5);
constexpr int smallestFrame = grid(3);
constexpr double captionSize = 0.88; ///< of the font
constexpr int outset = 7; ///< of the selection's outline around the current frame

QRect fitted(const QRect& slot, const TileMap& tiles)
{
    const QSize matrix(static_cast<int>(std::min<std::int64_t>(tiles.cols, 1 << 20)),
        static_cast<int>(std::min<std::int64_t>(tiles.rows, 1 << 20)));
    QSize size = matrix.scaled(slot.size(), Qt::KeepAspectRatio);
    size = size.expandedTo({std::min(slot.width(), grid(3)), std::min(slot.height(), grid(3))});
    QRect rect(QPoint(), size);
    rect.moveCenter(slot.center());
    return rect;
}

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

} // namespace

QString opFormula(OpName op)
{
    switch (op) {
    case OpName::gram:
        return QStringLiteral("R = X Xᵀ");
    case OpName::polynomial:
        return QStringLiteral("B = bR + cR²");
    case OpName::update:
        return QStringLiteral("X ← aX + BX");
    case OpName::z:
        return QStringLiteral("Z = bR + cR²");
    case OpName::q:
        return QStringLiteral("Q ← Q(Z + aI)");
    case OpName::r:
        return QStringLiteral("R ← (Z+aI) R (Z+aI)");
    case OpName::restart:
        return QStringLiteral("X ← Q X");
    default:
        return qstr(name(op));
    }
}

QString frameLabel(const FilmFrame& frame)
{
    if (frame.captured) {
        return FilmStrip::tr("captured output");
    }
    const QString op = qstr(name(frame.name));
    return frame.iteration == 0 ? op : FilmStrip::tr("step %1 %2").arg(frame.iteration).arg(op);
}

FilmStrip::FilmStrip(HeatView* view, QWidget* parent)
    : QWidget(parent)
    , m_view(view)
    , m_message(tr("Sweep this capture, then select a cell to see every step of its replay"))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Film strip"));
    connect(m_view, &HeatView::cursorChanged, this, qOverload<>(&QWidget::update));
    updateAccessibleText();
    onThemeChange(*this, [this] {
        placeFrames();
        update();
    });
}

void FilmStrip::setFilm(std::shared_ptr<const Film> film)
{
    m_film = std::move(film);
    m_grid = m_film ? gridOf(*m_film) : FilmGrid {};
    m_ownScales = m_film ? scalesOf(*m_film) : FilmScales {};
    m_shared.reset();
    m_current = m_film ? firstToShow() : -1;
    placeFrames();
    updateGeometry();
    updateAccessibleText();
    update();
    Q_EMIT currentChanged(m_current);
    Q_EMIT filmChanged();
}

/// The frame that answers most: where values first went wrong in the replay, else what was captured.
int FilmStrip::firstToShow() const
{
    const int first = m_film->firstNonFinite >= 0 ? m_film->firstNonFinite : plantedFrame();
    return first >= 0 ? first : static_cast<int>(m_film->frames.size()) - 1;
}

void FilmStrip::setCapturedNote(const QString& note)
{
    m_capturedNote = note;
    update();
}

void FilmStrip::setShared(const std::optional<FilmScales>& scales)
{
    if (m_shared != scales) {
        m_shared = scales;
        placeFrames();
        update();
    }
}

LogScale FilmStrip::scaleOfFrame(int frame) const
{
    const FilmScales& scales = m_shared ? *m_shared : m_ownScales;
    const auto found = scales.find(groupOf(m_film->frames[static_cast<std::size_t>(frame)]));
    return found == scales.end() ? LogScale {} : found->second;
}

std::optional<QPointF> FilmStrip::cursor() const
{
    return m_view->hasCursor() ? std::optional(m_view->cursor()) : std::nullopt;
}

int FilmStrip::plantedFrame() const
{
    const bool planted = m_film && m_film->request.plant;
    return planted ? frameOf(*m_film, m_film->request.plant->iteration, m_film->request.plant->op) : -1;
}

void FilmStrip::setMessage(const QString& message)
{
    m_message = message;
    updateAccessibleText();
    update();
}

void FilmStrip::setCurrent(int frame)
{
    if (!m_film || frame == m_current || frame < -1 || frame >= static_cast<int>(m_film->frames.size())) {
        return;
    }
    m_current = frame;
    updateAccessibleText();
    update();
    Q_EMIT currentChanged(frame);
}

QSize FilmStrip::sizeHint() const
{
    return {grid(160), grid(90)};
}

QSize FilmStrip::minimumSizeHint() const
{
    const int rows = std::max({m_grid.rowCount(), m_grid.prologue, 2});
    return {labelWidth + m_grid.columns * (smallestFrame + tileGap), headerHeight + rows * (smallestFrame + tileGap)};
}

QRect FilmStrip::slotRect(const FilmGrid::Place& place) const
{
    const int columns = std::max(m_grid.columns, 1);
    const int wide = (width() - labelWidth) / columns;
    // The steps are labelled on their left, so the prologue stands before the labels.
    const int left = place.column == 0 ? tileGap : labelWidth + place.column * wide;
    const int rows = std::max(1, place.column == 0 ? m_grid.prologue : m_grid.rowCount());
    const int tall = (height() - headerHeight) / rows;
    return {left, headerHeight + place.row * tall, wide - tileGap, tall - tileGap};
}

QRect FilmStrip::headerRect(int column) const
{
    const QRect slot = slotRect({column, 0});
    return {slot.left(), 0, slot.width(), headerHeight - grid(1)};
}

QRect FilmStrip::rowLabelRect(int row) const
{
    const QRect slot = slotRect({1, row});
    const int left = slotRect({0, 0}).right() + tileGap;
    return {left, slot.top(), slot.left() - left - grid(1), slot.height()};
}

QRect FilmStrip::scaleNoteRect() const
{
    const QRect below = rowLabelRect(0);
    return {below.left(), 0, below.width(), headerHeight - grid(1)};
}

void FilmStrip::placeFrames()
{
    m_rects.clear();
    m_thumbnails.clear();
    if (!m_film) {
        return;
    }
    m_thumbnails.resize(m_film->frames.size());
    for (std::size_t i = 0; i < m_film->frames.size(); ++i) {
        QRect slot = slotRect(m_grid.places[i]);
        if (m_grid.places[i].column == 0) {
            slot.setTop(slot.top() + QFontMetrics(scaledFont(font(), captionSize)).height() + outset);
        }
        m_rects.push_back(fitted(slot, m_film->frames[i].picture->tiles));
    }
}

QRect FilmStrip::frameRect(int frame) const
{
    return frame >= 0 && frame < static_cast<int>(m_rects.size()) ? m_rects[static_cast<std::size_t>(frame)] : QRect();
}

int FilmStrip::frameAt(QPoint position) const
{
    const auto found = std::ranges::find_if(m_rects, [&](const QRect& rect) { return rect.contains(position); });
    return found == m_rects.end() ? -1 : static_cast<int>(found - m_rects.begin());
}

void FilmStrip::resizeEvent(QResizeEvent* /*event*/)
{
    placeFrames();
}

QString FilmStrip::table() const
{
    QStringList lines {QStringLiteral("iteration\top\trows\tcols\tnan\tinf\t-inf\tzero\tabsmax")};
    for (const FilmFrame& frame : m_film ? m_film->frames : std::vector<FilmFrame>()) {
        const Scan& scan = frame.picture->scan;
        lines << QStringLiteral("%1\t%2\t%3\t%4\t%5\t%6\t%7\t%8\t%9")
                     .arg(frame.iteration)
                     .arg(qstr(name(frame.name)))
                     .arg(frame.picture->tiles.rows)
                     .arg(frame.picture->tiles.cols)
                     .arg(scan.nan)
                     .arg(scan.posInf)
                     .arg(scan.negInf)
                     .arg(scan.zero)
                     .arg(exactNumber(scan.absmax));
    }
    return lines.join(QLatin1Char('\n'));
}

void FilmStrip::updateAccessibleText()
{
    if (!m_film || m_current < 0) {
        setAccessibleDescription(m_message);
        return;
    }
    const FilmFrame& frame = m_film->frames[static_cast<std::size_t>(m_current)];
    QString text = tr("%1, %2 NaN, %3 infinite")
                       .arg(frameLabel(frame), countLabel(frame.picture->scan.nan),
                           countLabel(frame.picture->scan.posInf + frame.picture->scan.negInf));
    if (m_film->birth >= 0) {
        text += tr("; first non-finite in %1").arg(frameLabel(m_film->frames[static_cast<std::size_t>(m_film->birth)]));
    }
    setAccessibleDescription(text);
}

// How a film strip looks.

HeatGeometry FilmStrip::geometryOf(int frame, double ratio) const
{
    const auto at = static_cast<std::size_t>(frame);
    const TileMap& tiles = m_film->frames[at].picture->tiles;
    const QSizeF size = QSizeF(m_rects[at].size()) * ratio;
    return {{0, 0}, {size.width() / static_cast<double>(tiles.cols), size.height() / static_cast<double>(tiles.rows)}};
}

QImage FilmStrip::rendered(int frame, double ratio) const
{
    const auto at = static_cast<std::size_t>(frame);
    const QSize size = m_rects[at].size() * ratio;
    QImage image =
        renderHeat(*m_film->frames[at].picture, geometryOf(frame, ratio), scaleOfFrame(frame), size, theme());
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
    painter.setFont(scaledFont(font(), captionSize));
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
        painter.drawRect(frameRect(m_current).adjusted(1 - outset, 1 - outset, outset - 2, outset - 2));
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
    painter.setFont(scaledFont(font(), captionSize));
    const QFontMetrics metrics(painter.font());
    for (int column = 0; column < m_grid.columns; ++column) {
        const QString text = column == 0 ? tr("before step 1") : tr("step %1").arg(column);
        QRect header = headerRect(column);
        header.setWidth(std::max(header.width(), metrics.horizontalAdvance(text)));
        painter.drawText(header, Qt::AlignCenter, text);
    }
    drawRowLabels(painter);
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

void FilmStrip::drawRowLabels(QPainter& painter) const
{
    constexpr auto beside = Qt::AlignVCenter | Qt::AlignRight | Qt::TextWordWrap;
    for (int row = 0; row < static_cast<int>(m_grid.rows.size()); ++row) {
        painter.drawText(rowLabelRect(row), beside, opFormula(m_grid.rows[static_cast<std::size_t>(row)]));
    }
    if (!m_grid.captured) {
        return;
    }
    const int row = static_cast<int>(m_grid.rows.size());
    const QRect frame = frameRect(capturedFrame(*m_film));
    QRect note = rowLabelRect(row);
    note.setLeft(note.right() + tileGap);
    note.setRight(frame.left() - 2 * tileGap);
    note.adjust(0, -tileGap, 0, tileGap); // the last row, and above it frames are in the last column alone
    const int lines = std::max(1, note.height() / QFontMetrics(painter.font()).lineSpacing());
    painter.drawText(
        note, Qt::AlignVCenter | Qt::AlignRight, elidedLines(m_capturedNote, painter.font(), note.width(), lines));
    painter.setPen(theme().text);
    painter.drawText(rowLabelRect(row), beside, tr("captured output"));
    painter.setPen(theme().muted);
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

// Mouse and keys of a film strip, and what it tells where the mouse rests.

void FilmStrip::mousePressEvent(QMouseEvent* event)
{
    if (const int frame = frameAt(event->position().toPoint()); frame >= 0) {
        setCurrent(frame);
    }
}

void FilmStrip::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const int frame = frameAt(event->position().toPoint()); frame >= 0) {
        Q_EMIT activated(frame);
    }
}

QString FilmStrip::keysTitle() const
{
    return tr("Film strip");
}

std::vector<KeyHint> FilmStrip::keyHints() const
{
    return {{{Qt::Key_Left, Qt::Key_Right}, tr("the same op one step before or after"), {}},
        {{Qt::Key_Up, Qt::Key_Down}, tr("the op before or after"), {}},
        {{Qt::Key_Home, Qt::Key_End}, tr("first and last frame"), {}},
        {{Qt::Key_B}, tr("the birth: where values first went non-finite"), {}},
        {{Qt::Key_F}, tr("plant a fault: what if this frame had gone bad?"), {}},
        {{Qt::Key_Return, Qt::Key_Enter}, tr("look at the frame in the large view"), {}},
        {{Qt::Key_Backspace, Qt::SHIFT | Qt::Key_Backspace}, tr("previous and next part of the large view"), {}},
        {{}, tr("select a frame, look at it in the large view"), tr("click, double click")}};
}

void FilmStrip::keyPressEvent(QKeyEvent* event)
{
    if (!m_film || m_current < 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    const auto [column, row] = m_grid.places[static_cast<std::size_t>(m_current)];
    const auto go = [this](int frame) { setCurrent(frame >= 0 ? frame : m_current); };
    switch (event->key()) {
    case Qt::Key_Left:
        return go(m_grid.frameNear(column - 1, row));
    case Qt::Key_Right:
        return go(m_grid.frameNear(column + 1, row));
    case Qt::Key_Up:
        return go(m_current - 1);
    case Qt::Key_Down:
        return setCurrent(m_current + 1);
    case Qt::Key_Home:
        return setCurrent(0);
    case Qt::Key_End:
        return setCurrent(static_cast<int>(m_film->frames.size()) - 1);
    case Qt::Key_B:
        return go(m_film->birth);
    case Qt::Key_F:
        Q_EMIT plantRequested();
        return;
    case Qt::Key_Backspace:
        event->modifiers().testFlag(Qt::ShiftModifier) ? m_view->goForward() : m_view->goBack();
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        Q_EMIT activated(m_current);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

bool FilmStrip::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) {
        return QWidget::event(event);
    }
    const auto* help = static_cast<QHelpEvent*>(event);
    const int frame = frameAt(help->pos());
    if (frame < 0) {
        QToolTip::hideText();
        return true;
    }
    const FilmFrame& shown = m_film->frames[static_cast<std::size_t>(frame)];
    const Scan& scan = shown.picture->scan;
    const LogScale scale = scaleOfFrame(frame);
    const QString range = tr("colours of log10|x| from %1 to %2").arg(scale.low, 0, 'f', 1).arg(scale.high, 0, 'f', 1);
    const PixelCover cover = pixelCover(*shown.picture, geometryOf(frame, devicePixelRatioF()));
    const QString covered = cover.several() ? QLatin1Char('\n') + coverText(cover) : QString();
    QToolTip::showText(help->globalPos(),
        tr("%1: %2\n%3 × %4, |x| ≤ %5, %6 NaN, %7 ±Inf, %8 zero\n%9")
                .arg(frameLabel(shown), opFormula(shown.name))
                .arg(shown.picture->tiles.rows)
                .arg(shown.picture->tiles.cols)
                .arg(roundNumber(scan.absmax), countLabel(scan.nan), countLabel(scan.posInf + scan.negInf),
                    countLabel(scan.zero), isShared() ? tr("%1, one scale for both").arg(range) : range)
            + covered,
        this, frameRect(frame));
    return true;
}

} // namespace nanscope
