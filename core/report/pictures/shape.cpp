// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/pictures/shape.h"

#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>

namespace nanscope::report {

namespace {

class PathReader
{
public:
    explicit PathReader(std::string_view data)
        : m_data(data)
    { }

    std::vector<Outline> all()
    {
        while (m_at < m_data.size() && step()) { }
        return std::move(m_outlines);
    }

private:
    /// False where the data holds what no picture here writes.
    bool step()
    {
        skipBlanks();
        if (m_at < m_data.size() && isCommand(m_data[m_at])) {
            m_command = m_data[m_at++];
        }
        switch (m_command) {
        case 'M':
        case 'm':
            return moveTo();
        case 'L':
        case 'l':
            return pair([this](Spot to) { lineTo(to); });
        case 'H':
        case 'h':
            return one([this](double x) { lineTo({x + (relative() ? m_pen.x : 0), m_pen.y}); });
        case 'V':
        case 'v':
            return one([this](double y) { lineTo({m_pen.x, y + (relative() ? m_pen.y : 0)}); });
        case 'Z':
        case 'z':
            return close();
        default:
            return false;
        }
    }

    bool moveTo()
    {
        const bool moved = pair([this](Spot to) {
            m_outlines.push_back({{to}, false});
            m_pen = to;
        });
        // Pairs that follow without a letter are lines.
        m_command = m_command == 'M' ? 'L' : 'l';
        return moved;
    }

    bool close()
    {
        if (m_outlines.empty()) {
            return false;
        }
        m_outlines.back().closed = true;
        m_pen = m_outlines.back().points.front();
        m_command = ' ';
        skipBlanks();
        return true;
    }

    void lineTo(Spot to)
    {
        if (m_outlines.empty() || m_outlines.back().closed) {
            m_outlines.push_back({{m_pen}, false});
        }
        m_outlines.back().points.push_back(to);
        m_pen = to;
    }

    template <class Use>
    bool one(Use use)
    {
        const auto value = number();
        if (value) {
            use(*value);
        }
        return value.has_value();
    }

    template <class Use>
    bool pair(Use use)
    {
        const auto x = number();
        const auto y = number();
        if (x && y) {
            use(relative() ? Spot {m_pen.x + *x, m_pen.y + *y} : Spot {*x, *y});
        }
        return x && y;
    }

    std::optional<double> number()
    {
        skipBlanks();
        double value = 0;
        const auto* begin = m_data.data() + m_at;
        const auto [end, error] = std::from_chars(begin, m_data.data() + m_data.size(), value);
        if (error != std::errc()) {
            return std::nullopt;
        }
        m_at += static_cast<std::size_t>(end - begin);
        return value;
    }

    void skipBlanks()
    {
        while (m_at < m_data.size() && (m_data[m_at] == ' ' || m_data[m_at] == ',')) {
            ++m_at;
        }
    }

    static bool isCommand(char byte) { return std::string_view("MmLlHhVvZz").find(byte) != std::string_view::npos; }
    bool relative() const { return m_command >= 'a'; }

    std::string_view m_data;
    std::size_t m_at = 0;
    char m_command = ' ';
    Spot m_pen;
    std::vector<Outline> m_outlines;
};

} // namespace

std::vector<Outline> outlinesOf(std::string_view pathData)
{
    return PathReader(pathData).all();
}

Outline outlineOf(const Box& box)
{
    return {{{box.x, box.y}, {box.right(), box.y}, {box.right(), box.bottom()}, {box.x, box.bottom()}}, true};
}

Outline outlineOfCircle(Spot centre, double radius)
{
    constexpr int corners = 32;
    Outline outline {{}, true};
    for (int i = 0; i < corners; ++i) {
        const auto angle = 2 * std::numbers::pi * i / corners;
        outline.points.push_back({centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
    }
    return outline;
}

} // namespace nanscope::report
