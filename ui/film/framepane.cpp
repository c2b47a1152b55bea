// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/film/framepane.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <QCoreApplication>
#include <QGridLayout>
#include <QLabel>
#include <QStringList>
#include <QVBoxLayout>

#include "ui/film/film.h"
#include "ui/film/filmpane.h"
#include "ui/film/filmstrip.h"
#include "ui/film/framemap.h"
#include "ui/heatmap/heatlegend.h"
#include "ui/heatmap/heatview.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/elidedlabel.h"
#include "ui/shared/partsscroll.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

struct FramePaneWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::FramePane)
};

const QString unknown = QStringLiteral("–");

QString countsText(const Scan& scan)
{
    return QStringLiteral("%1 · %2 · %3").arg(countLabel(scan.nan), countLabel(scan.posInf), countLabel(scan.negInf));
}

/// Magnitudes and norms are of the finite values; of none there is nothing to say.
QString finiteText(const Scan& scan, const QString& text)
{
    return scan.nonFinite() < scan.count ? text : FramePaneWords::tr("no finite value");
}

/// "58,208 (88.9 % of fp16)": of its largest value. What was captured has gone through no format of a replay.
QString largestText(const Scan& scan, const std::optional<Precision>& format)
{
    QString text = exactNumber(scan.absmax);
    if (!format) {
        return text;
    }
    const Precision precision = *format;
    const double share = scan.absmax / largestFinite(precision);
    if (share > 1e-3) {
        text += FramePaneWords::tr(" (%1 % of %2)").arg(roundNumber(100 * share), qstr(name(precision)));
    }
    return text;
}

QString firstText(const MatrixPicture& picture)
{
    const Scan& scan = picture.scan;
    if (scan.firstNonFinite < 0 || picture.tiles.cols == 0) {
        return unknown;
    }
    return QStringLiteral("[%1, %2] %3")
        .arg(scan.firstNonFinite / picture.tiles.cols)
        .arg(scan.firstNonFinite % picture.tiles.cols)
        .arg(classWord(scan.firstClass));
}

QString capturedText(const Scan& scan)
{
    return scan.finite() ? FramePaneWords::tr("all finite")
                         : FramePaneWords::tr("%1 not finite").arg(countLabel(scan.nonFinite()));
}

/// Of a matrix too large to be held by its elements, what the tile around one tells.
QString largestAround(const MatrixPicture& picture, std::int64_t index, std::int64_t cols)
{
    const TileMap& tiles = picture.tiles;
    const auto tile =
        static_cast<std::size_t>(index / cols / tiles.tileRows * tiles.width + index % cols / tiles.tileCols);
    if (tile >= tiles.absmax.size()) {
        return unknown;
    }
    constexpr auto notFinite = classNan | classPosInf | classNegInf;
    const QString around = FramePaneWords::tr("of the %1 × %2 around it").arg(tiles.tileRows).arg(tiles.tileCols);
    return (tiles.classes[tile] & notFinite) != 0
        ? FramePaneWords::tr("not finite, at least one %1").arg(around)
        : FramePaneWords::tr("finite, at most %1, the largest %2").arg(roundNumber(tiles.absmax[tile], 4), around);
}

/// The element of the replayed output at the place where the captured one is first not finite.
QString replayedText(const Film& film, const MatrixPicture& captured)
{
    const Scan& scan = captured.scan;
    if (scan.firstNonFinite < 0 || film.frames.size() < 2) {
        return unknown;
    }
    const MatrixPicture& replayed = *lastReplayed(film).picture;
    if (captured.tiles.cols != replayed.tiles.cols) {
        return unknown;
    }
    const auto value =
        replayed.elementAt(scan.firstNonFinite / captured.tiles.cols, scan.firstNonFinite % captured.tiles.cols);
    return value ? exactNumber(*value) : largestAround(replayed, scan.firstNonFinite, captured.tiles.cols);
}

