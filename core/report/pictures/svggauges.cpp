// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/pictures.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/report/pictures/svg.h"

namespace nanscope::report {

namespace {

constexpr double gaugesWidth = 920;
constexpr double panelWidth = 230;
constexpr double gaugeLeft = 58;
constexpr double gaugePlotHeight = 120;

using Quantity = std::optional<double> (*)(const Gauge&);

struct GaugePanel
{
    const char* name;
    Quantity value;
    bool limited; ///< 1 is the limit
};

std::optional<double> shareOfLimit(const Gauge& gauge)
{
    if (!gauge.spectralBound || !gauge.spectralLimit || !(*gauge.spectralLimit > 0)) {
        return std::nullopt;
    }
    return *gauge.spectralBound / *gauge.spectralLimit;
}

constexpr GaugePanel gaugePanels[] {{"bound of ‖X‖₂ / limit", shareOfLimit, true},
    {"max |Q|", [](const Gauge& gauge) { return gauge.absmaxQ; }, false},
    {"‖XXᵀ − I‖ / √m", [](const Gauge& gauge) { return gauge.orthogonality; }, false},
    {"largest |x| of the step", [](const Gauge& gauge) { return std::optional(gauge.absmaxX); }, false}};

struct Extent
{
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    int last = 1;
    bool any = false;
};

Extent extentOf(const GaugePanel& panel, std::span<const GaugeLine> lines)
{
    Extent extent;
    for (const auto& line : lines) {
        for (const auto& gauge : line.cell->gauges) {
            extent.last = std::max(extent.last, gauge.iteration);
            const auto value = panel.value(gauge);
            extent.any = extent.any || value.has_value();
            if (value && stateOf(*value) == PointState::finite) {
                extent.low = std::min(extent.low, *value);
                extent.high = std::max(extent.high, *value);
            }
        }
    }
    if (panel.limited && extent.any) {
        extent.low = std::min(extent.low, 1.0);
        extent.high = std::max(extent.high, 1.0);
    }
    return extent;
}

std::vector<LaneMark> marksOf(const GaugePanel& panel, std::span<const GaugeLine> lines, const Axis& x)
{
    std::vector<LaneMark> marks;
    for (const auto& line : lines) {
        for (const auto& gauge : line.cell->gauges) {
            const auto value = panel.value(gauge);
            if (value && stateOf(*value) != PointState::finite) {
                marks.push_back({x.at(gauge.iteration), stateOf(*value),
                    fmt::format("{}, step {}: {}", line.label, gauge.iteration, stateText(stateOf(*value)))});
            }
        }
    }
    return marks;
}

void drawCurve(
    Svg& svg, const GaugePanel& panel, const GaugeLine& line, std::size_t number, const Axis& x, const Axis& y)
{
    std::string data;
    bool connected = false;
    for (const auto& gauge : line.cell->gauges) {
        const auto value = panel.value(gauge);
        if (!value || stateOf(*value) != PointState::finite || (y.logarithmic && *value <= 0)) {
            connected = false;
            continue;
        }
        data +=
            fmt::format("{}{} {}", connected ? "L" : "M", coordinate(x.at(gauge.iteration)), coordinate(y.at(*value)));
        data += connected ? "" : "h0";
        connected = true;
    }
    if (!data.empty()) {
        svg.path(data, fmt::format("line s{} d{}", number % 6, number % 4), line.label);
    }
}

void drawIterations(Svg& svg, const Box& plot, const Axis& x, int last)
{
    const auto stride = std::max(1, last / 8);
    for (int iteration = 1; iteration <= last; iteration += stride) {
        svg.text({x.at(iteration), plot.bottom() + 16}, std::to_string(iteration), "mid");
    }
}

void drawPanel(Svg& svg, const GaugePanel& panel, std::span<const GaugeLine> lines, Spot corner, double lanes)
{
    const auto extent = extentOf(panel, lines);
    const Box plot {corner.x + gaugeLeft, corner.y + 22 + lanes + (lanes > 0 ? 6 : 0), panelWidth - gaugeLeft - 12,
        gaugePlotHeight};
    const Axis x {0.5, extent.last + 0.5, plot.x, plot.right(), false};
    const bool finite = extent.low <= extent.high;
    const auto y =
        finite ? valueAxis(extent.low, extent.high, plot.bottom(), plot.y) : Axis {0, 1, plot.bottom(), plot.y, false};
    svg.text({plot.x, corner.y + 14}, panel.name, "name");
    const auto marks = marksOf(panel, lines, x);
    drawLanes(svg, {plot.x, plot.y - lanesHeight(marks) - 6, plot.width, 0}, marks);
    if (finite) {
        drawValueAxis(svg, plot, y);
    } else {
        svg.rect(plot, "frame");
    }
    drawIterations(svg, plot, x, extent.last);
    if (panel.limited) {
        svg.line({plot.x, y.at(1)}, {plot.right(), y.at(1)}, "limit");
        const bool above = y.at(1) > plot.y + 16;
        svg.text({plot.right() - 4, y.at(1) + (above ? -4 : 13)}, "limit", "limittext end");
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        drawCurve(svg, panel, lines[i], i, x, y);
    }
}

double drawLabels(Svg& svg, std::span<const GaugeLine> lines, double top)
{
    constexpr double column = 430;
    constexpr double row = 20;
    auto y = top;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool right = i % 2 == 1;
        const auto x = right ? gaugeLeft + column : gaugeLeft;
        svg.line({x, y - 4}, {x + 26, y - 4}, fmt::format("line s{} d{}", i % 6, i % 4));
        svg.text({x + 32, y}, lines[i].label);
        y += right || i + 1 == lines.size() ? row : 0;
    }
    return y;
}

} // namespace

Svg gaugePicture(std::span<const GaugeLine> lines)
{
    std::vector<const GaugePanel*> shown;
    double lanes = 0;
    for (const auto& panel : gaugePanels) {
        if (extentOf(panel, lines).any) {
            shown.push_back(&panel);
            lanes = std::max(lanes, lanesHeight(marksOf(panel, lines, Axis {})));
        }
    }
    if (shown.empty()) {
        return {};
    }
    Svg svg(gaugesWidth, 0);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        drawPanel(svg, *shown[i], lines, {static_cast<double>(i) * panelWidth, 0}, lanes);
    }
    const auto bottom = 28 + lanes + gaugePlotHeight;
    svg.text({gaugeLeft, bottom + 34}, "iteration", "quiet");
    svg.setHeight(drawLabels(svg, lines, bottom + 58) - 8);
    return svg;
}

} // namespace nanscope::report
