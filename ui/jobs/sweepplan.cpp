// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/sweepplan.h"

#include <algorithm>
#include <utility>

#include "ui/film/film.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

template <class T>
bool contains(const std::vector<T>& all, const T& one)
{
    return std::ranges::find(all, one) != all.end();
}

std::vector<Precision> precisionsOf(const SweepChoice& choice)
{
    const auto usual = usualPrecisions();
    return choice.precisions.empty() ? std::vector<Precision>(usual.begin(), usual.end()) : choice.precisions;
}

/// Of cells that did not fail.
std::vector<replay::CellRequest> doneOf(const SweepSubject& subject)
{
    std::vector<replay::CellRequest> done;
    for (const Cell* cell : subject.cells) {
        if (cell->error.empty()) {
            done.push_back(replay::requestOf(*cell, subject.capture.epsilon, subject.catalogue));
        }
    }
    return done;
}

QString settingOf(const replay::CellRequest& cell, const replay::Catalogue& catalogue)
{
    const auto variant = catalogue.find(cell.variant);
    QStringList parts {overridesText(cell)};
    if (!variant || (*variant)->lowering != cell.lowering) {
        parts.prepend(qstr(name(cell.lowering)));
    }
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

/// A number that is the usual one of this variant is left out, so that its cells are those that are there.
replay::CellRequest chosenCell(const SweepSubject& subject, const std::string& name)
{
    replay::CellRequest cell;
    cell.variant = name;
    cell.epsilon = subject.choice.epsilon;
    cell.steps = subject.choice.steps;
    if (const auto variant = subject.catalogue.find(name)) {
        cell.lowering = (*variant)->lowering;
        // Captures hold it as a float, of which 1e-8 is not the double.
        const double usual = replay::epsilonUsed(**variant, subject.capture.epsilon);
        if (cell.epsilon && static_cast<float>(*cell.epsilon) == static_cast<float>(usual)) {
            cell.epsilon.reset();
        }
        if (cell.steps == static_cast<int>((*variant)->steps.size())) {
            cell.steps.reset();
        }
    }
    return cell;
}

std::vector<replay::CellRequest> wantedRows(const SweepSubject& subject)
{
    std::vector<replay::CellRequest> rows;
    for (const QString& variant : subject.variants) {
        replay::CellRequest cell = chosenCell(subject, variant.toStdString());
        const auto own = std::vector {cell.lowering};
        for (const Lowering lowering : subject.choice.lowerings.empty() ? own : subject.choice.lowerings) {
            for (const QString& device : subject.devices) {
                cell.lowering = lowering;
                cell.device = device.toStdString();
                rows.push_back(cell);
            }
        }
    }
    return rows;
}

/// As a row has it.
replay::CellRequest inAnyFormat(replay::CellRequest cell)
{
    cell.precision = replay::CellRequest().precision;
    return cell;
}

bool isComplete(const replay::CellRequest& row, const std::vector<Precision>& precisions,
    const std::vector<replay::CellRequest>& done)
{
    return std::ranges::all_of(precisions, [&](Precision precision) {
        replay::CellRequest cell = row;
        cell.precision = precision;
        return contains(done, cell);
    });
}

} // namespace

SweepGrid sweepGrid(const SweepSubject& subject)
{
    SweepGrid grid;
    grid.wanted = precisionsOf(subject.choice);
    std::vector<Precision> shown = grid.wanted;
    std::vector<replay::CellRequest> rows = wantedRows(subject);
    const std::size_t wanted = rows.size();
    const auto show = [&](const replay::CellRequest& cell) {
        shown.push_back(cell.precision);
        if (const auto row = inAnyFormat(cell); !contains(rows, row)) {
            rows.push_back(row);
        }
    };
    for (const Cell* cell : subject.cells) {
        show(replay::requestOf(*cell, subject.capture.epsilon, subject.catalogue));
    }
    std::ranges::for_each(subject.running, show);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto place = subject.order.names.indexOf(qstr(rows[i].variant));
        if (place >= 0) {
            grid.rows.push_back(
                {rows[i], place < subject.order.identified, i < wanted, settingOf(rows[i], subject.catalogue)});
        }
    }
    std::ranges::stable_sort(
        grid.rows, {}, [&](const SweepRow& row) { return subject.order.names.indexOf(qstr(row.cell.variant)); });
    std::ranges::copy_if(sweepPrecisions(), std::back_inserter(grid.columns),
        [&](Precision precision) { return contains(shown, precision); });
    return grid;
}

namespace {

std::vector<replay::CellRequest> cellsOfRows(
    const SweepSubject& subject, const std::vector<replay::CellRequest>& rows, const std::vector<Precision>& precisions)
{
    std::vector<replay::CellRequest> cells;
    for (const QString& variant : subject.variants) {
        for (const Precision precision : precisions) {
            for (replay::CellRequest cell : rows) {
                cell.precision = precision;
                if (qstr(cell.variant) == variant) {
                    cells.push_back(std::move(cell));
                }
            }
        }
    }
    return cells;
}

std::vector<Precision> sortedPrecisions(const SweepSubject& subject)
{
    std::vector<Precision> precisions = precisionsOf(subject.choice);
    std::ranges::sort(precisions);
    return precisions;
}

} // namespace

std::vector<replay::CellRequest> cellsToSweep(const SweepSubject& subject)
{
    const std::vector<replay::CellRequest> done = doneOf(subject);
    const std::vector<Precision> precisions = sortedPrecisions(subject);
    std::vector<replay::CellRequest> rows = wantedRows(subject);
    std::erase_if(rows, [&](const replay::CellRequest& row) { return isComplete(row, precisions, done); });
    return cellsOfRows(subject, rows, precisions);
}

std::vector<replay::CellRequest> cellsWanted(const SweepSubject& subject)
{
    return cellsOfRows(subject, wantedRows(subject), sortedPrecisions(subject));
}

std::vector<replay::CellRequest> restOnCpu(const std::vector<replay::CellRequest>& ordered, const SweepSubject& subject)
{
    const std::vector<replay::CellRequest> done = doneOf(subject);
    std::vector<replay::CellRequest> rest;
    for (replay::CellRequest cell : ordered) {
        const auto variant = subject.catalogue.find(cell.variant);
        if (cell.device == "cpu" || contains(done, cell) || !variant || !replay::checkSteps(**variant, cell.steps)) {
            continue;
        }
        cell.device = "cpu";
        if (!contains(done, cell) && !contains(rest, cell)) {
            rest.push_back(std::move(cell));
        }
    }
    return rest;
}

rpc::SweepOrder orderOf(const CaptureRef& capture, std::vector<replay::CellRequest> cells,
    const replay::Catalogue& catalogue, const rpc::KeptIn& kept)
{
    rpc::SweepOrder order;
    replay::SweepRequest& request = order.request;
    request.captures = {capture};
    request.devices.clear();
    const auto add = [](auto& all, const auto& one) {
        if (!contains(all, one)) {
            all.push_back(one);
        }
    };
    for (const replay::CellRequest& cell : cells) {
        add(request.variants, cell.variant);
        add(request.precisions, cell.precision);
        add(request.devices, cell.device);
    }
    request.catalogue = catalogue;
    request.cells = std::move(cells);
    order.kept = kept;
    return order;
}

} // namespace nanscope
