// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include <QTimer>

#include "ui/film/film.h"
#include "ui/heatmap/heatmap.h"

namespace nanscope {

/// A frame of a film, large. Where its tiles are coarser than the few elements that are in sight, it asks for these,
/// and shows them in place of the tiles as soon as they are there.
class FrameMap : public HeatMap
{
    Q_OBJECT

public:
    explicit FrameMap(HeatView* view, QWidget* parent = nullptr);

    void setFrame(std::shared_ptr<const Film> film, int frame);
    const Film* film() const { return m_film.get(); }
    /// Null while there is none.
    const FilmFrame* frame() const;
    /// "[33, 70] = 0.25"; empty while the cursor is elsewhere.
    QString elementUnderCursor() const;

    /// The answer to detailWanted(). One to an older question is not taken.
    void setDetail(const std::shared_ptr<const nanscope::replay::ReplayedFrame>& frame);
    void setDetailMissing(const QString& sentence);
    /// Looked at, and answered if anything was asked.
    bool settled() const { return !m_rest.isActive() && !m_wanted; }

    /// More elements than these in sight are shown as tiles.
    static constexpr std::int64_t mostInSight = 256LL * 256;
    /// Nothing is asked for before the view has rested this long.
    static constexpr int restMs = 150;

Q_SIGNALS:
    /// `op` as in FilmFrame.
    void detailWanted(int op, const nanscope::replay::Region& region);
    void detailDropped();
    void detailShown();

private:
    void onVisible();
    void look();
    void drop();
    bool lacks(const replay::Region& inSight) const;
    bool isOfFrame(const OpTrace& op) const;

    std::shared_ptr<const Film> m_film;
    int m_frame = -1;
    std::optional<replay::Region> m_wanted;
    QString m_doubt; ///< about the elements that are shown
    QTimer m_rest;
};

} // namespace nanscope
