// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/svgbirths.h"

#include <algorithm>

#include <fmt/format.h>

namespace nanscope::report {

namespace {

constexpr double labelRoom = 120;
constexpr double lineRoom = 2;

std::string labelOf(const CaptureVerdict& birth)
{
    return birth.rank ? fmt::format("birth, rank {}", *birth.rank) : std::string("birth");
}

std::vector<BirthLine> allBirths(const Diagnosis& diagnosis, const Axis& x)
{
    std::vector<BirthLine> births;
    for (const auto& verdict : diagnosis.captures) {
        if (verdict.role == Role::birth && verdict.step) {
            const auto step =
                (static_cast<double>(verdict.step->first) + static_cast<double>(verdict.step->second)) / 2;
            births.push_back({x.at(step), labelOf(verdict)});
        }
    }
    std::stable_sort(births.begin(), births.end(), [](const BirthLine& a, const BirthLine& b) { return a.x < b.x; });
    return births;
}

} // namespace

std::vector<BirthLine> birthLines(const Diagnosis& diagnosis, const Axis& x)
{
    std::vector<BirthLine> lines;
    std::size_t labelled = 0;
    int together = 0;
    for (auto& birth : allBirths(diagnosis, x)) {
        if (lines.empty() || birth.x - lines[labelled].x > labelRoom) {
            labelled = lines.size();
            together = 1;
            lines.push_back(std::move(birth));
            continue;
        }
        lines[labelled].label = fmt::format("{} births", ++together);
        if (birth.x - lines.back().x >= lineRoom) {
            lines.push_back({birth.x, {}});
        }
    }
    return lines;
}

void drawBirths(Svg& svg, const std::vector<BirthLine>& births, const Box& plot)
{
    for (const auto& birth : births) {
        svg.line({birth.x, plot.y + 4}, {birth.x, plot.bottom()}, "birthline");
        if (birth.label.empty()) {
            continue;
        }
        svg.circle({birth.x, plot.y}, 4, "birth");
        const bool late = birth.x > plot.right() - labelRoom;
        svg.text({late ? birth.x - 8 : birth.x + 8, plot.y + 4}, birth.label, late ? "birthtext end" : "birthtext");
    }
}

} // namespace nanscope::report
