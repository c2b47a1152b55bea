// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/heatmap/heatmap.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "ui/heatmap/heatlegend.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/copying.h"
#include "ui/shared/marks.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr double thinnest = 48; // pixels a vector is given across its short side

constexpr double notch = 120;
constexpr double magnifyPerNotch = 1.25;

QPointF clampToUnit(QPointF p)
{
    return {std::clamp(p.x(), 0.0, 1.0), std::clamp(p.y(), 0.0, 1.0)};
}

constexpr double magnifyStep = 1.25;

constexpr std::int64_t mostCopied = 4096;
constexpr std::int64_t mostSaved = 256LL * 256;
const QString heading = QStringLiteral("row\tcol\tvalue\n");

QString line(const MatrixPicture& picture, std::int64_t row, std::int64_t col)
{
    const auto value = picture.elementAt(row, col);
    return value ? QStringLiteral("%1\t%2\t%3\n").arg(row).arg(col).arg(exactNumber(*value)) : QString();
}

QString lines(const MatrixPicture& picture, const replay::Region& part)
{
    QString text;
    for (std::int64_t row = part.row; row < part.row + part.rows; ++row) {
        for (std::int64_t col = part.col; col < part.col + part.cols; ++col) {
            text += line(picture, row, col);
        }
    }
    return text;
}

QString classWords(std::uint8_t classes)
{
    constexpr std::pair<std::uint8_t, const char*> words[] = {{classNan, "nan"}, {classPosInf, "inf"},
        {classNegInf, "-inf"}, {classZero, "zero"}, {classSubnormal, "subnormal"}, {classNormal, "normal"}};
    QStringList held;
    for (const auto& [bit, word] : words) {
        if (classes & bit) {
            held << QLatin1String(word);
        }
    }
    return held.join(QLatin1Char(' '));
}

QString tileLines(const TileMap& tiles, const replay::Region& part)
{
    QString text = QStringLiteral("row\trows\tcol\tcols\tmin\tmax\tabsmax\tholds\n");
    for (std::int64_t y = part.row / tiles.tileRows; y * tiles.tileRows < part.row + part.rows; ++y) {
        for (std::int64_t x = part.col / tiles.tileCols; x * tiles.tileCols < part.col + part.cols; ++x) {
            const auto at = static_cast<std::size_t>(y * tiles.width + x);
            const std::int64_t row = y * tiles.tileRows;
            const std::int64_t col = x * tiles.tileCols;
            const QStringList cells {QString::number(row), QString::number(std::min(tiles.tileRows, tiles.rows - row)),
                QString::number(col), QString::number(std::min(tiles.tileCols, tiles.cols - col)),
                exactNumber(tiles.min[at]), exactNumber(tiles.max[at]), exactNumber(tiles.absmax[at]),
                classWords(tiles.classes[at])};
            text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
        }
    }
    return text;
}

/// "40–159 of 160", "0–95" where that is all.
QString rangeOfText(std::int64_t begin, std::int64_t count, std::int64_t all)
{
    const QString range =
        count == 1 ? QString::number(begin) : QStringLiteral("%1–%2").arg(begin).arg(begin + count - 1);
    return count == all ? range : HeatMap::tr("%1 of %2").arg(range, QString::number(all));
}

} // namespace

HeatMap::HeatMap(HeatView* view, QWidget* parent)
    : QWidget(parent)
    , m_view(view)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::WheelFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    makeCopyable(*this, copies());
    // The menu has more than copies.
    setContextMenuPolicy(Qt::DefaultContextMenu);
    connect(m_view, &HeatView::viewChanged, this, qOverload<>(&QWidget::update));
    connect(m_view, &HeatView::viewChanged, this, &HeatMap::visibleChanged);
    connect(this, &HeatMap::visibleChanged, this, &HeatMap::updateAccessibleText);
    connect(m_view, &HeatView::cursorChanged, this, qOverload<>(&QWidget::update));
    onThemeChange(*this, [this] {
        m_image = {};
        update();
    });
}

bool HeatMap::hasElements() const
{
    return m_picture && m_picture->tiles.rows > 0 && m_picture->tiles.cols > 0;
}

