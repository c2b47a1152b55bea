// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/engine/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/replay/engine/cellrun.h"

namespace nanscope::replay {

namespace {

double difference(double value, double other)
{
    constexpr double largest = std::numeric_limits<double>::max();
    if (std::isfinite(value) && std::isfinite(other)) {
        return std::clamp(value - other, -largest, largest);
    }
    const bool alike = value == other || (std::isnan(value) && std::isnan(other));
    return alike ? 0.0 : value - other;
}

std::int64_t bytesOf(const std::vector<double>& values)
{
    return static_cast<std::int64_t>(values.size() * sizeof(double));
}

bool gramShaped(OpName op)
{
    return op == OpName::gram || op == OpName::polynomial || op == OpName::z || op == OpName::q || op == OpName::r;
}

bool comparable(const OpTrace& a, const OpTrace& b)
{
    return a.iteration == b.iteration && a.op == b.op && a.rows == b.rows && a.cols == b.cols;
}

/// The tensor of the file, whatever the op was.
class OutputCounterpart final : public Counterpart
{
public:
    OutputCounterpart(std::vector<OpTrace> ops, const MatrixShape& shape, std::vector<double> values)
        : m_ops(std::move(ops))
        , m_shape(shape)
        , m_values(std::move(values))
    { }

    Result<std::span<const double>> matrixFor(std::size_t op, const CancelToken& /*cancel*/) override
    {
        const auto& trace = m_ops[op];
        const bool fits = trace.rows == m_shape.rows && trace.cols == m_shape.cols;
        const bool scalar = trace.op == OpName::norm;
        return fits && !scalar && !gramShaped(trace.op) ? std::span<const double>(m_values) : std::span<const double>();
    }

    std::int64_t bytes() const override { return bytesOf(m_values); }

private:
    std::vector<OpTrace> m_ops;
    MatrixShape m_shape;
    std::vector<double> m_values;
};

/// Another replay that runs beside the first. The two may do the same ops in another order, as cast and normalize are:
/// what is passed before its turn is kept.
class CellCounterpart final : public Counterpart
{
public:
    CellCounterpart(CellRun run, const std::vector<OpTrace>& ops)
        : m_run(std::move(run))
        , m_partner(m_run.ops().size(), none)
    {
        for (std::size_t op = 0; op < ops.size(); ++op) {
            const auto& own = m_run.ops();
            const auto found =
                std::find_if(own.begin(), own.end(), [&](const OpTrace& each) { return comparable(each, ops[op]); });
            if (found != own.end()) {
                m_partner[static_cast<std::size_t>(found - own.begin())] = op;
            }
        }
    }

    Result<std::span<const double>> matrixFor(std::size_t op, const CancelToken& cancel) override
    {
        const auto found = std::find(m_partner.begin(), m_partner.end(), op);
        if (found == m_partner.end()) {
            return std::span<const double>();
        }
        const auto own = static_cast<std::size_t>(found - m_partner.begin());
        while (m_run.passed() <= own) {
            if (auto done = pass(op, cancel); !done) {
                return tl::make_unexpected(done.error());
            }
        }
        m_current = std::move(m_kept[own]);
        m_kept.erase(own);
        return std::span<const double>(m_current);
    }

    std::int64_t bytes() const override
    {
        auto all = m_run.workspaceBytes() + bytesOf(m_current);
        for (const auto& [op, matrix] : m_kept) {
            all += bytesOf(matrix);
        }
        return all;
    }

private:
    static constexpr auto none = std::numeric_limits<std::size_t>::max();

    Result<void> pass(std::size_t wanted, const CancelToken& cancel)
    {
        const auto own = m_run.passed();
        if (auto done = m_run.runThrough(own, cancel); !done) {
            return done;
        }
        if (m_partner[own] == none || m_partner[own] < wanted) {
            return {};
        }
        return m_run.matrix().map([&](std::vector<double> matrix) { m_kept[own] = std::move(matrix); });
    }

    CellRun m_run;
    std::vector<std::size_t> m_partner; ///< by our op, theirs
    std::map<std::size_t, std::vector<double>> m_kept; ///< by our op
    std::vector<double> m_current;
};

Result<std::unique_ptr<Counterpart>> outputOf(
    const tensorfile::CaptureFile& capture, std::int64_t batch, const std::vector<OpTrace>& ops)
{
    if (!capture.output || capture.output->matrices().batch <= batch) {
        return failure(
            ErrorKind::usage, "the capture holds no output of this matrix to compare with", capture.capture.path);
    }
    const auto shape = capture.output->matrices();
    std::vector<double> values(static_cast<std::size_t>(shape.elements()));
    return capture.output->read(batch, std::span(values)).map([&]() -> std::unique_ptr<Counterpart> {
        return std::make_unique<OutputCounterpart>(ops, shape, std::move(values));
    });
}

} // namespace

std::optional<double> subtract(std::span<double> values, std::span<const double> other)
{
    // Squares of fp64 values may leave the range of a double where the values are about to.
    long double apart = 0;
    long double whole = 0;
    bool any = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool finite = std::isfinite(values[i]) && std::isfinite(other[i]);
        values[i] = difference(values[i], other[i]);
        if (finite) {
            any = true;
            apart += static_cast<long double>(values[i]) * values[i];
            whole += static_cast<long double>(other[i]) * other[i];
        }
    }
    if (!any) {
        return std::nullopt;
    }
    return apart == 0 ? 0.0 : static_cast<double>(std::sqrt(apart / whole));
}

Result<std::unique_ptr<Counterpart>> makeCounterpart(const tensorfile::CaptureFile& capture, const FilmRequest& request,
    const std::vector<OpTrace>& ops, const DeviceFactory& devices)
{
    switch (request.against.kind) {
    case Against::Kind::nothing:
        return nullptr;
    case Against::Kind::output:
        return outputOf(capture, request.batch, ops);
    case Against::Kind::cell:
        break;
    }
    return CellRun::begin(capture, request.against.cell, request.batch, devices)
        .map([&](CellRun run) -> std::unique_ptr<Counterpart> {
            return std::make_unique<CellCounterpart>(std::move(run), ops);
        });
}

} // namespace nanscope::replay
