// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/framefacts.h"

#include <algorithm>
#include <cmath>

#include <QCoreApplication>
#include <QStringList>

#include "ui/plots/filmstrip.h"
#include "ui/text.h"

namespace nanscope {

namespace {

struct Words
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::FramePane)
};

const QString unknown = QStringLiteral("–");

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
        text += Words::tr(" = %1 × the largest %2").arg(roundNumber(share), qstr(name(precision)));
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

QString spectralText(const Gauge& gauge)
{
    QStringList parts;
    if (gauge.spectralBound) {
        parts << Words::tr("≤ %1").arg(roundNumber(*gauge.spectralBound, 4));
    }
    if (gauge.spectralLimit) {
        parts << Words::tr("limit %1").arg(roundNumber(*gauge.spectralLimit, 4));
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
        return Words::tr("the captured output");
    case FilmMode::againstCell:
        return cellName(film.request.against.cell);
    default:
        return Words::tr("fp64");
    }
}

/// Of this op in a film of differences, else of the output, as a sweep has measured it.
QString distanceText(const Film& film, const FilmFrame& frame)
{
    if (film.mode != FilmMode::values) {
        return frame.distance ? Words::tr("%1, relative to %2").arg(roundNumber(*frame.distance), againstText(film))
                              : unknown;
    }
    const auto& gauges = film.cell.gauges;
    const auto measured =
        std::ranges::find_if(gauges, [](const Gauge& each) { return each.distanceToFp64.has_value(); });
    return measured != gauges.end() ? Words::tr("%1 to fp64, output").arg(roundNumber(*measured->distanceToFp64))
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
            ? Words::tr("all finite")
            : Words::tr("not finite from %1")
                  .arg(frameLabel(film.frames[static_cast<std::size_t>(film.firstNonFinite)]));
    }
    const auto own = std::ranges::find(film.cell.batches, film.batch, &BatchOutcome::batch);
    if (own == film.cell.batches.end()) {
        return outcomeWord(film.cell.outcome);
    }
    const QString word = outcomeWord(own->outcome);
    return own->firstNonFinite ? Words::tr("%1 from %2").arg(word, opLabel(*own->firstNonFinite)) : word;
}

} // namespace

QString factName(FrameFact fact)
{
    switch (fact) {
    case FrameFact::variant:
        return Words::tr("Cell");
    case FrameFact::format:
        return Words::tr("Format");
    case FrameFact::outcome:
        return Words::tr("Ends");
    case FrameFact::formula:
        return Words::tr("Computes");
    case FrameFact::size:
        return Words::tr("Size");
    case FrameFact::counts:
        return Words::tr("NaN · +Inf · −Inf");
    case FrameFact::first:
        return Words::tr("First non-finite");
    case FrameFact::largest:
        return Words::tr("Largest |x|");
    case FrameFact::smallest:
        return Words::tr("Smallest |x| > 0");
    case FrameFact::norm:
        return Words::tr("Frobenius norm");
    case FrameFact::spectralNorm:
        return Words::tr("‖X‖₂");
    case FrameFact::largestQ:
        return Words::tr("max |Q|");
    case FrameFact::distance:
        return Words::tr("Difference");
    }
    return {};
}

QString factText(FrameFact fact, const Film& film, const FilmFrame& frame)
{
    const MatrixPicture& picture = *frame.picture;
    switch (fact) {
    case FrameFact::variant:
        return qstr(film.cell.variant);
    case FrameFact::format:
        return QStringLiteral("%1 · %2").arg(qstr(name(film.cell.precision)), qstr(name(film.cell.lowering)));
    case FrameFact::outcome:
        return outcomeText(film);
    case FrameFact::formula:
        return opFormula(frame.name);
    case FrameFact::size:
        return QStringLiteral("%1 × %2").arg(picture.tiles.rows).arg(picture.tiles.cols);
    case FrameFact::counts:
        return countsText(picture.scan);
    case FrameFact::first:
        return firstText(picture);
    case FrameFact::largest:
        return largestText(picture.scan, film.cell.precision);
    case FrameFact::smallest:
        return roundNumber(picture.scan.minNonzero, 5);
    case FrameFact::norm:
        return roundNumber(std::sqrt(picture.scan.sumSquares), 6);
    case FrameFact::spectralNorm:
        return gaugeText(film.cell, frame.iteration, spectralText);
    case FrameFact::largestQ:
        return gaugeText(film.cell, frame.iteration, largestQText);
    case FrameFact::distance:
        return distanceText(film, frame);
    }
    return {};
}

} // namespace nanscope
