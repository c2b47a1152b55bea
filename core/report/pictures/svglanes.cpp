// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/svglanes.h"

#include <algorithm>
#include <array>

namespace nanscope::report {

namespace {

constexpr double laneHeight = 14;
constexpr std::array states {PointState::nan, PointState::posInf, PointState::negInf};

bool occurs(const std::vector<LaneMark>& marks, PointState state)
{
    return std::any_of(marks.begin(), marks.end(), [state](const LaneMark& mark) { return mark.state == state; });
}

} // namespace

std::string_view stateText(PointState state)
{
    switch (state) {
    case PointState::nan:
        return "NaN";
    case PointState::posInf:
        return "+Inf";
    case PointState::negInf:
        return "−Inf";
    case PointState::finite:
    case PointState::reported:
        break;
    }
    return "finite";
}

double lanesHeight(const std::vector<LaneMark>& marks)
{
    const auto rows =
        std::count_if(states.begin(), states.end(), [&marks](PointState state) { return occurs(marks, state); });
    return static_cast<double>(rows) * laneHeight;
}

void drawLanes(Svg& svg, const Box& area, const std::vector<LaneMark>& marks)
{
    auto top = area.y;
    for (const auto state : states) {
        if (!occurs(marks, state)) {
            continue;
        }
        svg.rect({area.x, top, area.width, laneHeight}, "lane");
        svg.text({area.x - 6, top + laneHeight - 3}, stateText(state), "end");
        for (const auto& mark : marks) {
            if (mark.state == state) {
                svg.mark(state, {mark.x, top + laneHeight / 2}, mark.hint);
            }
        }
        top += laneHeight;
    }
}

} // namespace nanscope::report
