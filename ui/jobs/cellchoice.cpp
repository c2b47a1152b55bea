// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/cellchoice.h"

#include <algorithm>
#include <utility>

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
        order.names = qstrs(judged->variant.names);
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

bool mayHaveRun(const std::string& variant, const CaptureVerdict* judged)
{
    return !judged || judged->variant.names.empty() || std::ranges::count(judged->variant.names, variant) > 0;
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

std::optional<ReplayChoice> explainingReplay(const CaptureVerdict* judged)
{
    if (!judged || (judged->blame != Blame::numerics && judged->blame != Blame::undecided)) {
        return std::nullopt;
    }
    const auto shows = [](const MemberResult& member) {
        return std::pair {member.reproducing, member.roundings - member.finite};
    };
    const auto best = std::ranges::max_element(judged->members, {}, shows);
    if (best == judged->members.end() || shows(*best) == std::pair {0, 0}) {
        return std::nullopt;
    }
    const auto precision = parsePrecision(best->precision);
    return precision ? std::optional(ReplayChoice {best->variant, *precision}) : std::nullopt;
}

const Cell* firstToSee(
    const std::vector<const Cell*>& cells, const CaptureVerdict* judged, const replay::Catalogue& catalogue)
{
    const auto newestOf = [&](const ReplayChoice& choice) -> const Cell* {
        const auto found = std::find_if(cells.rbegin(), cells.rend(), [&](const Cell* cell) {
            return cell->error.empty() && cell->variant == choice.variant && cell->precision == choice.precision;
        });
        return found == cells.rend() ? nullptr : *found;
    };
    // Any other cell would show something else than the verdict says.
    if (const auto explains = explainingReplay(judged)) {
        return newestOf(*explains);
    }
    for (const QString& name : variantOrder(judged, catalogue).names) {
        const auto variant = catalogue.find(name.toStdString());
        const Cell* found = variant ? newestOf({std::string((*variant)->name), (*variant)->precision}) : nullptr;
        if (found) {
            return found;
        }
    }
    return cells.empty() || !cells.back()->error.empty() ? nullptr : cells.back();
}

std::optional<ReplayChoice> quickReplay(
    const Capture& capture, const CaptureVerdict* judged, const replay::Catalogue& catalogue)
{
    const bool nameless = !judged || judged->variant.names.empty();
    if (nameless || !capture.input.scanned() || !capture.input.total().finite() || !isQuick(capture)) {
        return std::nullopt;
    }
    if (auto explains = explainingReplay(judged)) {
        return explains;
    }
    const auto variant = catalogue.find(judged->variant.names.front());
    return variant ? std::optional(ReplayChoice {std::string((*variant)->name), (*variant)->precision}) : std::nullopt;
}

} // namespace nanscope
