// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include <QWidget>

#include "ui/shared/picture.h"

class QCustomPlot;

namespace nanscope {

/// A plot in a widget of its own, with small type, in the colours of the theme. What derives from it draws in rebuild()
/// and calls restyle() once it is made.
class SmallPlot : public QWidget
{
    Q_OBJECT

public:
    explicit SmallPlot(QWidget* parent = nullptr);
    ~SmallPlot() override;

    Picture picture() const;

Q_SIGNALS:
    void readoutChanged(const QString& text);

protected:
    QCustomPlot& plot() const { return *m_plot; }
    void restyle();
    virtual void rebuild() = 0;
    /// Where the arrow keys, Home and End lead from a place; nothing for every other key.
    static std::optional<int> placeAfter(const QKeyEvent& event, int place, int first, int last);
    /// The mouse is, or was pressed, at this place of the x axis.
    virtual void pointAt(double x, bool pressed) = 0;

    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QCustomPlot* m_plot;
};

} // namespace nanscope
