// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/replay/analysis/deep.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/replay/analysis/rate.h"
#include "core/replay/device/gemm.h"
#include "core/replay/device/ranges.h"
#include "core/replay/engine/cellrun.h"
#include "core/replay/engine/frame.h"
#include "core/replay/engine/heldoutput.h"
#include "core/replay/engine/spectrum.h"

namespace nanscope::replay {

namespace {

std::vector<double> product(std::span<const double> a, std::span<const double> b, std::int64_t size)
{
    std::vector<double> out(a.size());
    gemm(GemmShape<double> {a.data(), b.data(), out.data(), size, size, size, false, false}, allThreads());
    return out;
}

std::optional<double> ratio(double part, double whole)
{
    const double value = part / whole;
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// ||matrix||_F, also where squares would leave the range.
double frobeniusOf(std::span<const double> matrix)
{
    double largest = 0;
    for (const double x : matrix) {
        largest = std::max(largest, std::abs(x));
    }
    if (largest == 0) {
        return 0;
    }
    double sum = 0;
    for (const double x : matrix) {
        sum += (x / largest) * (x / largest);
    }
    return largest * std::sqrt(sum);
}

} // namespace

std::optional<double> symmetryErrorOf(std::span<const double> matrix, std::int64_t size)
{
    std::vector<double> apart;
    const auto n = static_cast<std::size_t>(size);
    apart.reserve(n * n);
    for (std::size_t row = 0; row < n; ++row) {
        for (std::size_t col = 0; col < n; ++col) {
            apart.push_back(matrix[row * n + col] - matrix[col * n + row]);
        }
    }
    return ratio(frobeniusOf(apart), frobeniusOf(matrix));
}

std::optional<double> commutatorOf(std::span<const double> a, std::span<const double> b, std::int64_t size)
{
    auto apart = product(a, b, size);
    const auto other = product(b, a, size);
    std::transform(apart.begin(), apart.end(), other.begin(), apart.begin(), std::minus<>());
    return ratio(frobeniusOf(apart), frobeniusOf(a) * frobeniusOf(b));
}

namespace {

/// Q X or X Q as the program multiplies them, with X and the result in the capture's own orientation.
std::vector<double> timesQ(const Program& program, std::span<const double> q, std::span<const double> x)
{
    const auto& shape = program.shape;
    const auto& plan = program.buffers[static_cast<std::size_t>(program.output)];
    const bool fromLeft = plan.rows <= plan.cols;
    // The transpose of a product is the product of the transposes the other way round.
    const bool qFirst = fromLeft != plan.transposed;
    std::vector<double> out(x.size());
    GemmShape<double> both;
    both.a = qFirst ? q.data() : x.data();
    both.b = qFirst ? x.data() : q.data();
    both.out = out.data();
    both.rows = shape.rows;
    both.cols = shape.cols;
    both.inner = std::min(shape.rows, shape.cols);
    (qFirst ? both.transposeA : both.transposeB) = plan.transposed;
    gemm(both, allThreads());
    return out;
}

using Matrix = std::vector<double>;

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
        TRY(m_run.runThrough(op, cancel));
        const auto scans = TRY(m_run.scans());
        m_finite = m_finite && scans.back().finite();
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
    Measuring(Side side, std::optional<Side> exact, std::span<const double> input, const CancelToken& cancel)
        : m_side(std::move(side))
        , m_exact(std::move(exact))
    {
        const auto& program = m_side.run().program();
        const auto& shape = program.shape;
        if (!turnsDirections(program)) {
            m_directions = leadingDirections(input, shape.rows, shape.cols, signalShare, mostDirections, cancel);
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
            TRY(pass(op, job.cancel));
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
        TRY(m_side.pass(op, cancel));
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

Result<Measuring> begin(const tensorfile::CaptureFile& capture, const DeepRequest& request,
    const DeviceFactory& devices, const CancelToken& cancel)
{
    auto run = TRY(CellRun::begin(capture, request.cell, request.catalogue, request.batch, devices));
    std::optional<Side> exact;
    if (request.cell.precision != Precision::fp64) {
        CellRequest other = request.cell;
        other.precision = Precision::fp64;
        exact.emplace(TRY(CellRun::begin(capture, other, request.catalogue, request.batch, devices)));
    }
    const auto shape = capture.input.matrices();
    Matrix input(static_cast<std::size_t>(shape.elements()));
    TRY(capture.input.read(request.batch, std::span(input)));
    return Measuring(Side(std::move(run)), std::move(exact), input, cancel);
}

} // namespace

Result<Cell> measureDeep(const DeepRequest& request, const DeviceFactory& devices, const JobContext& job)
{
    const auto start = std::chrono::steady_clock::now();
    const auto capture = TRY(tensorfile::openCapture(request.capture));
    const auto cost = TRY(deepCost(capture.input.matrices(), request.cell, request.catalogue));
    TRY(allowDeep(cost));
    return begin(capture, request, devices, job.cancel).and_then([&](Measuring measuring) -> Result<Cell> {
        Cell cell = measuring.cell();
        TRY(measuring.run(job));
        cell.deep = measuring.take();
        cell.deep->batch = static_cast<int>(request.batch);
        cell.deep->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return cell;
    });
}

namespace {

// What a few CPU cores reach in fp64 products; a GPU is far faster, so that the work never takes longer than announced.
constexpr double assumedRate = 2e10;
constexpr double lanczosSteps = 160;

Result<Program> programOf(
    const MatrixShape& shape, const CellRequest& cell, const Catalogue& catalogue, Precision precision)
{
    const auto variant = TRY(catalogue.find(cell.variant));
    CompileOptions options;
    options.precision = precision;
    options.rounding.lowering = cell.lowering;
    options.steps = cell.steps;
    return compileProgram(*variant, {1, shape.rows, shape.cols}, options);
}

bool gramForm(const Program& program)
{
    const auto ops = opsOf(program);
    return std::any_of(ops.begin(), ops.end(), [](const OpTrace& op) { return op.op == OpName::q; });
}

double measuringFlops(const Program& program)
{
    const double small = static_cast<double>(std::min(program.shape.rows, program.shape.cols));
    const double large = static_cast<double>(std::max(program.shape.rows, program.shape.cols));
    const double lanczos = 4 * small * small * lanczosSteps;
    // The iterate twice, and A Q and Q A.
    const double products = gramForm(program) ? 4 * small * small * large + 4 * small * small * small : 0;
    return static_cast<double>(program.steps.size()) * (products + lanczos);
}

std::int64_t heldBytes(const MatrixShape& shape)
{
    const auto small = std::min(shape.rows, shape.cols);
    const auto elements = 6 * shape.rows * shape.cols + 6 * small * small;
    return elements * static_cast<std::int64_t>(sizeof(double));
}

std::string bytesText(std::int64_t bytes)
{
    constexpr double mebi = 1024.0 * 1024.0;
    const double size = static_cast<double>(bytes) / mebi;
    return size < 1024 ? fmt::format("{:.0f} MiB", std::ceil(size)) : fmt::format("{:.1f} GiB", size / 1024);
}

} // namespace

Result<DeepCost> deepCost(const MatrixShape& shape, const CellRequest& cell, const Catalogue& catalogue)
{
    const auto program = TRY(programOf(shape, cell, catalogue, cell.precision));
    const auto exact = TRY(programOf(shape, cell, catalogue, Precision::fp64));
    DeepCost cost;
    const bool compared = cell.precision != Precision::fp64;
    cost.flops = program.gemmFlops() + (compared ? exact.gemmFlops() : 0) + measuringFlops(program);
    cost.bytes = exact.workspaceBytes(sizeof(double)) + heldBytes(program.shape)
        + (compared ? program.workspaceBytes(sizeof(float)) : 0);
    return cost;
}

std::string deepCostText(const DeepCost& cost)
{
    return fmt::format("{} at {} ({}), {}", aboutSeconds(cost.flops / assumedRate), operationsText(assumedRate, true),
        operationsText(cost.flops), bytesText(cost.bytes));
}

Result<void> allowDeep(const DeepCost& cost)
{
    if (cost.flops <= mostDeepFlops && cost.bytes <= mostDeepBytes) {
        return {};
    }
    return failure(ErrorKind::refused,
        fmt::format("deep gauges of this matrix take {}, and the most they may is {} and {}; ask for fewer steps, or "
                    "for a capture with a smaller matrix",
            deepCostText(cost), operationsText(mostDeepFlops), bytesText(mostDeepBytes)));
}

int worstBatch(const Cell& cell)
{
    const auto worst = std::max_element(cell.batches.begin(), cell.batches.end(),
        [](const BatchOutcome& a, const BatchOutcome& b) { return a.outcome < b.outcome; });
    return worst == cell.batches.end() ? 0 : worst->batch;
}

} // namespace nanscope::replay