QString spectralText(const Gauge& gauge)
{
    QStringList parts;
    if (gauge.spectralBound) {
        parts << FramePaneWords::tr("≤ %1").arg(roundNumber(*gauge.spectralBound, 4));
    }
    if (gauge.spectralLimit) {
        parts << FramePaneWords::tr("limit %1").arg(roundNumber(*gauge.spectralLimit, 4));
    }
    if (gauge.spectralBound && gauge.spectralLimit && *gauge.spectralBound > *gauge.spectralLimit) {
        parts << FramePaneWords::tr("proves nothing");
    }
    return parts.isEmpty() ? unknown : parts.join(QStringLiteral(" · "));
}

QString largestQText(const Gauge& gauge)
{
    return gauge.absmaxQ ? roundNumber(*gauge.absmaxQ) : unknown;
}

QString gaugeText(const Cell& cell, int iteration, QString (*text)(const Gauge&))
{
    const auto gauge = std::ranges::find(cell.gauges, iteration, &Gauge::iteration);
    return gauge == cell.gauges.end() ? unknown : text(*gauge);
}

QString againstText(const Film& film)
{
    switch (film.mode) {
    case FilmMode::againstOutput:
        return FramePaneWords::tr("the captured output");
    case FilmMode::againstCell:
        return cellName(film.request.against.cell);
    default:
        return FramePaneWords::tr("fp64");
    }
}

bool isDifference(const Film& film, const FilmFrame& frame)
{
    return film.mode != FilmMode::values && !frame.captured;
}

/// "step 3 update, minus fp64" of a difference.
QString frameTitle(const Film& film, const FilmFrame& frame)
{
    const QString label = frameLabel(frame);
    return isDifference(film, frame) ? FramePaneWords::tr("%1, minus %2").arg(label, againstText(film)) : label;
}

/// Nothing overflows of what went through no format of a replay.
std::optional<Precision> formatOf(const Film& film, const FilmFrame& frame)
{
    return frame.captured || isDifference(film, frame) ? std::nullopt : std::optional(film.cell.precision);
}

/// Of this op in a film of differences, else of the output, as a sweep has measured it.
QString distanceText(const Film& film, const FilmFrame& frame)
{
    if (frame.captured) {
        return unknown; // the cell's is another output's
    }
    if (film.mode != FilmMode::values) {
        return frame.distance
            ? FramePaneWords::tr("%1, relative to %2").arg(roundNumber(*frame.distance), againstText(film))
            : unknown;
    }
    const auto& gauges = film.cell.gauges;
    const auto measured =
        std::ranges::find_if(gauges, [](const Gauge& each) { return each.distanceToFp64.has_value(); });
    return measured != gauges.end()
        ? FramePaneWords::tr("%1 to fp64, output").arg(roundNumber(*measured->distanceToFp64))
        : unknown;
}

/// A replay that no sweep made is told only by what its frames show.
QString outcomeText(const Film& film)
{
    if (!film.judged) {
        if (film.mode != FilmMode::values) {
            return unknown;
        }
        return film.firstNonFinite < 0
            ? FramePaneWords::tr("all finite")
            : FramePaneWords::tr("not finite from %1")
                  .arg(frameLabel(film.frames[static_cast<std::size_t>(film.firstNonFinite)]));
    }
    const auto own = std::ranges::find(film.cell.batches, film.batch, &BatchOutcome::batch);
    if (own == film.cell.batches.end()) {
        return outcomeWord(film.cell.outcome);
    }
    const QString word = outcomeWord(own->outcome);
    return own->firstNonFinite ? FramePaneWords::tr("%1 from %2").arg(word, opLabel(*own->firstNonFinite)) : word;
}