void HeatMap::setPicture(std::shared_ptr<const MatrixPicture> picture)
{
    const bool sameSize = m_picture && picture && m_picture->tiles.rows == picture->tiles.rows
        && m_picture->tiles.cols == picture->tiles.cols;
    if (!sameSize) {
        m_corner.reset();
    }
    m_picture = std::move(picture);
    m_ownScale = m_picture ? scaleOf(m_picture->tiles) : LogScale {};
    m_scale = m_ownScale;
    m_image = {};
    updateAccessibleText();
    update();
}

void HeatMap::setScale(const LogScale& scale)
{
    if (!(m_scale == scale)) {
        m_scale = scale;
        m_image = {};
        update();
    }
}

void HeatMap::setHint(const QString& hint)
{
    m_hint = hint;
    update();
}

PixelCover HeatMap::cover() const
{
    const auto shown = visibleRegion();
    return shown
        ? pixelCover(*m_picture, geometryFor(devicePixelRatioF()), m_picture->patch && m_picture->patch->covers(*shown))
        : PixelCover {};
}

std::optional<replay::Region> HeatMap::visibleRegion() const
{
    if (!hasElements()) {
        return std::nullopt;
    }
    const HeatGeometry g = geometryFor(1);
    const auto span = [](double origin, double element, int pixels, std::int64_t count) {
        // An edge that was rounded brings no element into sight.
        constexpr double nothing = 1e-6;
        const auto begin = static_cast<std::int64_t>(std::floor(-origin / element + nothing));
        const auto end = static_cast<std::int64_t>(std::ceil((pixels - origin) / element - nothing));
        return std::pair {std::clamp<std::int64_t>(begin, 0, count - 1), std::clamp<std::int64_t>(end, 1, count)};
    };
    const auto [top, bottom] = span(g.origin.y(), g.element.height(), height(), m_picture->tiles.rows);
    const auto [left, right] = span(g.origin.x(), g.element.width(), width(), m_picture->tiles.cols);
    return replay::Region {top, left, bottom - top, right - left};
}

QString HeatMap::partInSight() const
{
    const auto shown = visibleRegion();
    if (!shown || (shown->rows == m_picture->tiles.rows && shown->cols == m_picture->tiles.cols)) {
        return {};
    }
    return tr("rows %1 × columns %2")
        .arg(rangeOfText(shown->row, shown->rows, m_picture->tiles.rows),
            rangeOfText(shown->col, shown->cols, m_picture->tiles.cols));
}

void HeatMap::showRegion(const replay::Region& region)
{
    if (!hasElements()) {
        return;
    }
    const auto rows = static_cast<double>(m_picture->tiles.rows);
    const auto cols = static_cast<double>(m_picture->tiles.cols);
    const auto whole = QRectF(0, 0, cols, rows);
    const QRectF part = whole.intersected(QRectF(static_cast<double>(region.col), static_cast<double>(region.row),
        static_cast<double>(region.cols), static_cast<double>(region.rows)));
    if (part.isEmpty()) {
        return;
    }
    const QSizeF element = fittedElement();
    const double zoom =
        std::min(width() / (part.width() * element.width()), height() / (part.height() * element.height()));
    m_view->zoomTo({part.center().x() / cols, part.center().y() / rows}, zoom, Gesture::fresh);
}

void HeatMap::setDamage(const std::optional<DamagePattern>& damage, bool echo)
{
    m_damage = damage;
    m_echo = echo;
    updateAccessibleText();
    update();
}

void HeatMap::setMessage(const QString& message)
{
    m_message = message;
    update();
}

void HeatMap::updateAccessibleText()
{
    if (!m_picture) {
        setAccessibleDescription(m_message);
        return;
    }
    const Scan& scan = m_picture->scan;
    QString text =
        tr("%1 × %2, %3 NaN, %4 +Inf, %5 −Inf, %6 zero")
            .arg(m_picture->tiles.rows)
            .arg(m_picture->tiles.cols)
            .arg(countLabel(scan.nan), countLabel(scan.posInf), countLabel(scan.negInf), countLabel(scan.zero));
    if (m_damage && !m_echo) {
        text += QStringLiteral("; ") + qstr(m_damage->text);
    }
    if (const QString part = partInSight(); !part.isEmpty()) {
        text += QStringLiteral("; ") + tr("in sight: %1").arg(part);
    }
    setAccessibleDescription(text);
}

