// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/diagnose/recovery/trouble.h"

namespace nanscope::diagnose {

namespace {

/// As the line prints it. A progress bar prints many steps on one line, and a step more than once.
double lossAt(const Proof& proof, const std::vector<const Series*>& losses)
{
    double loss = std::numeric_limits<double>::quiet_NaN();
    for (const auto* series : losses) {
        for (auto point = std::ranges::lower_bound(series->points, proof.line, {}, &Point::line);
             point != series->points.end() && point->line == proof.line; ++point) {
            loss = point->step == proof.step && point->state == PointState::finite ? point->value : loss;
        }
    }
    return loss;
}

} // namespace

std::int64_t ProcessLife::first() const
{
    auto least = std::numeric_limits<std::int64_t>::max();
    for (const auto* sign : {&poisonedFrom, &doubtFrom, &tornFrom}) {
        least = *sign ? std::min(least, (*sign)->weights) : least;
    }
    return least;
}

std::optional<Proof> ProcessLife::proofOf(std::int64_t n) const
{
    auto found = proofs.from(n);
    if (!found || found->proof.weights >= first()) {
        return std::nullopt;
    }
    if (!found->lossKnown) {
        found->proof.loss = lossAt(found->proof, sources[found->proof.source].losses);
    }
    return found->proof;
}

bool ProcessLife::wrote(const std::string& source, std::int64_t line) const
{
    return std::ranges::any_of(
        sources, [&](const Source& one) { return one.file == source && line >= one.firstLine && line < one.endLine; });
}

EvidenceLine ProcessLife::lineOf(const Proof& proof) const
{
    return {fmt::format("loss is {:.4g} at step {}", proof.loss, proof.step),
        fmt::format("{}:{}", sources[proof.source].file, proof.line)};
}

} // namespace nanscope::diagnose