QString factName(FrameFact fact)
{
    switch (fact) {
    case FrameFact::variant:
        return FramePaneWords::tr("Cell");
    case FrameFact::format:
        return FramePaneWords::tr("Format");
    case FrameFact::outcome:
        return FramePaneWords::tr("Ends");
    case FrameFact::formula:
        return FramePaneWords::tr("Computes");
    case FrameFact::size:
        return FramePaneWords::tr("Size");
    case FrameFact::counts:
        return FramePaneWords::tr("NaN · +Inf · −Inf");
    case FrameFact::first:
        return FramePaneWords::tr("First non-finite");
    case FrameFact::replayed:
        return FramePaneWords::tr("Replay there");
    case FrameFact::largest:
        return FramePaneWords::tr("Largest |x|");
    case FrameFact::smallest:
        return FramePaneWords::tr("Smallest |x| > 0");
    case FrameFact::norm:
        return FramePaneWords::tr("Frobenius norm");
    case FrameFact::spectralNorm:
        return FramePaneWords::tr("‖X‖₂");
    case FrameFact::largestQ:
        return FramePaneWords::tr("max |Q|");
    case FrameFact::distance:
        return FramePaneWords::tr("Difference");
    }
    return {};
}

QString formatText(const Film& film)
{
    const QString overrides = overridesText(film.request.cell);
    const QString format =
        QStringLiteral("%1 · %2").arg(qstr(name(film.cell.precision)), qstr(name(film.cell.lowering)));
    return overrides.isEmpty() ? format : QStringLiteral("%1 · %2").arg(format, overrides);
}

/// "–" where it is not known.
QString factText(FrameFact fact, const Film& film, const FilmFrame& frame)
{
    const MatrixPicture& picture = *frame.picture;
    switch (fact) {
    case FrameFact::variant:
        return frame.captured ? frameLabel(frame) : qstr(film.cell.variant);
    case FrameFact::format:
        return frame.captured ? qstr(shortName(picture.dtype)) : formatText(film);
    case FrameFact::outcome:
        return frame.captured ? capturedText(picture.scan) : outcomeText(film);
    case FrameFact::formula:
        return frame.captured ? frameLabel(frame) : opFormula(frame.name);
    case FrameFact::size:
        return QStringLiteral("%1 × %2").arg(picture.tiles.rows).arg(picture.tiles.cols);
    case FrameFact::counts:
        return countsText(picture.scan);
    case FrameFact::first:
        return firstText(picture);
    case FrameFact::replayed:
        return frame.captured ? replayedText(film, picture) : unknown;
    case FrameFact::largest:
        return finiteText(picture.scan, largestText(picture.scan, formatOf(film, frame)));
    case FrameFact::smallest:
        return finiteText(picture.scan, roundNumber(picture.scan.minNonzero, 5));
    case FrameFact::norm:
        return finiteText(picture.scan, roundNumber(std::sqrt(picture.scan.sumSquares), 6));
    case FrameFact::spectralNorm:
        return gaugeText(film.cell, frame.iteration, spectralText);
    case FrameFact::largestQ:
        return gaugeText(film.cell, frame.iteration, largestQText);
    case FrameFact::distance:
        return distanceText(film, frame);
    }
    return {};
}

} // namespace

FramePane::FramePane(HeatView* view, QWidget* parent)
    : PaneFrame(tr("Frame"), parent)
    , m_view(view)
{
    auto* maps = new QHBoxLayout;
    maps->setSpacing(grid(2));
    auto* scales = new QHBoxLayout;
    scales->setSpacing(grid(2));
    for (SideWidgets& side : m_sides) {
        side.map = new FrameMap(view, this);
        side.map->setMinimumHeight(grid(12));
        side.map->setMessage(tr("No frame selected"));
        maps->addWidget(side.map, 1);
        side.scale = new ScaleBar(this);
        scales->addWidget(side.scale, 1);
        describe(*side.map);
        connect(side.map, &FrameMap::detailShown, this, &FramePane::updateReadout);
        const auto showCover = [&side] { side.scale->setCover(side.map->cover()); };
        connect(side.map, &FrameMap::detailShown, side.scale, showCover);
        connect(side.map, &FrameMap::visibleChanged, side.scale, showCover);
    }
    map(Side::first)->setAccessibleName(tr("Selected frame"));
    map(Side::second)->setAccessibleName(tr("The same frame of the second cell"));
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(grid(3), 0, grid(3), grid(2));
    inner->setSpacing(grid(1));
    inner->addLayout(maps, 1);
    inner->addLayout(scales);
    // In a low window they scroll: the frame keeps its room, and so does what lies above the pane.
    auto* facts = new PartsScroll(this);
    facts->setMinimumHeight(grid(14));
    facts->parts()->addWidget(new ClassLegend(this));
    facts->parts()->addLayout(buildFacts());
    inner->addWidget(facts);
    body()->addLayout(inner, 1);
    connect(m_view, &HeatView::cursorChanged, this, &FramePane::updateReadout);
    setComparing(false);
    setFrame(nullptr, -1);
}

