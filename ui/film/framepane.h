// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <filesystem>
#include <memory>

#include <QString>

#include "ui/film/film.h"
#include "ui/shared/paneframe.h"

class QGridLayout;
class QLabel;

namespace nanscope {

class FrameMap;
class HeatView;
class ScaleBar;

/// What stands beside the picture of a frame, in this order.
enum class FrameFact {
    variant,
    format,
    outcome,
    formula,
    size,
    counts,
    first,
    replayed, ///< what the replay has where the captured output first went wrong
    largest,
    smallest,
    norm,
    spectralNorm,
    largestQ,
    distance
};

constexpr int frameFactCount = static_cast<int>(FrameFact::distance) + 1;

/// The frame of one cell, or those of two side by side.
enum class Side { first, second };

/// One frame of the film strip large: zoom down to the element, its value, and what was counted in it. Beside it the
/// same frame of another cell, where two are compared.
class FramePane : public PaneFrame
{
    Q_OBJECT

public:
    explicit FramePane(HeatView* view, QWidget* parent = nullptr);

    void setComparing(bool comparing);
    void setFrame(std::shared_ptr<const Film> film, int frame, Side side = Side::first);

    FrameMap* map(Side side = Side::first) { return sideOf(side).map; }
    const ScaleBar* scaleBar(Side side = Side::first) { return sideOf(side).scale; }
    /// The facts as shown, one line each: for copying and for tests. Those of the two sides with a bar between them.
    QString factsText() const;

Q_SIGNALS:
    void readoutChanged(const QString& text);

private:
    struct SideWidgets
    {
        FrameMap* map = nullptr;
        ScaleBar* scale = nullptr;
        ElidedLabel* cursor = nullptr;
        std::array<ElidedLabel*, frameFactCount> facts {};
    };

    SideWidgets& sideOf(Side side) { return m_sides[static_cast<std::size_t>(side)]; }
    QGridLayout* buildFacts();
    ElidedLabel* makeValue();
    void placeFacts();
    void fillFacts(SideWidgets& side);
    void describe(FrameMap& map);
    void showRows();
    void updateReadout();
    void updateScale();
    bool isShown(FrameFact fact) const;

    HeatView* m_view;
    QString m_readout;
    std::filesystem::path m_file; ///< of the film that is shown: another capture is seen whole
    QGridLayout* m_facts = nullptr;
    std::array<SideWidgets, 2> m_sides;
    QLabel* m_cursorName = nullptr;
    std::array<QLabel*, frameFactCount> m_names {};
    bool m_comparing = false;
};

} // namespace nanscope
