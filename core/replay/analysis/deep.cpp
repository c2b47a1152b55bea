// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/deep.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/replay/analysis/deepmatrix.h"
#include "core/replay/engine/cellrun.h"
#include "core/replay/engine/outcome.h"
#include "core/replay/engine/replaypair.h"
#include "core/replay/engine/spectrum.h"

namespace nanscope::replay {

namespace {

using Matrix = std::vector<double>;

constexpr double signalShare = 0.01;
constexpr int mostDirections = 32;

bool setsIterate(OpName op)
{
    return op == OpName::normalize || op == OpName::cast || op == OpName::restart || op == OpName::update
        || op == OpName::equalize || op == OpName::aolScale;
}

bool lookedAt(OpName op)
{
    return setsIterate(op) || op == OpName::gram || op == OpName::r || op == OpName::q;
}

/// One of the two replays, and the iterate it has come to.
class Side
{
public:
    explicit Side(CellRun run)
        : m_run(std::move(run))
    { }

    Result<void> pass(std::size_t op, const CancelToken& cancel)
    {
        if (auto done = m_run.runThrough(op, cancel); !done) {
            return done;
        }
        const auto scans = m_run.scans();
        if (!scans) {
            return tl::make_unexpected(scans.error());
        }
        m_finite = m_finite && scans->back().finite();
        m_op = m_run.ops()[op].op;
        return m_finite && lookedAt(m_op) ? keep() : Result<void>();
    }

    const CellRun& run() const { return m_run; }
    bool finite() const { return m_finite; } ///< every result so far
    const Matrix& result() const { return m_result; }
    /// X as it is, or would be were the step to end here: in a Gram form Q has not met it yet.
    Matrix reached() const { return m_op == OpName::q ? timesQ(m_run.program(), m_result, m_iterate) : m_iterate; }

private:
    Result<void> keep()
    {
        return m_run.matrix().map(
            [this](Matrix matrix) { (setsIterate(m_op) ? m_iterate : m_result) = std::move(matrix); });
    }

    CellRun m_run;
    bool m_finite = true;
    OpName m_op = OpName::input;
    Matrix m_iterate; ///< as the last start or the last step left it
    Matrix m_result; ///< of the last op on the Gram matrix
};

class Measuring
{
public:
    Measuring(Side side, std::optional<Side> exact, std::span<const double> input)
        : m_side(std::move(side))
        , m_exact(std::move(exact))
    {
        const auto& program = m_side.run().program();
        const auto& shape = program.shape;
        if (!turnsDirections(program)) {
            m_directions = leadingDirections(input, shape.rows, shape.cols, signalShare, mostDirections);
        }
        const double norm = frobeniusOf(input);
        for (const auto& direction : m_directions) {
            m_deep.shares.push_back(direction.sigma / norm);
        }
        m_deep.outputRange = outputRange(program.steps);
        m_deep.steps.resize(program.steps.size());
        for (std::size_t k = 0; k < m_deep.steps.size(); ++k) {
            m_deep.steps[k].iteration = static_cast<int>(k) + 1;
        }
    }

    /// Ends at the birth: what comes after it is not the iteration any more.
    Result<void> run(const JobContext& job)
    {
        const auto& ops = m_side.run().ops();
        for (std::size_t op = 0; op < ops.size() && m_side.finite(); ++op) {
            reportOp(job, "deep", ops[op], op, ops.size());
            if (auto done = pass(op, job.cancel); !done) {
                return done;
            }
            if (m_side.finite()) {
                look(op);
            }
        }
        return {};
    }

    const Cell& cell() const { return m_side.run().cell(); }
    DeepGauges take() { return std::move(m_deep); }

private:
    Result<void> pass(std::size_t op, const CancelToken& cancel)
    {
        if (auto done = m_side.pass(op, cancel); !done) {
            return done;
        }
        return m_exact && m_exact->finite() ? m_exact->pass(op, cancel) : Result<void>();
    }

