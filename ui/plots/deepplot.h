// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QString>
#include <QStringList>
#include <QWidget>

#include "core/model/model.h"

class QCustomPlot;
class QCPItemStraightLine;

namespace nanscope {

/// Columns of a table of gauges that deep ones add, and their values at one step; none where there are none.
QStringList deepColumns(const DeepGauges& deep);
QStringList deepValues(const DeepGauges& deep, int iteration);

/// One kind of deep gauges per step, on a logarithmic axis. What is absent has no point; a negative eigenvalue is shown
/// by its magnitude in the colour of what is bad.
class DeepPlot : public QWidget
{
    Q_OBJECT

public:
    enum class Kind { errors, eigenvalue, signal };

    explicit DeepPlot(Kind kind, QWidget* parent = nullptr);
    ~DeepPlot() override;

    void setDeep(const std::optional<DeepGauges>& deep);
    void setIteration(int iteration);

    static QString title(Kind kind);
    QString legendText() const { return m_legend; }
    /// What the plot shows of this step, in words.
    QString textOf(int iteration) const;

Q_SIGNALS:
    void iterationActivated(int iteration);
    void readoutChanged(const QString& text);
    void copyRequested();

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    using Value = std::optional<double> (*)(const DeepGauge&);

    void rebuild();
    void drawErrors();
    void drawEigenvalue();
    void drawSignal();
    bool addLine(const QString& name, const QColor& color, int shape, Value value);
    void addGraph(const std::vector<std::optional<double>>& values, const QColor& color, int shape, double width);
    void addBand();
    const DeepGauge* stepOf(int iteration) const;

    Kind m_kind;
    QCustomPlot* m_plot;
    QCPItemStraightLine* m_marker = nullptr;
    std::optional<DeepGauges> m_deep;
    QString m_legend;
    int m_iteration = -1;
};

} // namespace nanscope