void FramePane::describe(FrameMap& map)
{
    map.setCaption([&map] {
        const Film* film = map.film();
        if (!film) {
            return PictureCaption {tr("Frame")};
        }
        const QString doubt = map.hint().isEmpty() ? QString() : QStringLiteral(" · ") + map.hint();
        const QString cell = map.frame()->captured ? QString() : cellLabel(film->cell, film->request.cell);
        return PictureCaption {
            frameTitle(*film, *map.frame()), cell + doubt, heatLegendText(map.scale()), qstr(film->cell.capture)};
    });
}

QGridLayout* FramePane::buildFacts()
{
    m_facts = new QGridLayout;
    m_facts->setVerticalSpacing(2);
    m_cursorName = makeMutedLabel(this, tr("Under cursor"));
    for (int i = 0; i < frameFactCount; ++i) {
        m_names[static_cast<std::size_t>(i)] = makeMutedLabel(this, factName(static_cast<FrameFact>(i)));
    }
    for (SideWidgets& side : m_sides) {
        side.cursor = makeValue();
        side.cursor->setLines(2); // nothing moves under a cursor that moves
        std::ranges::generate(side.facts, [this] { return makeValue(); });
    }
    return m_facts;
}

/// As wide as its column. A long number goes on in the next line, so that its last digits are seen.
ElidedLabel* FramePane::makeValue()
{
    auto* value = new ElidedLabel(this);
    value->setLines(1, 2);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    value->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    return value;
}

/// The values of two sides stand below their maps; names beside them would leave room for half a value.
void FramePane::placeFacts()
{
    int row = 0;
    const auto place = [&](QLabel* name, ElidedLabel* first, ElidedLabel* second) {
        if (m_comparing) {
            m_facts->addWidget(name, row++, 0, 1, 2);
        } else {
            m_facts->addWidget(name, row, 0, Qt::AlignTop);
        }
        m_facts->addWidget(first, row, m_comparing ? 0 : 1);
        m_facts->addWidget(second, row++, m_comparing ? 1 : 2);
    };
    place(m_cursorName, m_sides[0].cursor, m_sides[1].cursor);
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        place(m_names[i], m_sides[0].facts[i], m_sides[1].facts[i]);
    }
    m_facts->setColumnStretch(0, m_comparing ? 1 : 0);
    m_facts->setColumnStretch(1, 1);
    m_facts->setHorizontalSpacing(m_comparing ? grid(2) : grid(3));
}

/// Two columns leave room for what tells two cells apart.
bool FramePane::isShown(FrameFact fact) const
{
    const FilmFrame* frame = m_sides[0].map->frame();
    const Film* film = m_sides[0].map->film();
    const bool isCaptured = frame && frame->captured;
    const bool isTensor = !isCaptured && !(film && frame && isDifference(*film, *frame));
    switch (fact) {
    case FrameFact::variant:
    case FrameFact::format:
    case FrameFact::outcome:
        return m_comparing;
    case FrameFact::counts:
    case FrameFact::first:
    case FrameFact::largest:
        return true;
    case FrameFact::distance:
        return m_comparing || (film && film->mode != FilmMode::values);
    case FrameFact::replayed:
        return !m_comparing && isCaptured;
    case FrameFact::spectralNorm:
    case FrameFact::largestQ:
        return !m_comparing && isTensor;
    default:
        return !m_comparing;
    }
}

