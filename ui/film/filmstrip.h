// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QImage>
#include <QPointF>
#include <QWidget>

#include "ui/film/film.h"
#include "ui/heatmap/heatrender.h"
#include "ui/shared/keys.h"
#include "ui/shared/picture.h"

namespace nanscope {

class HeatView;

/// One column per step, one row per op: every intermediate matrix of a replay as a small heat map, and below them the
/// output that was captured. The frame in which values first went non-finite is framed in the colour of a birth. Arrows
/// move between frames, Home and End to the first and last, B to the birth; the cursor of the large view is echoed in
/// every frame of its shape.
class FilmStrip : public QWidget, public KeyUser
{
    Q_OBJECT

public:
    explicit FilmStrip(HeatView* view, QWidget* parent = nullptr);

    void setFilm(std::shared_ptr<const Film> film);
    const Film* film() const { return m_film.get(); }
    const FilmGrid& frameGrid() const { return m_grid; }
    /// What is said beside the captured output, for example where its damage can have begun.
    void setCapturedNote(const QString& note);
    QString capturedNote() const { return m_capturedNote; }
    void setMessage(const QString& message);

    const FilmScales& ownScales() const { return m_ownScales; }
    /// Scales that another film has, too, so that the same colour means the same magnitude in both; none: its own. The
    /// next film brings its own again.
    void setShared(const std::optional<FilmScales>& scales);
    bool isShared() const { return m_shared.has_value(); }
    LogScale scaleOfFrame(int frame) const;

    int current() const { return m_current; }
    /// -1 for none.
    void setCurrent(int frame);

    /// One line per frame with its counts, tab-separated, a heading first.
    QString table() const;

    /// Without cursor and marks of the current frame.
    Picture picture() const;

    /// Of the large view, in parts of the matrix.
    std::optional<QPointF> cursor() const;
    /// Into which a fault was planted; -1 for none.
    int plantedFrame() const;

    /// In widget coordinates; empty for a frame that is not there.
    QRect frameRect(int frame) const;

    QString keysTitle() const override;
    std::vector<KeyHint> keyHints() const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void currentChanged(int frame);
    void filmChanged();
    /// What if this frame had gone bad?
    void plantRequested();
    /// Enter or a double click: look at this frame in the large view.
    void activated(int frame);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    int firstToShow() const;
    int frameAt(QPoint position) const;
    void placeFrames();
    QRect slotRect(const FilmGrid::Place& place) const;
    QRect headerRect(int column) const;
    QRect rowLabelRect(int row) const;
    QRect scaleNoteRect() const;
    HeatGeometry geometryOf(int frame, double ratio) const;
    QImage rendered(int frame, double ratio) const;
    const QImage& thumbnail(int frame);
    void drawFrame(QPainter& painter, int frame, const QImage& image) const;
    void drawLabels(QPainter& painter) const;
    void drawRowLabels(QPainter& painter) const;
    void drawCursor(QPainter& painter, int frame) const;
    void drawPlanted(QPainter& painter) const;
    void drawCurrent(QPainter& painter) const;
    void updateAccessibleText();

    HeatView* m_view;
    std::shared_ptr<const Film> m_film;
    FilmGrid m_grid;
    QString m_message;
    QString m_capturedNote;
    int m_current = -1;
    std::vector<QRect> m_rects;
    std::vector<QImage> m_thumbnails;
    FilmScales m_ownScales;
    std::optional<FilmScales> m_shared;
};

/// "step 3 gram", "input".
QString frameLabel(const FilmFrame& frame);

/// What an op computes, for a label: "R = X Xᵀ".
QString opFormula(OpName op);

} // namespace nanscope
