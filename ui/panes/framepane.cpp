// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/framepane.h"

#include <algorithm>
#include <cmath>

#include <QFormLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/panes/elementtext.h"
#include "ui/panes/elidedlabel.h"
#include "ui/plots/filmstrip.h"
#include "ui/plots/heatlegend.h"
#include "ui/plots/heatmap.h"
#include "ui/plots/heatview.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

QString countsText(const Scan& scan)
{
    return QStringLiteral("%1 · %2 · %3").arg(countLabel(scan.nan), countLabel(scan.posInf), countLabel(scan.negInf));
}

/// "58,208 = 0.89 × the largest fp16".
QString largestText(const Scan& scan, Precision precision)
{
    const double share = scan.absmax / largestFinite(precision);
    QString text = exactNumber(scan.absmax);
    if (share > 1e-3) {
        text += FramePane::tr(" = %1 × the largest %2").arg(roundNumber(share), qstr(name(precision)));
    }
    return text;
}

QString firstText(const MatrixPicture& picture)
{
    const Scan& scan = picture.scan;
    if (scan.firstNonFinite < 0 || picture.tiles.cols == 0) {
        return QStringLiteral("–");
    }
    return QStringLiteral("[%1, %2] %3")
        .arg(scan.firstNonFinite / picture.tiles.cols)
        .arg(scan.firstNonFinite % picture.tiles.cols)
        .arg(classWord(scan.firstClass));
}

const Gauge* gaugeOf(const Cell& cell, int iteration)
{
    const auto found = std::ranges::find(cell.gauges, iteration, &Gauge::iteration);
    return found == cell.gauges.end() ? nullptr : &*found;
}

QString gaugeText(const Cell& cell, int iteration)
{
    const Gauge* gauge = gaugeOf(cell, iteration);
    QStringList parts;
    if (gauge && gauge->spectralBound) {
        parts << FramePane::tr("‖X‖₂ ≤ %1").arg(roundNumber(*gauge->spectralBound, 4));
    }
    if (gauge && gauge->spectralLimit) {
        parts << FramePane::tr("limit %1").arg(roundNumber(*gauge->spectralLimit, 4));
    }
    if (gauge && gauge->absmaxQ) {
        parts << FramePane::tr("max |Q| %1").arg(roundNumber(*gauge->absmaxQ));
    }
    return parts.isEmpty() ? QStringLiteral("–") : parts.join(QStringLiteral(" · "));
}

} // namespace

FramePane::FramePane(HeatView* view, QWidget* parent)
    : PaneFrame(tr("Frame"), parent)
    , m_view(view)
    , m_map(new HeatMap(view, this))
    , m_scale(new ScaleBar(this))
{
    m_map->setAccessibleName(tr("Selected frame"));
    m_map->setMinimumHeight(grid(12));
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(grid(3), 0, grid(3), grid(2));
    inner->setSpacing(grid(1));
    inner->addWidget(m_map, 1);
    inner->addWidget(m_scale);
    inner->addWidget(new ClassLegend(this));
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(grid(4));
    form->setVerticalSpacing(2);
    m_cursor = addFact(*form, tr("Under cursor"));
    m_formula = addFact(*form, tr("Computes"));
    m_shape = addFact(*form, tr("Size"));
    m_counts = addFact(*form, tr("NaN · +Inf · −Inf"));
    m_first = addFact(*form, tr("First non-finite"));
    m_largest = addFact(*form, tr("Largest |x|"));
    m_smallest = addFact(*form, tr("Smallest |x| > 0"));
    m_norm = addFact(*form, tr("Frobenius norm"));
    m_gauge = addFact(*form, tr("Gauges"));
    m_distance = addFact(*form, tr("Difference"));
    inner->addLayout(form);
    body()->addLayout(inner, 1);
    connect(m_view, &HeatView::cursorChanged, this, &FramePane::updateReadout);
    setFrame(nullptr, -1);
}

FramePane::Fact FramePane::addFact(QFormLayout& form, const QString& name)
{
    auto* label = new QLabel(name, this);
    label->setObjectName(QStringLiteral("muted"));
    auto* value = new ElidedLabel(this);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form.addRow(label, value);
    return {label, value};
}

void FramePane::setFrame(std::shared_ptr<const Film> film, int frame)
{
    const bool there = film && frame >= 0 && frame < static_cast<int>(film->frames.size());
    m_film = there ? std::move(film) : nullptr;
    m_frame = there ? frame : -1;
    m_map->setMessage(tr("No frame selected"));
    m_map->setPicture(m_film ? m_film->frames[static_cast<std::size_t>(m_frame)].picture : nullptr);
    m_scale->setScale(m_map->scale());
    fillFacts();
    updateReadout();
}

void FramePane::fillFacts()
{
    if (!m_film) {
        setNote({});
        for (const Fact& fact :
            {m_formula, m_shape, m_counts, m_first, m_largest, m_smallest, m_norm, m_gauge, m_distance}) {
            fact.value->setFullText(QStringLiteral("–"));
        }
        return;
    }
    const FilmFrame& frame = m_film->frames[static_cast<std::size_t>(m_frame)];
    const MatrixPicture& picture = *frame.picture;
    setNote(m_frame == m_film->birth ? tr("%1 · birth").arg(frameLabel(frame)) : frameLabel(frame));
    m_formula.value->setFullText(opFormula(frame.name));
    m_shape.value->setFullText(QStringLiteral("%1 × %2").arg(picture.tiles.rows).arg(picture.tiles.cols));
    m_counts.value->setFullText(countsText(picture.scan));
    m_first.value->setFullText(firstText(picture));
    m_largest.value->setFullText(largestText(picture.scan, m_film->cell.precision));
    m_smallest.value->setFullText(roundNumber(picture.scan.minNonzero, 5));
    m_norm.value->setFullText(roundNumber(std::sqrt(picture.scan.sumSquares), 6));
    m_gauge.value->setFullText(gaugeText(m_film->cell, frame.iteration));
    m_distance.value->setFullText(
        frame.distance ? tr("%1, relative").arg(roundNumber(*frame.distance)) : QStringLiteral("–"));
    const bool compared = m_film->mode != FilmMode::values;
    m_distance.name->setVisible(compared);
    m_distance.value->setVisible(compared);
}

QString FramePane::valueUnderCursor() const
{
    const auto at = m_film ? m_map->cursorElement() : std::nullopt;
    return at ? elementText(*m_map->picture(), at->row, at->col) : QString();
}

void FramePane::updateReadout()
{
    const QString value = valueUnderCursor();
    m_cursor.value->setFullText(value.isEmpty() ? QStringLiteral("–") : value);
    if (m_film && !value.isEmpty()) {
        Q_EMIT readoutChanged(
            QStringLiteral("%1 %2").arg(frameLabel(m_film->frames[static_cast<std::size_t>(m_frame)]), value));
    }
}

QString FramePane::factsText() const
{
    QStringList lines;
    for (const Fact& fact : {m_cursor, m_formula, m_shape, m_counts, m_first, m_largest, m_smallest, m_norm, m_gauge}) {
        lines << QStringLiteral("%1: %2").arg(fact.name->text(), fact.value->fullText());
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace nanscope
