// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/film/framemap.h"

#include <algorithm>
#include <utility>

#include "ui/heatmap/matrixpicture.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

/// Half as much again on every side, so that a small move finds its elements there.
replay::Region widened(const replay::Region& part, const TileMap& whole)
{
    const auto widen = [](std::int64_t begin, std::int64_t count, std::int64_t size) {
        const auto low = std::max<std::int64_t>(0, begin - count / 2);
        return std::pair {low, std::min(size, begin + count + count / 2) - low};
    };
    const auto [row, rows] = widen(part.row, part.rows, whole.rows);
    const auto [col, cols] = widen(part.col, part.cols, whole.cols);
    return {row, col, rows, cols};
}

} // namespace

FrameMap::FrameMap(HeatView* view, QWidget* parent)
    : HeatMap(view, parent)
{
    m_rest.setSingleShot(true);
    m_rest.setInterval(restMs);
    connect(&m_rest, &QTimer::timeout, this, &FrameMap::look);
    connect(this, &HeatMap::visibleChanged, this, &FrameMap::onVisible);
}

void FrameMap::setFrame(std::shared_ptr<const Film> film, int frame)
{
    const bool there = film && frame >= 0 && frame < static_cast<int>(film->frames.size());
    m_doubt.clear();
    drop();
    m_film = there ? std::move(film) : nullptr;
    m_frame = there ? frame : -1;
    setPicture(m_film ? this->frame()->picture : nullptr);
    onVisible();
}

const FilmFrame* FrameMap::frame() const
{
    return m_film ? &m_film->frames[static_cast<std::size_t>(m_frame)] : nullptr;
}

QString FrameMap::elementUnderCursor() const
{
    const auto at = cursorElement();
    return at ? elementText(*picture(), at->row, at->col) : QString();
}

/// What was asked for is of another frame, or of what was in sight before.
void FrameMap::drop()
{
    setHint(m_doubt);
    if (std::exchange(m_wanted, std::nullopt)) {
        Q_EMIT detailDropped();
    }
}

bool FrameMap::lacks(const replay::Region& inSight) const
{
    const bool covered = picture()->hasElements() || (picture()->patch && picture()->patch->covers(inSight));
    return !covered && inSight.rows * inSight.cols <= mostInSight;
}

void FrameMap::onVisible()
{
    const auto inSight = visibleRegion();
    if (!inSight || frame()->captured || m_film->request.capture.empty()) {
        m_rest.stop();
    } else if (lacks(*inSight)) {
        m_rest.start();
    } else {
        m_rest.stop();
        drop();
    }
}

void FrameMap::look()
{
    const auto inSight = visibleRegion();
    if (!inSight || frame()->captured || !lacks(*inSight)) {
        return;
    }
    const replay::Region wanted = widened(*inSight, picture()->tiles);
    if (m_wanted == wanted) {
        return;
    }
    m_wanted = wanted;
    setHint(tr("Exact values to come…"));
    Q_EMIT detailWanted(frame()->op, wanted);
}

bool FrameMap::isOfFrame(const OpTrace& op) const
{
    const TileMap& tiles = picture()->tiles;
    return op.op == frame()->name && op.iteration == frame()->iteration && op.rows == tiles.rows
        && op.cols == tiles.cols;
}

void FrameMap::setDetail(const std::shared_ptr<const replay::ReplayedFrame>& answer)
{
    if (!m_wanted || static_cast<int>(answer->op) != frame()->op || answer->region != *m_wanted) {
        return;
    }
    m_wanted.reset();
    if (!isOfFrame(answer->trace)) {
        setHint(tr("The replay does other steps than this film; its values are not shown"));
        return;
    }
    // The film may have been made elsewhere, by other libraries.
    const bool same = !answer->trace.tiles.empty() && answer->trace.tiles.front() == picture()->tiles;
    m_doubt = same
        ? QString()
        : tr("Replayed now by %1: not to the last bit what the film shows").arg(qstr(answer->cell.environment.engine));
    setHint(m_doubt);
    MatrixPicture detailed = *frame()->picture;
    detailed.patch = std::make_shared<const MatrixPatch>(MatrixPatch {answer->region, answer->floats, answer->doubles});
    const LogScale shown = scale();
    setPicture(std::make_shared<const MatrixPicture>(std::move(detailed)));
    setScale(shown);
    Q_EMIT detailShown();
}

void FrameMap::setDetailMissing(const QString& sentence)
{
    if (m_wanted) {
        m_wanted.reset();
        setHint(tr("No exact values: %1").arg(sentence));
    }
}

} // namespace nanscope
