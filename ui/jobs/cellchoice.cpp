// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/cellchoice.h"

#include <algorithm>

#include "core/model/verdict.h"
#include "ui/shared/text.h"

namespace nanscope {

namespace {

/// Rows x columns x the smaller of them: under a second on two cores.
constexpr std::int64_t quickWork = std::int64_t {1} << 30;

bool isQuick(const Capture& capture)
{
    const MatrixShape shape = matrixShape(capture.input.shape);
    return shape.rows * shape.cols * std::min(shape.rows, shape.cols) <= quickWork;
}

} // namespace

VariantOrder variantOrder(const CaptureVerdict* judged, const replay::Catalogue& catalogue)
{
    VariantOrder order;
    // A set of everything distinguishes nothing.
    const std::vector<const replay::Variant*> known = catalogue.all();
    if (judged && judged->variant.names.size() < known.size()) {
        for (const std::string& variant : judged->variant.names) {
            order.names << qstr(variant);
        }
    }
    order.identified = static_cast<int>(order.names.size());
    for (const replay::Variant* variant : known) {
        if (!order.names.contains(qstr(variant->name))) {
            order.names << qstr(variant->name);
        }
    }
    return order;
}

QStringList worthSweeping(
    const VariantOrder& order, const std::vector<const Cell*>& swept, const replay::Catalogue& catalogue)
{
    QStringList worth;
    std::vector<std::vector<replay::Coefficients>> schedules;
    for (const QString& name : order.names) {
        const auto variant = catalogue.find(name.toStdString());
        // Who adds a variant wants to see it.
        const bool mayHaveRun = worth.size() < order.identified || catalogue.own(name.toStdString()) != nullptr;
        const bool has = std::ranges::any_of(swept, [&](const Cell* cell) { return qstr(cell->variant) == name; });
        const bool known = variant && std::ranges::find(schedules, (*variant)->steps) != schedules.end();
        if (!mayHaveRun && !has && (known || !variant)) {
            continue;
        }
        worth << name;
        if (variant) {
            schedules.push_back((*variant)->steps);
        }
    }
    return worth;
}

std::vector<const Cell*> cellsOf(const std::vector<Cell>& cells, const Capture& capture)
{
    std::vector<const Cell*> own;
    for (const Cell& cell : cells) {
        if (cell.capture == capture.file) {
            own.push_back(&cell);
        }
    }
    return own;
}

const Cell* firstToSee(
    const std::vector<const Cell*>& cells, const VariantOrder& order, const replay::Catalogue& catalogue)
{
    for (const QString& name : order.names) {
        const auto variant = catalogue.find(name.toStdString());
        const auto found = std::find_if(cells.rbegin(), cells.rend(), [&](const Cell* cell) {
            return variant && cell->error.empty() && cell->variant == (*variant)->name
                && cell->precision == (*variant)->precision;
        });
        if (found != cells.rend()) {
            return *found;
        }
    }
    return cells.empty() || !cells.back()->error.empty() ? nullptr : cells.back();
}

const replay::Variant* quickReplay(
    const Capture& capture, const CaptureVerdict* judged, const replay::Catalogue& catalogue)
{
    const VariantOrder order = variantOrder(judged, catalogue);
    if (order.identified == 0 || !capture.input.scanned() || !capture.input.total().finite() || !isQuick(capture)) {
        return nullptr;
    }
    const auto variant = catalogue.find(order.names.front().toStdString());
    return variant ? *variant : nullptr;
}

} // namespace nanscope