QSize HeatMap::sizeHint() const
{
    return {320, 280};
}

QSize HeatMap::minimumSizeHint() const
{
    return {120, 96};
}

QSizeF HeatMap::fittedElement() const
{
    const double rows = static_cast<double>(m_picture->tiles.rows);
    const double cols = static_cast<double>(m_picture->tiles.cols);
    const double side = std::min(width() / cols, height() / rows);
    return {std::max(side, std::min<double>(width(), thinnest) / cols),
        std::max(side, std::min<double>(height(), thinnest) / rows)};
}

HeatGeometry HeatMap::geometryFor(double devicePixelRatio) const
{
    const QSizeF element = fittedElement() * m_view->zoom();
    const QSizeF whole(element.width() * static_cast<double>(m_picture->tiles.cols),
        element.height() * static_cast<double>(m_picture->tiles.rows));
    const QPointF origin(
        width() / 2.0 - m_view->center().x() * whole.width(), height() / 2.0 - m_view->center().y() * whole.height());
    return {origin * devicePixelRatio, element * devicePixelRatio};
}

QRectF HeatMap::rectOf(std::int64_t rowBegin, std::int64_t rowEnd, std::int64_t colBegin, std::int64_t colEnd) const
{
    if (!m_picture) {
        return {};
    }
    const HeatGeometry g = geometryFor(1);
    return {g.origin.x() + static_cast<double>(colBegin) * g.element.width(),
        g.origin.y() + static_cast<double>(rowBegin) * g.element.height(),
        static_cast<double>(colEnd - colBegin) * g.element.width(),
        static_cast<double>(rowEnd - rowBegin) * g.element.height()};
}

QRectF HeatMap::elementRect(std::int64_t row, std::int64_t col) const
{
    return rectOf(row, row + 1, col, col + 1);
}

QRectF HeatMap::damageRect() const
{
    if (!m_damage || m_damage->rowEnd <= m_damage->rowBegin) {
        return {};
    }
    QRectF rect = rectOf(m_damage->rowBegin, m_damage->rowEnd, m_damage->colBegin, m_damage->colEnd);
    // A single bad element in a large matrix must still be seen.
    constexpr double smallest = 8;
    const double dx = std::max(0.0, smallest - rect.width()) / 2;
    const double dy = std::max(0.0, smallest - rect.height()) / 2;
    return rect.adjusted(-dx, -dy, dx, dy);
}

QPointF HeatMap::fractionAt(QPointF position) const
{
    const QRectF whole = rectOf(0, m_picture->tiles.rows, 0, m_picture->tiles.cols);
    return {(position.x() - whole.x()) / whole.width(), (position.y() - whole.y()) / whole.height()};
}

QPointF HeatMap::snapped(QPointF fraction) const
{
    const double rows = static_cast<double>(m_picture->tiles.rows);
    const double cols = static_cast<double>(m_picture->tiles.cols);
    const auto middle = [](double f, double n) { return (std::min(std::floor(f * n), n - 1) + 0.5) / n; };
    return {middle(fraction.x(), cols), middle(fraction.y(), rows)};
}

std::optional<HeatMap::Element> HeatMap::cursorElement() const
{
    if (!hasElements() || !m_view->hasCursor()) {
        return std::nullopt;
    }
    const auto at = [](double f, std::int64_t n) {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(f * static_cast<double>(n))), 0, n - 1);
    };
    return Element {at(m_view->cursor().y(), m_picture->tiles.rows), at(m_view->cursor().x(), m_picture->tiles.cols)};
}

void HeatMap::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    Q_EMIT visibleChanged();
}

bool HeatMap::event(QEvent* event)
{
    // Else the window's Undo takes the key away.
    if (event->type() == QEvent::ShortcutOverride
        && historyKeyOf(*static_cast<const QKeyEvent*>(event)) != HistoryKey::none) {
        event->accept();
        return true;
    }
    if (event->type() == QEvent::ToolTip) {
        showTip(static_cast<QHelpEvent*>(event)->globalPos());
        return true;
    }
    return QWidget::event(event);
}

