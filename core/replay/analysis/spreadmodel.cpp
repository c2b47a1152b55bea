// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/spreadmodel.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nanscope::replay {

namespace {

/// One region cuts an axis at two places, on a square matrix at four.
constexpr std::size_t mostLines = 8;
using Line = std::uint8_t; ///< one bit per block

struct Grid
{
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::array<Line, mostLines> lines {};

    Line full() const { return static_cast<Line>((1U << cols) - 1); }
    bool at(std::size_t row, std::size_t col) const { return ((lines[row] >> col) & 1U) != 0; }
    void set(std::size_t row, std::size_t col) { lines[row] = static_cast<Line>(lines[row] | (1U << col)); }

    /// Rows that hold anything bad, and columns.
    Line badRows() const
    {
        Line result = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            result = static_cast<Line>(result | (lines[row] != 0 ? 1U << row : 0U));
        }
        return result;
    }
    Line badCols() const
    {
        Line result = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            result = static_cast<Line>(result | lines[row]);
        }
        return result;
    }
    bool any() const { return badCols() != 0; }

    void addRows(Line bad)
    {
        for (std::size_t row = 0; row < rows; ++row) {
            lines[row] = ((bad >> row) & 1U) != 0 ? full() : lines[row];
        }
    }
    void addCols(Line bad)
    {
        for (std::size_t row = 0; row < rows; ++row) {
            lines[row] = static_cast<Line>(lines[row] | bad);
        }
    }
    void add(const Grid& other)
    {
        for (std::size_t row = 0; row < rows; ++row) {
            lines[row] = static_cast<Line>(lines[row] | other.lines[row]);
        }
    }
    void mirrorLowerTriangle()
    {
        for (std::size_t row = 0; row < rows; ++row) {
            const auto kept = (1U << (row + 1)) - 1;
            lines[row] = static_cast<Line>(lines[row] & kept);
        }
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t col = row + 1; col < cols; ++col) {
                if (at(col, row)) {
                    set(row, col);
                }
            }
        }
    }
};

/// Edges of the axes: those of one length share theirs, so that blocks of operands meet.
class Axes
{
public:
    void cut(std::int64_t length, std::int64_t begin, std::int64_t end)
    {
        auto& edges = at(length);
        edges.insert(edges.end(), {begin, end});
        std::sort(edges.begin(), edges.end());
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    }

    const std::vector<std::int64_t>& edges(std::int64_t length) const
    {
        return m_axes[m_axes[0].first == length ? 0 : 1].second;
    }
    std::size_t blocks(std::int64_t length) const { return edges(length).size() - 1; }

    /// Both lengths that the matrices of a program have.
    explicit Axes(const MatrixShape& shape)
        : m_axes {std::pair {shape.rows, std::vector<std::int64_t> {0, shape.rows}},
            std::pair {shape.cols, std::vector<std::int64_t> {0, shape.cols}}}
    { }

private:
    std::vector<std::int64_t>& at(std::int64_t length) { return m_axes[m_axes[0].first == length ? 0 : 1].second; }

    std::array<std::pair<std::int64_t, std::vector<std::int64_t>>, 2> m_axes;
};

/// One pass through the program.
class Pass
{
public:
    Pass(const Program& program, const std::vector<bool>& symmetric, std::size_t place, const Region& region)
        : m_program(program)
        , m_symmetric(symmetric)
        , m_place(place)
        , m_region(inMemory(program, place, region))
        , m_axes(program.shape)
        , m_scalars(static_cast<std::size_t>(program.scalarCount), false)
        , m_vectors(program.vectorLengths.size(), 0)
    {
        const auto& plan = planOf(program.code[place].out);
        m_axes.cut(plan.rows, m_region.row, m_region.row + m_region.rows);
        m_axes.cut(plan.cols, m_region.col, m_region.col + m_region.cols);
        for (const auto& buffer : program.buffers) {
            m_grids.push_back({m_axes.blocks(buffer.rows), m_axes.blocks(buffer.cols), {}});
        }
    }

    void step(std::size_t index)
    {
        const auto& in = m_program.code[index];
        execute(in);
        if (!m_symmetric.empty() && m_symmetric[index]) {
            grid(in.out).mirrorLowerTriangle();
        }
        if (index == m_place) {
            plant(in);
        }
    }

    BadBlocks result(const Instruction& in)
    {
        if (in.out < 0) {
            return {
                {0, 1}, {0, 1}, {static_cast<std::uint8_t>(m_scalars[static_cast<std::size_t>(in.scalar)] ? 1 : 0)}};
        }
        const auto& plan = planOf(in.out);
        const auto& bad = grid(in.out);
        const auto& rowEdges = m_axes.edges(plan.transposed ? plan.cols : plan.rows);
        const auto& colEdges = m_axes.edges(plan.transposed ? plan.rows : plan.cols);
        BadBlocks blocks {rowEdges, colEdges, {}};
        for (std::size_t row = 0; row < blocks.height(); ++row) {
            for (std::size_t col = 0; col < blocks.width(); ++col) {
                blocks.bad.push_back((plan.transposed ? bad.at(col, row) : bad.at(row, col)) ? 1 : 0);
            }
        }
        return blocks;
    }

private:
    static Region inMemory(const Program& program, std::size_t place, const Region& region)
    {
        const auto& plan = program.buffers[static_cast<std::size_t>(program.code[place].out)];
        return plan.transposed ? Region {region.col, region.row, region.cols, region.rows} : region;
    }