    void look(std::size_t op)
    {
        const auto& trace = m_side.run().ops()[op];
        switch (trace.op) {
        case OpName::gram:
            m_start = m_side.result();
            return lookAtGram(op);
        case OpName::r:
            return lookAtGram(op);
        case OpName::q:
            return lookAtQ(trace);
        case OpName::update:
            return lookAtIterate(trace);
        default:
            return;
        }
    }

    void lookAtGram(std::size_t op)
    {
        const auto& program = m_side.run().program();
        const auto point = std::find_if(program.grams.begin(), program.grams.end(),
            [op](const GramPoint& gram) { return gram.scanSlot == static_cast<int>(op); });
        if (point == program.grams.end()) {
            return;
        }
        auto& step = m_deep.steps[static_cast<std::size_t>(point - program.grams.begin())];
        const auto size = m_side.run().ops()[op].rows;
        step.lambdaMin = smallestEigenvalue(m_side.result(), size);
        step.symmetryError = symmetryErrorOf(m_side.result(), size);
    }

    void lookAtQ(const OpTrace& op)
    {
        m_deep.steps[static_cast<std::size_t>(op.iteration) - 1].commutator =
            commutatorOf(m_start, m_side.result(), op.rows);
        // The last step has an X of its own, which rounding may still break.
        if (op.iteration < m_deep.steps.back().iteration) {
            lookAtIterate(op);
        }
    }

    void lookAtIterate(const OpTrace& op)
    {
        auto& step = m_deep.steps[static_cast<std::size_t>(op.iteration) - 1];
        const auto reached = m_side.reached();
        if (m_exact && m_exact->finite()) {
            const double distance = relativeDistance(reached, m_exact->reached());
            step.iterateDistance = std::isfinite(distance) ? std::optional(distance) : std::nullopt;
        }
        for (const auto& direction : m_directions) {
            step.signalGains.push_back(gainAlong(direction.left, reached, m_side.run().program().shape.cols));
        }
    }

    Side m_side;
    std::optional<Side> m_exact;
    std::vector<SingularDirection> m_directions;
    Matrix m_start; ///< the Gram matrix of the last start
    DeepGauges m_deep;
};

Result<Measuring> begin(
    const tensorfile::CaptureFile& capture, const DeepRequest& request, const DeviceFactory& devices)
{
    auto run = CellRun::begin(capture, request.cell, request.batch, devices);
    if (!run) {
        return tl::make_unexpected(run.error());
    }
    std::optional<Side> exact;
    if (request.cell.precision != Precision::fp64) {
        CellRequest other = request.cell;
        other.precision = Precision::fp64;
        auto second = CellRun::begin(capture, other, request.batch, devices);
        if (!second) {
            return tl::make_unexpected(second.error());
        }
        exact.emplace(std::move(*second));
    }
    const auto shape = capture.input.matrices();
    Matrix input(static_cast<std::size_t>(shape.elements()));
    if (auto read = capture.input.read(request.batch, std::span(input)); !read) {
        return tl::make_unexpected(read.error());
    }
    return Measuring(Side(std::move(*run)), std::move(exact), input);
}

} // namespace

Result<Cell> measureDeep(const DeepRequest& request, const DeviceFactory& devices, const JobContext& job)
{
    const auto start = std::chrono::steady_clock::now();
    const auto capture = tensorfile::openCapture(request.capture);
    if (!capture) {
        return tl::make_unexpected(capture.error());
    }
    const auto cost = deepCost(capture->input.matrices(), request.cell);
    const auto allowed = cost ? allowDeep(*cost) : tl::make_unexpected(cost.error());
    if (!allowed) {
        return tl::make_unexpected(allowed.error());
    }
    return begin(*capture, request, devices).and_then([&](Measuring measuring) -> Result<Cell> {
        Cell cell = measuring.cell();
        if (auto done = measuring.run(job); !done) {
            return tl::make_unexpected(done.error());
        }
        cell.deep = measuring.take();
        cell.deep->batch = static_cast<int>(request.batch);
        cell.deep->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return cell;
    });
}

} // namespace nanscope::replay