void HeatMap::showTip(const QPoint& global)
{
    if (!hasElements()) {
        QToolTip::hideText();
        return;
    }
    QStringList lines {m_view->zoom() > 1
            ? tr("Shift+drag zooms to a box, a drag moves, a double click shows the whole matrix")
            : tr("The wheel zooms, a drag zooms to a box")};
    if (const PixelCover covered = cover(); covered.several()) {
        lines.prepend(coverText(covered));
    }
    QToolTip::showText(global, plainTip(lines.join(QLatin1Char('\n'))), this);
}

// How a heat map looks.

const QImage& HeatMap::image()
{
    const double ratio = devicePixelRatioF();
    const HeatGeometry geometry = geometryFor(ratio);
    const QSize size(static_cast<int>(std::ceil(width() * ratio)), static_cast<int>(std::ceil(height() * ratio)));
    if (m_image.size() != size || !(m_imageGeometry == geometry)) {
        m_image = renderHeat(*m_picture, geometry, m_scale, size, theme());
        m_image.setDevicePixelRatio(ratio);
        m_imageGeometry = geometry;
    }
    return m_image;
}

Picture HeatMap::toPicture() const
{
    if (!hasElements()) {
        return {};
    }
    constexpr double ratio = 2;
    constexpr double room = 3; // for the frame about damage at the border
    const QRectF whole = rectOf(0, m_picture->tiles.rows, 0, m_picture->tiles.cols);
    const QRect shown = whole.adjusted(-room, -room, room, room).toAlignedRect() & rect();
    return {shown.size(), [this, shown](const PictureCanvas& canvas) {
                const HeatGeometry all = geometryFor(ratio);
                const HeatGeometry part {all.origin - QPointF(shown.topLeft()) * ratio, all.element};
                QImage sharp = renderHeat(*m_picture, part, m_scale, shown.size() * ratio, theme());
                sharp.setDevicePixelRatio(ratio);
                canvas.painter().drawImage(QPointF(0, 0), sharp);
                canvas.painter().translate(-shown.topLeft());
                drawDamage(canvas.painter());
                drawFirst(canvas.painter());
            }};
}

void HeatMap::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    if (!m_picture) {
        painter.setPen(theme().muted);
        painter.drawText(rect().adjusted(grid(2), 0, -grid(2), 0), Qt::AlignCenter | Qt::TextWordWrap, m_message);
        return;
    }
    painter.drawImage(QPointF(0, 0), image());
    drawDamage(painter);
    drawFirst(painter);
    drawCursor(painter);
    drawBox(painter);
    drawHint(painter);
    drawFocusFrame(painter, *this);
}

void HeatMap::drawDamage(QPainter& painter) const
{
    const QRectF frame = damageRect();
    if (frame.isEmpty()) {
        return;
    }
    // The frame lies outside the damage; at the border of the widget it moves inside to stay visible.
    const QRectF outer = frame.adjusted(-2, -2, 2, 2).intersected(QRectF(rect()).adjusted(1.5, 1.5, -1.5, -1.5));
    if (outer.isEmpty()) {
        return;
    }
    painter.setBrush(Qt::NoBrush);
    if (m_echo) {
        painter.setPen(QPen(theme().birth, 1, Qt::DashLine));
        painter.drawRect(outer);
        return;
    }
    painter.setPen(QPen(theme().surface, 4));
    painter.drawRect(outer);
    painter.setPen(QPen(theme().birth, 2));
    painter.drawRect(outer);
}

