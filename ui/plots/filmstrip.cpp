// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/filmstrip.h"

#include <algorithm>

#include "ui/plots/heatview.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr int gap = grid(2);
constexpr int labelWidth = grid(31);
constexpr int headerHeight = grid(5);
constexpr int smallestFrame = grid(3);

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
}

void FilmStrip::setFilm(std::shared_ptr<const Film> film)
{
    m_film = std::move(film);
    m_grid = m_film ? gridOf(*m_film) : FilmGrid {};
    m_ownScales = m_film ? scalesOf(*m_film) : FilmScales {};
    m_shared.reset();
    const int frames = m_film ? static_cast<int>(m_film->frames.size()) : 0;
    const int first = m_film && m_film->firstNonFinite >= 0 ? m_film->firstNonFinite : plantedFrame();
    m_current = first >= 0 ? first : frames - 1;
    placeFrames();
    updateGeometry();
    updateAccessibleText();
    update();
    Q_EMIT currentChanged(m_current);
    Q_EMIT filmChanged();
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
    const int rows = std::max({static_cast<int>(m_grid.rows.size()), m_grid.prologue, 2});
    return {labelWidth + m_grid.columns * (smallestFrame + gap), headerHeight + rows * (smallestFrame + gap)};
}

QRect FilmStrip::slotRect(const FilmGrid::Place& place) const
{
    const int columns = std::max(m_grid.columns, 1);
    const int wide = (width() - labelWidth) / columns;
    // The steps are labelled on their left, so the prologue stands before the labels.
    const int left = place.column == 0 ? 0 : labelWidth + place.column * wide;
    const int rows = std::max(1, place.column == 0 ? m_grid.prologue : static_cast<int>(m_grid.rows.size()));
    const int tall = (height() - headerHeight) / rows;
    return {left, headerHeight + place.row * tall, wide - gap, tall - gap};
}

QRect FilmStrip::headerRect(int column) const
{
    const QRect slot = slotRect({column, 0});
    return {slot.left(), 0, slot.width(), headerHeight - grid(1)};
}

QRect FilmStrip::rowLabelRect(int row) const
{
    const QRect slot = slotRect({1, row});
    const int left = slotRect({0, 0}).right() + gap;
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
            slot.setTop(slot.top() + fontMetrics().height());
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

void FilmStrip::changeEvent(QEvent* event)
{
    if (isThemeChange(event)) {
        placeFrames();
        update();
    }
    QWidget::changeEvent(event);
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

} // namespace nanscope
