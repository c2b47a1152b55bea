// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap.h"
#include "ui/copying.h"

#include <algorithm>
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include "ui/copying.h"
#include "ui/plots/heatmapcopy.h"
#include "ui/plots/heatview.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr double wheelStep = 1.25;
constexpr double thinnest = 48; // pixels a vector is given across its short side

QPointF clampToUnit(QPointF p)
{
    return {std::clamp(p.x(), 0.0, 1.0), std::clamp(p.y(), 0.0, 1.0)};
}

} // namespace

HeatMap::HeatMap(HeatView* view, QWidget* parent)
    : QWidget(parent)
    , m_view(view)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    makeCopyable(*this, {tr("Heat map"), [this] { return visibleValues(*this); }, [this] { return grab(); }});
    connect(m_view, &HeatView::viewChanged, this, qOverload<>(&QWidget::update));
    connect(m_view, &HeatView::viewChanged, this, &HeatMap::visibleChanged);
    connect(m_view, &HeatView::cursorChanged, this, qOverload<>(&QWidget::update));
}

void HeatMap::setPicture(std::shared_ptr<const MatrixPicture> picture)
{
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

std::optional<Region> HeatMap::visibleRegion() const
{
    if (!m_picture || m_picture->tiles.rows <= 0 || m_picture->tiles.cols <= 0) {
        return std::nullopt;
    }
    const HeatGeometry g = geometryFor(1);
    const auto span = [](double origin, double element, int pixels, std::int64_t count) {
        const auto begin = static_cast<std::int64_t>(std::floor(-origin / element));
        const auto end = static_cast<std::int64_t>(std::ceil((pixels - origin) / element));
        return std::pair {std::clamp<std::int64_t>(begin, 0, count - 1), std::clamp<std::int64_t>(end, 1, count)};
    };
    const auto [top, bottom] = span(g.origin.y(), g.element.height(), height(), m_picture->tiles.rows);
    const auto [left, right] = span(g.origin.x(), g.element.width(), width(), m_picture->tiles.cols);
    return Region {top, left, bottom - top, right - left};
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
    if (!m_picture || !m_view->hasCursor() || m_picture->tiles.rows <= 0 || m_picture->tiles.cols <= 0) {
        return std::nullopt;
    }
    const auto at = [](double f, std::int64_t n) {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(f * static_cast<double>(n))), 0, n - 1);
    };
    return Element {at(m_view->cursor().y(), m_picture->tiles.rows), at(m_view->cursor().x(), m_picture->tiles.cols)};
}

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

void HeatMap::paintEvent(QPaintEvent* event)
{
    Q_UNUSED(event)
    QPainter painter(this);
    if (!m_picture) {
        painter.setPen(theme().muted);
        painter.drawText(rect().adjusted(grid(2), 0, -grid(2), 0), Qt::AlignCenter | Qt::TextWordWrap, m_message);
        return;
    }
    painter.drawImage(QPointF(0, 0), image());
    drawDamage(painter);
    drawCursor(painter);
    drawHint(painter);
    if (hasFocus()) {
        painter.setPen(QPen(theme().accent, 1, Qt::DotLine));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
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

void HeatMap::drawHint(QPainter& painter) const
{
    if (m_hint.isEmpty()) {
        return;
    }
    const QFontMetrics metrics(font());
    const QString text = metrics.elidedText(m_hint, Qt::ElideRight, width() - grid(4));
    QRect box(0, 0, metrics.horizontalAdvance(text) + grid(3), metrics.height() + grid(1));
    box.moveBottomLeft(rect().bottomLeft());
    QColor ground = theme().surface;
    ground.setAlpha(225);
    painter.fillRect(box, ground);
    painter.setPen(theme().muted);
    painter.drawText(box, Qt::AlignCenter, text);
}

void HeatMap::zoomAt(QPointF position, double factor)
{
    if (!m_picture) {
        return;
    }
    const QPointF anchor = clampToUnit(fractionAt(position));
    const double zoom = std::clamp(m_view->zoom() * factor, 1.0, HeatView::maxZoom);
    const double ratio = m_view->zoom() / zoom;
    m_view->setView(anchor + (m_view->center() - anchor) * ratio, zoom);
}

void HeatMap::wheelEvent(QWheelEvent* event)
{
    zoomAt(event->position(), std::pow(wheelStep, event->angleDelta().y() / 120.0));
    event->accept();
}

void HeatMap::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && m_picture) {
        m_dragFrom = event->position();
        setCursor(Qt::ClosedHandCursor);
    }
}

void HeatMap::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_picture) {
        return;
    }
    if (m_dragFrom && event->buttons().testFlag(Qt::LeftButton)) {
        const QPointF moved = fractionAt(event->position()) - fractionAt(*m_dragFrom);
        m_dragFrom = event->position();
        m_view->setView(m_view->center() - moved, m_view->zoom());
        return;
    }
    const QPointF at = fractionAt(event->position());
    if (at == clampToUnit(at)) {
        m_view->setCursor(snapped(at));
    } else {
        m_view->clearCursor();
    }
}

void HeatMap::mouseReleaseEvent(QMouseEvent* event)
{
    Q_UNUSED(event)
    m_dragFrom.reset();
    unsetCursor();
}

void HeatMap::mouseDoubleClickEvent(QMouseEvent* event)
{
    Q_UNUSED(event)
    m_view->fit();
}

void HeatMap::leaveEvent(QEvent* event)
{
    Q_UNUSED(event)
    m_view->clearCursor();
}

void HeatMap::moveCursor(int rows, int cols)
{
    if (!m_picture) {
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

QString HeatMap::keysTitle() const
{
    return tr("Heat maps");
}

std::vector<KeyHint> HeatMap::keyHints() const
{
    return {{{Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down},
                tr("move the cursor by one element, with Ctrl by 16"), {}},
        {{Qt::Key_Plus, Qt::Key_Equal, Qt::Key_Minus}, tr("zoom in and out at the cursor"), {}},
        {{Qt::Key_0}, tr("show the whole matrix"), {}},
        {{}, tr("zoom at the cursor, move, show the whole matrix"), tr("wheel, drag, double click")}};
}

void HeatMap::keyPressEvent(QKeyEvent* event)
{
    const int step = event->modifiers().testFlag(Qt::ControlModifier) ? 16 : 1;
    const QPointF middle = m_view->hasCursor() && m_picture
        ? elementRect(cursorElement()->row, cursorElement()->col).center()
        : QPointF(rect().center());
    switch (event->key()) {
    case Qt::Key_Left:
        return moveCursor(0, -step);
    case Qt::Key_Right:
        return moveCursor(0, step);
    case Qt::Key_Up:
        return moveCursor(-step, 0);
    case Qt::Key_Down:
        return moveCursor(step, 0);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoomAt(middle, wheelStep);
    case Qt::Key_Minus:
        return zoomAt(middle, 1 / wheelStep);
    case Qt::Key_0:
        return m_view->fit();
    default:
        QWidget::keyPressEvent(event);
    }
}

void HeatMap::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    Q_EMIT visibleChanged();
}

void HeatMap::changeEvent(QEvent* event)
{
    if (isThemeChange(event)) {
        m_image = {};
        update();
    }
    QWidget::changeEvent(event);
}

bool HeatMap::event(QEvent* event)
{
    if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) {
        update();
    }
    return QWidget::event(event);
}

} // namespace nanscope