QRectF HeatMap::firstRing() const
{
    constexpr double least = 14; // pixels across: three elements among 15,360 have to be found
    if (!m_picture || m_picture->scan.firstNonFinite < 0 || m_picture->scan.nonFinite() == m_picture->scan.count) {
        return {};
    }
    const std::int64_t first = m_picture->scan.firstNonFinite;
    const QRectF element = elementRect(first / m_picture->tiles.cols, first % m_picture->tiles.cols);
    const double across = std::max(least, 1.6 * std::max(element.width(), element.height()));
    QRectF ring(0, 0, across, across);
    ring.moveCenter(element.center());
    // It would cover all of a small damage, which has a frame of its own.
    if (const QRectF damage = damageRect(); damage.contains(element.center()) && ring.contains(damage)) {
        return {};
    }
    // At the edge of a fitted matrix it touches the element: half of it would be cut off.
    const QRectF room = QRectF(rect()).adjusted(2, 2, -2, -2);
    if (rect().contains(element.center().toPoint()) && ring.width() <= room.width() && ring.height() <= room.height()) {
        ring.moveLeft(std::clamp(ring.left(), room.left(), room.right() - ring.width()));
        ring.moveTop(std::clamp(ring.top(), room.top(), room.bottom() - ring.height()));
    }
    return ring.intersects(QRectF(rect())) ? ring : QRectF();
}

void HeatMap::drawFirst(QPainter& painter) const
{
    const QRectF ring = firstRing();
    if (ring.isEmpty()) {
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(Qt::black, 4));
    painter.drawEllipse(ring);
    painter.setPen(QPen(Qt::white, 2));
    painter.drawEllipse(ring);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void HeatMap::drawCursor(QPainter& painter) const
{
    const auto element = cursorElement();
    if (!element) {
        return;
    }
    QRectF box = elementRect(element->row, element->col);
    const double grow = std::max(0.0, 5 - std::min(box.width(), box.height())) / 2;
    box.adjust(-grow, -grow, grow, grow);
    painter.setPen(QPen(Qt::black, 3));
    painter.drawRect(box);
    painter.setPen(QPen(Qt::white, 1));
    painter.drawRect(box);
}

void HeatMap::drawBox(QPainter& painter) const
{
    const auto region = box();
    if (!region) {
        return;
    }
    const QRectF frame = rectOf(region->row, region->row + region->rows, region->col, region->col + region->cols);
    QColor veil = theme().accent;
    veil.setAlpha(40);
    painter.fillRect(frame, veil);
    painter.setPen(QPen(theme().surface, 3));
    painter.drawRect(frame);
    painter.setPen(QPen(theme().accent, 1, Qt::DashLine));
    painter.drawRect(frame);
    drawLabel(painter,
        tr("[%1–%2, %3–%4] · %5 × %6")
            .arg(region->row)
            .arg(region->row + region->rows - 1)
            .arg(region->col)
            .arg(region->col + region->cols - 1)
            .arg(region->rows)
            .arg(region->cols),
        Qt::TopLeftCorner);
}

/// From the lowest on: in a narrow map the way back has a line of its own, in a small one it would take too much.
QStringList HeatMap::partLines() const
{
    const QString part = partInSight();
    if (part.isEmpty()) {
        return {};
    }
    const QFontMetrics metrics(font());
    const QString back = tr("Ctrl+0 shows all");
    const QString both = QStringLiteral("%1 · %2").arg(part, back);
    if (metrics.horizontalAdvance(both) <= width() - grid(4)) {
        return {both};
    }
    constexpr int largestShare = 8;
    return metrics.height() * largestShare <= height() ? QStringList {back, part} : QStringList {part};
}

void HeatMap::drawHint(QPainter& painter) const
{
    int line = 0;
    for (const QString& text : partLines() + QStringList {m_hint}) {
        if (!text.isEmpty()) {
            drawLabel(painter, text, Qt::BottomLeftCorner, line++);
        }
    }
}

/// Quiet words on a ground of their own.
void HeatMap::drawLabel(QPainter& painter, const QString& label, Qt::Corner corner, int linesBelow) const
{
    const QFontMetrics metrics(font());
    const QString text = metrics.elidedText(label, Qt::ElideRight, width() - grid(4));
    QRect ground(0, 0, metrics.horizontalAdvance(text) + grid(3), metrics.height() + grid(1));
    if (corner == Qt::BottomLeftCorner) {
        ground.moveBottomLeft(rect().bottomLeft() - QPoint(0, linesBelow * ground.height()));
    }
    QColor color = theme().surface;
    color.setAlpha(225);
    painter.fillRect(ground, color);
    painter.setPen(theme().muted);
    painter.drawText(ground, Qt::AlignCenter, text);
}

// Mouse and menu of a heat map, and what they do to the view.

void HeatMap::zoomAt(QPointF position, double factor, Gesture gesture)
{
    if (!hasElements()) {
        return;
    }
    const QPointF anchor = clampToUnit(fractionAt(position));
    const double zoom = std::clamp(m_view->zoom() * factor, 1.0, HeatView::maxZoom);
    const double ratio = m_view->zoom() / zoom;
    m_view->zoomTo(anchor + (m_view->center() - anchor) * ratio, zoom, gesture);
}

void HeatMap::panBy(QPointF pixels, Gesture gesture)
{
    if (hasElements()) {
        m_view->zoomTo(m_view->center() + fractionAt(pixels) - fractionAt({0, 0}), m_view->zoom(), gesture);
    }
}

void HeatMap::wheelEvent(QWheelEvent* event)
{
    const QPoint turned = event->angleDelta();
    if (turned.y() != 0) {
        zoomAt(event->position(), std::pow(magnifyPerNotch, turned.y() / notch), Gesture::wheel);
    } else {
        panBy({-turned.x() / notch * 0.1 * width(), 0}, Gesture::wheel);
    }
    event->accept();
}

void HeatMap::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !hasElements()) {
        return;
    }
    // In the whole matrix there is nowhere to move to.
    const bool box =
        std::exchange(m_boxNext, false) || event->modifiers().testFlag(Qt::ShiftModifier) || m_view->zoom() <= 1;
    m_drag = Drag {event->position(), box};
    if (m_drag->box) {
        cursorTo(event->position());
        markCorner();
    }
    setCursor(m_drag->box ? Qt::CrossCursor : Qt::ClosedHandCursor);
}