    const BufferPlan& planOf(BufferId id) const { return m_program.buffers[static_cast<std::size_t>(id)]; }
    Grid& grid(BufferId id) { return m_grids[static_cast<std::size_t>(id)]; }

    void execute(const Instruction& in)
    {
        switch (in.code) {
        case Code::cast:
        case Code::scale:
        case Code::addDiagonal:
            grid(in.out) = grid(in.a);
            return;
        case Code::norm:
            m_scalars[static_cast<std::size_t>(in.scalar)] = grid(in.a).any();
            return;
        case Code::denominator:
            return;
        case Code::divide:
            grid(in.out) = grid(in.a);
            addScalar(in, grid(in.out));
            return;
        case Code::add:
            add(in);
            return;
        case Code::gemm:
            multiply(in);
            return;
        case Code::rowNorms:
        case Code::rowAbsSums:
            vector(in) = grid(in.a).badRows();
            return;
        case Code::reciprocal:
        case Code::rsqrt:
            invert(in);
            return;
        case Code::scaleRows:
            grid(in.out) = grid(in.a);
            grid(in.out).addRows(vector(in));
            return;
        case Code::scaleColumns:
            grid(in.out) = grid(in.a);
            grid(in.out).addCols(vector(in));
            return;
        }
    }

    Line& vector(const Instruction& in) { return m_vectors[static_cast<std::size_t>(in.vector)]; }

    void addScalar(const Instruction& in, Grid& out)
    {
        if (m_scalars[static_cast<std::size_t>(in.scalar)]) {
            out.addCols(out.full());
        }
    }

    void add(const Instruction& in)
    {
        auto sum = grid(in.a);
        sum.add(grid(in.b));
        grid(in.out) = sum;
    }

    void invert(const Instruction& in)
    {
        if (in.scalar >= 0 && m_scalars[static_cast<std::size_t>(in.scalar)]) {
            vector(in) = static_cast<Line>(~0U);
        }
    }

    void multiply(const Instruction& in)
    {
        const auto rows = in.transposeA ? grid(in.a).badCols() : grid(in.a).badRows();
        const auto cols = in.transposeB ? grid(in.b).badRows() : grid(in.b).badCols();
        Grid out {grid(in.out).rows, grid(in.out).cols, {}};
        out.addRows(rows);
        out.addCols(static_cast<Line>(cols & out.full()));
        if (in.c >= 0) {
            out.add(grid(in.c));
        }
        grid(in.out) = out;
    }

    void plant(const Instruction& in)
    {
        const auto& plan = planOf(in.out);
        auto& out = grid(in.out);
        const auto& rows = m_axes.edges(plan.rows);
        const auto& cols = m_axes.edges(plan.cols);
        const bool twice = !m_symmetric.empty() && writtenTwice(*in.label);
        for (std::size_t row = 0; row < out.rows; ++row) {
            for (std::size_t col = 0; col < out.cols; ++col) {
                if (within(rows[row], m_region.row, m_region.rows) && within(cols[col], m_region.col, m_region.cols)) {
                    out.set(row, col);
                    if (twice) {
                        out.set(col, row);
                    }
                }
            }
        }
    }

    static bool within(std::int64_t edge, std::int64_t begin, std::int64_t count)
    {
        return edge >= begin && edge < begin + count;
    }

    const Program& m_program;
    const std::vector<bool>& m_symmetric;
    std::size_t m_place;
    Region m_region;
    Axes m_axes;
    std::vector<Grid> m_grids;
    std::vector<bool> m_scalars;
    std::vector<Line> m_vectors;
};

} // namespace

SpreadModel::SpreadModel(Program program, bool mirrored)
    : m_program(std::move(program))
{
    if (mirrored) {
        m_symmetric = symmetricProducts(m_program);
    }
}

std::vector<BadBlocks> SpreadModel::film(std::size_t place, const Region& region) const
{
    Pass pass(m_program, m_symmetric, place, region);
    std::vector<BadBlocks> results;
    for (std::size_t i = 0; i < m_program.code.size(); ++i) {
        pass.step(i);
        if (m_program.code[i].label) {
            results.push_back(pass.result(m_program.code[i]));
        }
    }
    return results;
}

BadBlocks SpreadModel::end(std::size_t place, const Region& region) const
{
    Pass pass(m_program, m_symmetric, place, region);
    // Nothing is bad before the place.
    for (auto i = place; i < m_program.code.size(); ++i) {
        pass.step(i);
    }
    return simplified(pass.result(m_program.code.back()));
}

std::vector<std::size_t> placesIn(const Program& program)
{
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < program.code.size(); ++i) {
        const auto& in = program.code[i];
        const bool iterated = in.label && in.iteration > 0 && in.out >= 0;
        if (iterated && *in.label != OpName::output && *in.label != OpName::rescale) {
            places.push_back(i);
        }
    }
    return places;
}

} // namespace nanscope::replay
