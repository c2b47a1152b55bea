// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap.h"

#include <algorithm>
#include <cmath>

#include "ui/copying.h"
#include "ui/plots/heatview.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

constexpr double thinnest = 48; // pixels a vector is given across its short side

} // namespace

HeatMap::HeatMap(HeatView* view, QWidget* parent)
    : QWidget(parent)
    , m_view(view)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    makeCopyable(*this, copies());
    // The menu has more than copies.
    setContextMenuPolicy(Qt::DefaultContextMenu);
    connect(m_view, &HeatView::viewChanged, this, qOverload<>(&QWidget::update));
    connect(m_view, &HeatView::viewChanged, this, &HeatMap::visibleChanged);
    connect(m_view, &HeatView::cursorChanged, this, qOverload<>(&QWidget::update));
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
