// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Pictures as SVG elements with class names; colours, light and dark, are in figures.css. Text is escaped here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/run.h"
#include "core/report/pictures/shape.h"

namespace nanscope::report {

/// `&`, `<`, `>` and both quotes as entities: safe in elements and in attributes.
std::string escaped(std::string_view text);

/// A coordinate with at most one decimal.
std::string coordinate(double value);

/// A picture under construction, in pixels.
class Svg
{
public:
    Svg() = default;
    Svg(double width, double height)
        : m_width(width)
        , m_height(height)
    { }

    void line(Spot from, Spot to, std::string_view classes);
    void rect(const Box& box, std::string_view classes);
    void circle(Spot centre, double radius, std::string_view classes, std::string_view hint = {});
    void path(std::string_view data, std::string_view classes, std::string_view hint = {});
    void text(Spot at, std::string_view words, std::string_view classes = {});
    /// Elements that are safe as they are; what they show is added by paint() and hatch().
    void raw(std::string_view elements) { m_body += elements; }
    /// For shapes() alone: a box of one colour, "#rrggbb", and one hatched as its class says.
    void paint(const Box& box, std::string_view colour);
    void hatch(const Box& box, std::string_view kind);
    /// The mark of a class that is not finite: a cross, a triangle up, a triangle down.
    void mark(PointState state, Spot at, std::string_view hint = {});

    void setHeight(double height) { m_height = height; }
    double width() const { return m_width; }
    double height() const { return m_height; }
    bool empty() const { return m_body.empty(); }
    /// The same picture as a list, in the order of painting.
    const std::vector<Shape>& shapes() const { return m_shapes; }

    /// For a page that holds figures.css.
    std::string inlined(std::string_view alt) const;

private:
    void element(std::string_view start, std::string_view name, std::string_view hint);

    double m_width = 0;
    double m_height = 0;
    std::string m_body;
    std::vector<Shape> m_shapes;
};

/// Maps values to pixels.
struct Axis
{
    double low = 0;
    double high = 1;
    double from = 0; ///< the pixel of `low`
    double to = 1;
    bool logarithmic = false;

    double at(double value) const;
};

/// With a little room around the values; logarithmic where they are positive and span more than a factor of 100.
Axis valueAxis(double low, double high, double from, double to);

/// Round numbers on the axis, about so many.
std::vector<double> ticks(const Axis& axis, int about);
std::string tickText(double value);

/// Frame, grid and numbers of a plot.
void drawValueAxis(Svg& svg, const Box& plot, const Axis& y);
void drawStepAxis(Svg& svg, const Box& plot, const Axis& x, bool numbers);

/// One mark in the lanes above a plot; `hint` shows under the cursor.
struct LaneMark
{
    double x = 0;
    PointState state = PointState::nan;
    std::string hint;
};

/// Marks need this much room to be told apart.
constexpr double markWidth = 9;

/// "NaN", "+Inf", "−Inf".
std::string_view stateText(PointState state);

/// One row for each class that occurs, none without marks.
double lanesHeight(const std::vector<LaneMark>& marks);
void drawLanes(Svg& svg, const Box& area, const std::vector<LaneMark>& marks);

} // namespace nanscope::report
