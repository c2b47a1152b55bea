// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <QImage>
#include <QString>
#include <QWidget>

#include "ui/heatmap/heatrender.h"
#include "ui/shared/copying.h"
#include "ui/shared/keys.h"
#include "ui/shared/viewhistory.h"

namespace nanscope {

class HeatView;

/// One matrix as colours of log10|x|. Wheel zooms at the cursor, drag pans, Shift+drag zooms to a box, double click
/// fits, Backspace goes to the view before; each has a key. Maps that share a HeatView move together.
class HeatMap : public QWidget, public KeyUser
{
    Q_OBJECT

public:
    struct Element
    {
        std::int64_t row = 0;
        std::int64_t col = 0;
    };

    explicit HeatMap(HeatView* view, QWidget* parent = nullptr);
    HeatView* view() const { return m_view; }

    void setPicture(std::shared_ptr<const MatrixPicture> picture);
    const MatrixPicture* picture() const { return m_picture.get(); }
    const LogScale& scale() const { return m_scale; }
    LogScale ownScale() const { return m_ownScale; }
    /// The scale of another map, for comparing colours; the next picture brings its own again.
    void setScale(const LogScale& scale);

    /// Draws the frame of a damaged area; `echo` only hints at the same place in the other matrix.
    void setDamage(const std::optional<DamagePattern>& damage, bool echo);
    /// Shown while there is no picture.
    void setMessage(const QString& message);
    const QString& message() const { return m_message; }

    /// A quiet line over the lower edge of the picture.
    void setHint(const QString& hint);
    QString hint() const { return m_hint; }

    /// "rows 40–159 of 160 × columns 0–95"; empty where all is in sight.
    QString partInSight() const;
    /// The elements at least partly in sight; none while there is no picture.
    std::optional<replay::Region> visibleRegion() const;
    /// The largest view that has all of it, as one step of the history; parts of it that are not there don't count.
    void showRegion(const replay::Region& region);
    std::optional<Element> cursorElement() const;
    /// How many elements a pixel of it shows the largest of.
    PixelCover cover() const;
    /// In widget coordinates.
    QRectF elementRect(std::int64_t row, std::int64_t col) const;
    QRectF damageRect() const;
    /// Around the first element that is not finite, in widget coordinates; empty where all or none are finite.
    QRectF firstRing() const;
    /// What is in sight, without cursor and hint.
    Picture toPicture() const;
    /// What stands above a picture of it.
    void setCaption(std::function<PictureCaption()> caption) { m_caption = std::move(caption); }

    /// The next drag draws a box to zoom to, also without Shift.
    void drawBoxNext();

    QString keysTitle() const override;
    std::vector<KeyHint> keyHints() const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    /// By zoom, by moving, by the size of the widget.
    void visibleChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Drag
    {
        QPointF from; ///< the last place of the mouse
        bool box = false;
        bool moved = false;
    };

    bool hasElements() const;
    HeatGeometry geometryFor(double devicePixelRatio) const;
    QSizeF fittedElement() const;
    QRectF rectOf(std::int64_t rowBegin, std::int64_t rowEnd, std::int64_t colBegin, std::int64_t colEnd) const;
    QPointF fractionAt(QPointF position) const;
    QPointF snapped(QPointF fraction) const;
    void zoomAt(QPointF position, double factor, Gesture gesture);
    void zoomByKey(double factor);
    void panBy(QPointF pixels, Gesture gesture);
    void moveCursor(int rows, int cols);
    void cursorTo(QPointF position);
    void drag(QPointF position);
    void markCorner();
    void dropCorner();
    /// From the corner that was marked to the cursor.
    std::optional<replay::Region> box() const;
    void zoomToBox();
    void showTip(const QPoint& global);
    void showReach(Qt::KeyboardModifiers modifiers);
    bool keyOfHistory(const QKeyEvent& event);
    bool keyOfCursor(const QKeyEvent& event);
    bool keyOfZoom(const QKeyEvent& event);
    void addZoomEntries(QMenu& menu);
    PlotCopies copies();
    const QImage& image();
    void drawDamage(QPainter& painter) const;
    void drawFirst(QPainter& painter) const;
    void drawCursor(QPainter& painter) const;
    void drawBox(QPainter& painter) const;
    QStringList partLines() const;
    void drawHint(QPainter& painter) const;
    void drawLabel(QPainter& painter, const QString& label, Qt::Corner corner, int linesBelow = 0) const;
    void updateAccessibleText();

    HeatView* m_view;
    std::shared_ptr<const MatrixPicture> m_picture;
    LogScale m_ownScale;
    LogScale m_scale; ///< in use
    std::optional<DamagePattern> m_damage;
    bool m_echo = false;
    QString m_message;
    QString m_hint;
    std::function<PictureCaption()> m_caption;
    std::optional<Drag> m_drag;
    std::optional<Element> m_corner; ///< of a box that is being drawn
    bool m_boxNext = false; ///< the next drag draws one, also without Shift
    QImage m_image;
    HeatGeometry m_imageGeometry;
};

/// Elements as TSV, exact, in the matrix's own coordinates: those in sight where they are at most 4,096, else the one
/// under the cursor. Headings only where a matrix is too large to be held.
QString visibleValues(const HeatMap& map);

/// All that is in sight: up to 65,536 elements, else the tiles that are painted in their place.
QString visibleSheet(const HeatMap& map);

} // namespace nanscope