void HeatMap::mouseMoveEvent(QMouseEvent* event)
{
    if (!hasElements()) {
        return;
    }
    if (m_drag && event->buttons().testFlag(Qt::LeftButton)) {
        drag(event->position());
        return;
    }
    showReach(event->modifiers());
    const QPointF at = fractionAt(event->position());
    if (at == clampToUnit(at)) {
        cursorTo(event->position());
    } else {
        m_view->clearCursor();
    }
}

void HeatMap::drawBoxNext()
{
    m_boxNext = true;
    setCursor(Qt::CrossCursor);
}

/// What a drag would do there.
void HeatMap::showReach(Qt::KeyboardModifiers modifiers)
{
    const bool box = m_boxNext || modifiers.testFlag(Qt::ShiftModifier);
    if (box && cursor().shape() != Qt::CrossCursor) {
        setCursor(Qt::CrossCursor);
    } else if (!box && cursor().shape() == Qt::CrossCursor) {
        unsetCursor();
    }
}

void HeatMap::drag(QPointF position)
{
    const QPointF moved = position - m_drag->from;
    const bool began = m_drag->moved;
    constexpr double slip = 3;
    if (!began && moved.manhattanLength() <= slip) {
        return;
    }
    m_drag->moved = true;
    if (m_drag->box) {
        cursorTo(position);
        return;
    }
    m_drag->from = position;
    panBy(-moved, began ? Gesture::ongoing : Gesture::fresh);
}

void HeatMap::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton) {
        return;
    }
    const std::optional<Drag> drag = std::exchange(m_drag, std::nullopt);
    unsetCursor();
    if (!drag || !drag->box) {
        return;
    }
    if (drag->moved) {
        zoomToBox();
    } else {
        dropCorner();
    }
}

void HeatMap::mouseDoubleClickEvent(QMouseEvent* /*event*/)
{
    dropCorner();
    m_view->fit();
}

void HeatMap::leaveEvent(QEvent* /*event*/)
{
    m_view->clearCursor();
}

/// To the element there, or the one nearest to it.
void HeatMap::cursorTo(QPointF position)
{
    m_view->setCursor(snapped(clampToUnit(fractionAt(position))));
}

void HeatMap::markCorner()
{
    m_corner = cursorElement();
    update();
}