void FramePane::setComparing(bool comparing)
{
    m_comparing = comparing;
    map(Side::second)->setVisible(comparing);
    placeFacts();
    if (!comparing) {
        setFrame(nullptr, -1, Side::second);
    }
    showRows();
    updateScale();
}

void FramePane::showRows()
{
    for (int i = 0; i < frameFactCount; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool shown = isShown(static_cast<FrameFact>(i));
        m_names[at]->setVisible(shown);
        m_sides[0].facts[at]->setVisible(shown);
        m_sides[1].facts[at]->setVisible(shown && m_comparing);
    }
    m_sides[1].cursor->setVisible(m_comparing);
}

void FramePane::setFrame(std::shared_ptr<const Film> film, int frame, Side side)
{
    SideWidgets& widgets = sideOf(side);
    if (film && side == Side::first && std::exchange(m_file, film->request.capture.path) != m_file) {
        m_view->reset();
        m_view->clearCursor();
    }
    widgets.map->setMessage(film ? tr("This cell has no such op in this step") : tr("No frame selected"));
    widgets.map->setFrame(std::move(film), frame);
    fillFacts(widgets);
    showRows();
    updateScale();
    updateReadout();
}

void FramePane::fillFacts(SideWidgets& side)
{
    const Film* film = side.map->film();
    const FilmFrame* frame = side.map->frame();
    for (int i = 0; i < frameFactCount; ++i) {
        const auto fact = static_cast<FrameFact>(i);
        side.facts[static_cast<std::size_t>(i)]->setFullText(
            frame ? factText(fact, *film, *frame) : QStringLiteral("–"));
    }
    if (side.map != map(Side::first)) {
        return;
    }
    const bool birth = film && film->birth >= 0 && frame == &film->frames[static_cast<std::size_t>(film->birth)];
    const QString title = frame ? frameTitle(*film, *frame) : QString();
    setNote(birth ? tr("%1 · birth").arg(title) : title);
}

/// Magnitudes beside each other are on one scale; a difference keeps its own.
void FramePane::updateScale()
{
    FrameMap* first = map(Side::first);
    FrameMap* second = map(Side::second);
    const bool shared = m_comparing && canShareScale(first->film(), second->film());
    for (SideWidgets& side : m_sides) {
        LogScale scale = side.map->ownScale();
        if (shared) {
            const auto a = ownScale(*first->frame());
            const auto b = ownScale(*second->frame());
            scale = a && b ? united(*a, *b) : a ? *a : b.value_or(scale);
        }
        side.map->setScale(scale);
        side.scale->setScale(scale);
        side.scale->setCover(side.map->cover());
    }
    sideOf(Side::first).scale->setNote(shared ? tr("for both") : QString());
    sideOf(Side::first).scale->setVisible(first->picture() || !second->picture());
    sideOf(Side::second).scale->setVisible(m_comparing && !shared && second->picture());
}

void FramePane::updateReadout()
{
    QStringList places;
    for (SideWidgets& side : m_sides) {
        const QString value = side.map->elementUnderCursor();
        side.cursor->setFullText(value.isEmpty() ? QStringLiteral("–") : value);
        if (!value.isEmpty()) {
            places << QStringLiteral("%1 %2").arg(frameTitle(*side.map->film(), *side.map->frame()), value);
        }
    }
    const QString readout = places.join(QStringLiteral("   |   "));
    if (std::exchange(m_readout, readout) != readout) {
        Q_EMIT readoutChanged(readout);
    }
}

QString FramePane::factsText() const
{
    const auto values = [this](auto label) {
        const QString first = label(m_sides[0])->fullText();
        return m_comparing ? QStringLiteral("%1 | %2").arg(first, label(m_sides[1])->fullText()) : first;
    };
    QStringList lines {tr("Under cursor: %1").arg(values([](const SideWidgets& side) { return side.cursor; }))};
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        if (isShown(static_cast<FrameFact>(i))) {
            lines << QStringLiteral("%1: %2").arg(
                m_names[i]->text(), values([i](const SideWidgets& side) { return side.facts[i]; }));
        }
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace nanscope
