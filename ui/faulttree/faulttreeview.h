// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include <QAbstractScrollArea>

#include "core/model/fwd.h"
#include "core/model/model.h"
#include "ui/faulttree/faulttree.h"
#include "ui/shared/keys.h"
#include "ui/shared/picture.h"

class QHelpEvent;

namespace nanscope {

/// Rank lanes by updates with a mark per capture, drawn only where they can be seen. The labels of lanes and updates
/// stay in place while the rest scrolls.
class FaultTreeView : public QAbstractScrollArea, public KeyUser
{
    Q_OBJECT

public:
    explicit FaultTreeView(QWidget* parent = nullptr);

    void setRun(std::shared_ptr<const RunData> run, std::shared_ptr<const Diagnosis> diagnosis);
    /// Lanes before quiet neighbours share one.
    void setMostLanes(int lanes);
    void setSelected(int capture);
    int selected() const { return m_selected; }

    const FaultTree& tree() const { return m_tree; }
    /// One line per capture, tab-separated, a heading first.
    QString table() const;
    /// What is in sight, without the focus.
    Picture picture() const;
    /// The node the arrow keys stand on, or -1.
    int current() const { return m_current; }
    /// Middle of a node in the viewport, visible or not.
    QPoint positionOf(int at) const { return (origin() + m_geometry.centerOf(m_tree.nodes[toIndex(at)])).toPoint(); }
    QString toolTipOf(int node) const;
    QString emptySentence() const;
    QString keysTitle() const override;
    std::vector<KeyHint> keyHints() const override;
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

Q_SIGNALS:
    void captureActivated(int indexInRun);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Range
    {
        int begin = 0;
        int end = 0;
    };

    void layOut();
    void place();
    QRectF plot() const;
    QPointF origin() const;
    int nodeUnder(const QPointF& position) const;
    void setCurrent(int node);
    void showNode(int node);
    void activate(int node);
    bool showToolTip(const QHelpEvent& event);
    QString captureText(int capture) const;
    QString describe(int node) const;
    QString laneLabel(const FaultLane& lane) const;
    double stepMiddle(std::size_t column) const;
    std::size_t stepStride(const QFontMetrics& metrics) const;
    bool isStepLabelled(std::size_t column, std::size_t stride) const;
    int startNode() const;

    Range visibleLanes() const;
    void paintInside(QPainter& painter) const;
    void paintLabels(QPainter& painter) const;
    void paintCurrent(QPainter& painter) const;
    void paintLanes(QPainter& painter) const;
    void paintTrunks(QPainter& painter) const;
    void paintEdges(QPainter& painter, int lane) const;
    void paintEdge(QPainter& painter, const FaultEdge& edge) const;
    void paintNodes(QPainter& painter, int lane) const;
    void paintNode(QPainter& painter, int node) const;
    void paintLaneLabels(QPainter& painter) const;
    void paintSteps(QPainter& painter) const;
    double trunkX(int cause) const;

    std::shared_ptr<const RunData> m_run;
    std::shared_ptr<const Diagnosis> m_diagnosis;
    std::vector<FaultCapture> m_captures;
    FaultTree m_tree;
    FaultGeometry m_geometry;
    std::vector<int> m_trunkNumbers; ///< by node
    std::vector<int> m_edgeBegin; ///< first edge into each node, and the end
    int m_mostLanes = 16;
    int m_selected = -1;
    int m_selectedNode = -1;
    int m_current = -1;
    int m_gutter = 0;
};

} // namespace nanscope
