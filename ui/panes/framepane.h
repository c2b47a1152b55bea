// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include "ui/panes/paneframe.h"
#include "ui/plots/film.h"

class QFormLayout;
class QLabel;

namespace nanscope {

class HeatMap;
class HeatView;
class ScaleBar;

/// One frame of the film strip large: zoom down to the element, its value, and what was counted in it.
class FramePane : public PaneFrame
{
    Q_OBJECT

public:
    explicit FramePane(HeatView* view, QWidget* parent = nullptr);

    void setFrame(std::shared_ptr<const Film> film, int frame);

    HeatMap* map() { return m_map; }
    /// The facts as shown, one line each: for copying and for tests.
    QString factsText() const;

Q_SIGNALS:
    void readoutChanged(const QString& text);

private:
    struct Fact
    {
        QLabel* name = nullptr;
        ElidedLabel* value = nullptr;
    };

    Fact addFact(QFormLayout& form, const QString& name);
    void fillFacts();
    void updateReadout();
    QString valueUnderCursor() const;

    HeatView* m_view;
    HeatMap* m_map;
    ScaleBar* m_scale;
    std::shared_ptr<const Film> m_film;
    int m_frame = -1;
    Fact m_cursor;
    Fact m_formula;
    Fact m_shape;
    Fact m_counts;
    Fact m_first;
    Fact m_largest;
    Fact m_smallest;
    Fact m_norm;
    Fact m_gauge;
    Fact m_distance;
};

} // namespace nanscope