void HeatMap::dropCorner()
{
    m_corner.reset();
    update();
}

std::optional<replay::Region> HeatMap::box() const
{
    const auto to = cursorElement();
    if (!m_corner || !to) {
        return std::nullopt;
    }
    const auto [top, bottom] = std::minmax(m_corner->row, to->row);
    const auto [left, right] = std::minmax(m_corner->col, to->col);
    return replay::Region {top, left, bottom - top + 1, right - left + 1};
}

void HeatMap::zoomToBox()
{
    const auto region = box();
    dropCorner();
    if (region) {
        showRegion(*region);
    }
}

void HeatMap::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    addZoomEntries(menu);
    menu.addSeparator();
    addCopyEntries(menu, *this, copies());
    menu.exec(event->globalPos());
}

/// The keys are told, not taken: they belong to the map that has the focus.
void HeatMap::addZoomEntries(QMenu& menu)
{
    // The mouse leaves the map for the menu and takes the cursor along.
    const auto cursor = m_view->hasCursor() ? std::optional(m_view->cursor()) : std::nullopt;
    const auto add = [&](const QString& text, const char* keys, auto slot) {
        QAction* action = menu.addAction(text + QLatin1Char('\t') + QLatin1String(keys));
        connect(action, &QAction::triggered, this, [this, cursor, slot] {
            if (cursor) {
                m_view->setCursor(*cursor);
            }
            slot();
        });
        return action;
    };
    constexpr double step = 2;
    add(tr("Show all"), "Home", [this] { m_view->fit(); });
    add(tr("Zoom in"), "+", [this] { zoomByKey(step); });
    add(tr("Zoom out"), "-", [this] { zoomByKey(1 / step); });
    if (m_corner) {
        add(tr("Zoom to the box that ends here"), "Z", [this] { zoomToBox(); });
        add(tr("Give up the box"), "Esc", [this] { dropCorner(); });
    } else {
        add(tr("Begin a box here"), "Z", [this] { markCorner(); })->setEnabled(cursorElement().has_value());
    }
    add(tr("Draw a box to zoom to"), "Shift+drag", [this] { drawBoxNext(); });
    add(tr("Previous view"), "Backspace", [this] { m_view->goBack(); })->setEnabled(m_view->canGoBack());
    add(tr("Next view"), "Shift+Backspace", [this] { m_view->goForward(); })->setEnabled(m_view->canGoForward());
}

// Keys of a heat map; those of its history and its zoom are a timeline's, too.

QString HeatMap::keysTitle() const
{
    return tr("Heat maps");
}

std::vector<KeyHint> HeatMap::keyHints() const
{
    return {{{Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down},
                tr("move the cursor by one element, with Ctrl by 16"), {}},
        {{Qt::Key_Plus, Qt::Key_Equal, Qt::Key_Minus}, tr("zoom in and out at the cursor"), {}},
        {{Qt::Key_PageUp, Qt::Key_PageDown}, tr("half a height up or down, with Shift half a width to the side"), {}},
        {{Qt::Key_Z}, tr("begin a box at the cursor, then zoom to it"), {}},
        {{Qt::Key_Escape}, tr("give up the box and clear the cursor"), {}},
        {{Qt::Key_Home, Qt::Key_0}, tr("show the whole matrix"), {}},
        {{QKeySequence::Undo, Qt::Key_Backspace, Qt::ALT | Qt::Key_Left}, tr("previous view"), {}},
        {{QKeySequence::Redo, Qt::SHIFT | Qt::Key_Backspace, Qt::ALT | Qt::Key_Right}, tr("next view"), {}},
        {{}, tr("zoom at the cursor; move, or zoom to a box while all is shown; zoom to a box; show the whole matrix"),
            tr("wheel; drag; Shift+drag; double click")}};
}

void HeatMap::keyPressEvent(QKeyEvent* event)
{
    if (!keyOfHistory(*event) && !keyOfCursor(*event) && !keyOfZoom(*event)) {
        QWidget::keyPressEvent(event);
    }
}

bool HeatMap::keyOfHistory(const QKeyEvent& event)
{
    const HistoryKey key = historyKeyOf(event);
    if (key == HistoryKey::forward) {
        m_view->goForward();
    } else if (key == HistoryKey::back) {
        m_view->goBack();
    }
    return key != HistoryKey::none;
}

bool HeatMap::keyOfCursor(const QKeyEvent& event)
{
    const int step = event.modifiers().testFlag(Qt::ControlModifier) ? 16 : 1;
    switch (event.key()) {
    case Qt::Key_Left:
        moveCursor(0, -step);
        return true;
    case Qt::Key_Right:
        moveCursor(0, step);
        return true;
    case Qt::Key_Up:
        moveCursor(-step, 0);
        return true;
    case Qt::Key_Down:
        moveCursor(step, 0);
        return true;
    default:
        return false;
    }
}

bool HeatMap::keyOfZoom(const QKeyEvent& event)
{
    const double direction = event.key() == Qt::Key_PageUp ? -0.5 : 0.5;
    const bool sideways = event.modifiers().testFlag(Qt::ShiftModifier);
    switch (event.key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoomByKey(magnifyStep);
        return true;
    case Qt::Key_Minus:
        zoomByKey(1 / magnifyStep);
        return true;
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
        panBy(sideways ? QPointF(direction * width(), 0) : QPointF(0, direction * height()), Gesture::fresh);
        return true;
    case Qt::Key_Home:
    case Qt::Key_0:
        m_view->fit();
        return true;
    case Qt::Key_Z:
        m_corner ? zoomToBox() : markCorner();
        return true;
    case Qt::Key_Escape:
        m_boxNext = false;
        unsetCursor();
        dropCorner();
        m_view->clearCursor();
        return true;
    default:
        return false;
    }
}

void HeatMap::moveCursor(int rows, int cols)
{
    if (!hasElements()) {
        return;
    }
    const Element from = cursorElement().value_or(Element {});
    const auto row = std::clamp<std::int64_t>(from.row + rows, 0, m_picture->tiles.rows - 1);
    const auto col = std::clamp<std::int64_t>(from.col + cols, 0, m_picture->tiles.cols - 1);
    m_view->setCursor({(static_cast<double>(col) + 0.5) / static_cast<double>(m_picture->tiles.cols),
        (static_cast<double>(row) + 0.5) / static_cast<double>(m_picture->tiles.rows)});
    if (!QRectF(rect()).contains(elementRect(row, col).center())) {
        m_view->setView(m_view->cursor(), m_view->zoom());
    }
}

/// At the cursor where it is in sight, else in the middle.
void HeatMap::zoomByKey(double factor)
{
    QPointF at = rect().center();
    if (const auto element = cursorElement()) {
        const QPointF cursor = elementRect(element->row, element->col).center();
        at = QRectF(rect()).contains(cursor) ? cursor : at;
    }
    zoomAt(at, factor, Gesture::fresh);
}

QString visibleValues(const HeatMap& map)
{
    const auto part = map.visibleRegion();
    if (!part) {
        return heading;
    }
    if (part->rows * part->cols <= mostCopied) {
        return heading + lines(*map.picture(), *part);
    }
    const auto cursor = map.cursorElement();
    return cursor ? heading + line(*map.picture(), cursor->row, cursor->col) : heading;
}

QString visibleSheet(const HeatMap& map)
{
    const auto part = map.visibleRegion();
    if (!part) {
        return heading;
    }
    const MatrixPicture& picture = *map.picture();
    const bool known = picture.hasElements() || (picture.patch && picture.patch->covers(*part));
    return known && part->rows * part->cols <= mostSaved ? heading + lines(picture, *part)
                                                         : tileLines(picture.tiles, *part);
}

PlotCopies HeatMap::copies()
{
    const auto caption = [this] {
        PictureCaption whole = m_caption ? m_caption() : PictureCaption {tr("Heat map")};
        QStringList notes {whole.note, partInSight()};
        notes.removeAll(QString());
        whole.note = notes.join(QStringLiteral(" · "));
        return whole;
    };
    return {tr("Heat map"), [this] { return visibleValues(*this); }, [this] { return toPicture(); }, caption,
        [this] { return visibleSheet(*this); }};
}

} // namespace nanscope
