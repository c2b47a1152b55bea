// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/spectrumcheck.h"

#include <algorithm>
#include <cmath>

#include <Eigen/SVD>
#include <fmt/format.h>

#include "core/base/abandon.h"
#include "core/base/try.h"
#include "core/replay/engine/spectrum.h"
#include "core/replay/program/program.h"

namespace nanscope::instruments {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMatrix = Eigen::Map<const RowMajor>;

constexpr double leadingShare = 0.01;
constexpr int mostLeading = 32;

void add(Triplets& triplets, double sigma, const Eigen::VectorXd& left, const Eigen::VectorXd& right)
{
    triplets.sigma.push_back(sigma);
    triplets.left.insert(triplets.left.end(), left.begin(), left.end());
    triplets.right.insert(triplets.right.end(), right.begin(), right.end());
}

} // namespace

Triplets singularTriplets(std::span<const double> matrix, std::int64_t rows, std::int64_t cols, std::int64_t exactUpTo,
    const CancelToken& cancel)
{
    Triplets triplets {rows, cols, {}, {}, {}, std::min(rows, cols) <= exactUpTo};
    const ConstMatrix map(matrix.data(), rows, cols);
    // Scaled by the largest element, or the squares of a huge or tiny matrix leave the range of double.
    const double scale = map.cwiseAbs().maxCoeff();
    if (triplets.exact) {
        const auto svd = unlessCancelled(
            [scaled = Eigen::MatrixXd(map / scale)] {
                return Eigen::BDCSVD<Eigen::MatrixXd>(scaled, Eigen::ComputeThinU | Eigen::ComputeThinV);
            },
            cancel);
        for (Eigen::Index i = 0; svd && i < svd->singularValues().size(); ++i) {
            add(triplets, svd->singularValues()[i] * scale, svd->matrixU().col(i), svd->matrixV().col(i));
        }
        return triplets;
    }
    for (const auto& direction : replay::leadingDirections(matrix, rows, cols, leadingShare, mostLeading, cancel)) {
        const Eigen::Map<const Eigen::VectorXd> left(direction.left.data(), rows);
        const Eigen::VectorXd right = (map / scale).transpose() * left;
        add(triplets, direction.sigma, left, right.normalized());
    }
    return triplets;
}

std::vector<double> along(const Triplets& triplets, ValueView matrix)
{
    const auto count = static_cast<Eigen::Index>(triplets.sigma.size());
    const std::vector<double> wide(matrix.begin(), matrix.end());
    const ConstMatrix map(wide.data(), triplets.rows, triplets.cols);
    const ConstMatrix left(triplets.left.data(), count, triplets.rows);
    const ConstMatrix right(triplets.right.data(), count, triplets.cols);
    const RowMajor image = left * map;
    std::vector<double> values;
    for (Eigen::Index i = 0; i < count; ++i) {
        values.push_back(image.row(i).dot(right.row(i)));
    }
    return values;
}

namespace {

/// Rounding differs from one order of operations to the next by no more than it moves each of them; three times that is
/// more than any of 8 members was seen to take.
constexpr double allowedSpread = 3;
constexpr std::size_t membersOfStep = 3; ///< of the envelope, for the iterates before the last
constexpr double leastAllowed = 1e-9; ///< of the decomposition itself

/// Ops that leave p(sigma) as it is. Others, such as an equalisation of rows, turn the singular vectors.
constexpr OpName polynomialOps[] {OpName::input, OpName::cast, OpName::norm, OpName::normalize, OpName::gram,
    OpName::polynomial, OpName::update, OpName::output, OpName::z, OpName::q, OpName::r, OpName::restart};

bool isPolynomial(const replay::Program& program)
{
    return std::ranges::all_of(replay::opsOf(program),
        [](const OpTrace& op) { return std::ranges::find(polynomialOps, op.op) != std::end(polynomialOps); });
}

class Check
{
public:
    Check(Measurement& measurement, CellTarget* reference)
        : m_measurement(measurement)
        , m_reference(reference)
        , m_shape(measurement.inputBatch().input.matrices())
        , m_element(measurement.inputBatch().watched)
        , m_matrix(matrixOf(std::span<const double>(measurement.inputBatch().values), m_shape, m_element))
    {
        m_alone = packed(DType::float64, {m_shape.rows, m_shape.cols}, m_matrix);
    }

    Result<SpectrumAnswer> run();

private:
    using Gains = std::vector<double>;

    Question question() const
    {
        return {m_alone, m_measurement.inputBatch().epsilon, m_measurement.inputBatch().forceEpsilon};
    }
    Result<replay::Replay> replayed(const CellTarget::Detour& detour)
    {
        auto done = m_reference->replayed(question(), detour, m_measurement.job().cancel);
        if (done) {
            m_measurement.note(*done);
        }
        return done;
    }
    Result<void> prepare();
    std::optional<int> detourOf(int steps) const;
    Result<Gains> expectedAfter(int steps);
    Result<Gains> allowedAfter(int steps, const Gains& expected);
    Result<void> addStage(int step, ValueView matrix);
    Result<void> addIterates();
    Result<void> addOutput();
    void conclude();

    Measurement& m_measurement;
    CellTarget* m_reference;
    MatrixShape m_shape;
    std::size_t m_element;
    std::span<const double> m_matrix;
    Matrices m_alone; ///< the watched matrix, as doubles
    Triplets m_triplets;
    replay::Program m_program; ///< of the reference
    SpectrumAnswer m_answer;
};

Result<void> Check::prepare()
{
    const auto& cancel = m_measurement.job().cancel;
    m_triplets = singularTriplets(m_matrix, m_shape.rows, m_shape.cols, mostForExact, cancel);
    if (cancel.cancelled()) {
        return failure(ErrorKind::cancelled, "the measurement was cancelled");
    }
    m_answer.batch = m_measurement.inputBatch().firstBatch + static_cast<std::int64_t>(m_element);
    m_answer.exact = m_triplets.exact;
    m_answer.frobenius = std::sqrt(m_measurement.inputBatch().scans[m_element].sumSquares);
    if (m_reference != nullptr) {
        auto whole = TRY(replayed({}));
        m_program = std::move(whole.program);
        m_answer.variant = m_program.variant;
        m_answer.closedForm = isPolynomial(m_program);
    }
    return {};
}

/// All of them are not asked for by number: some sources refuse any but their own.
std::optional<int> Check::detourOf(int steps) const
{
    return steps == static_cast<int>(m_program.steps.size()) ? std::nullopt : std::optional(steps);
}

Result<Check::Gains> Check::expectedAfter(int steps)
{
    if (!m_answer.closedForm) {
        const auto exact = TRY(replayed({detourOf(steps), std::nullopt, Precision::fp64}));
        return along(m_triplets, exact.outputs.front());
    }
    const auto& variant = m_reference->variant();
    const double norm = m_answer.frobenius * variant.normFactor;
    const double denominator =
        variant.epsilonRule == replay::EpsilonRule::add ? norm + m_program.epsilon : std::max(norm, m_program.epsilon);
    const std::span<const replay::Coefficients> schedule(m_program.steps);
    Gains values;
    for (const double sigma : m_triplets.sigma) {
        values.push_back(replay::applySchedule(schedule.first(static_cast<std::size_t>(steps)), sigma / denominator));
    }
    return values;
}

/// How far the envelope of the same variant in its own format lies from what is expected, per singular value and its
/// neighbours.
Result<Check::Gains> Check::allowedAfter(int steps, const Gains& expected)
{
    auto members = replay::envelopeOf(m_reference->lowering());
    if (steps < static_cast<int>(m_program.steps.size())) {
        members.resize(std::min(members.size(), membersOfStep));
    }
    Gains spread(expected.size(), 0);
    for (const auto& member : members) {
        const auto done = TRY(replayed({detourOf(steps), member, std::nullopt}));
        const auto found = along(m_triplets, done.outputs.front());
        for (std::size_t i = 0; i < spread.size(); ++i) {
            const double distance = std::abs(found[i] - expected[i]);
            spread[i] = std::isfinite(distance) ? std::max(spread[i], distance) : distance;
        }
    }
    constexpr std::size_t neighbours = 2;
    const double ulps = 4 * epsilonOf(m_program.precision);
    Gains allowed;
    for (std::size_t i = 0; i < spread.size(); ++i) {
        const auto begin = spread.begin() + static_cast<std::ptrdiff_t>(i - std::min(i, neighbours));
        const auto end = spread.begin() + static_cast<std::ptrdiff_t>(std::min(i + neighbours + 1, spread.size()));
        allowed.push_back(allowedSpread * *std::max_element(begin, end) + ulps * std::abs(expected[i]) + leastAllowed);
    }
    return allowed;
}

Result<void> Check::addStage(int step, ValueView matrix)
{
    SpectrumStage stage;
    stage.step = step;
    stage.finite = std::ranges::all_of(matrix, [](double value) { return std::isfinite(value); });
    Gains expected;
    Gains allowed;
    if (stage.finite && m_reference != nullptr) {
        const int steps = step > 0 ? step : static_cast<int>(m_program.steps.size());
        expected = TRY(expectedAfter(steps));
        allowed = TRY(allowedAfter(steps, expected));
    }
    double inside = 0;
    const auto found = stage.finite ? along(m_triplets, matrix) : Gains();
    for (std::size_t i = 0; i < found.size(); ++i) {
        SpectrumLine line {m_triplets.sigma[i], m_triplets.sigma[i] / m_answer.frobenius, found[i], {}, 0, false};
        if (!expected.empty()) {
            line.expected = expected[i];
            line.allowed = allowed[i];
            line.flagged = std::abs(found[i] - expected[i]) > allowed[i];
        }
        inside += found[i] * found[i];
        stage.lines.push_back(line);
    }
    double whole = 0;
    for (const double value : matrix) {
        whole += value * value;
    }
    stage.outside = stage.finite && whole > 0 ? std::sqrt(std::max(0.0, 1 - inside / whole)) : 0;
    m_answer.stages.push_back(std::move(stage));
    return {};
}

Result<void> Check::addIterates()
{
    const int steps = static_cast<int>(m_program.steps.size());
    m_measurement.setPhase("spectrum", steps, "steps");
    for (int step = m_reference->variant().beyond == replay::Beyond::exact ? steps : 1; step <= steps; ++step) {
        const auto iterate = TRY(replayed({detourOf(step), std::nullopt, std::nullopt}));
        TRY(addStage(step, iterate.outputs.front()));
        m_measurement.job().progress({"measure", "spectrum", step, steps, "steps", {}});
    }
    return {};
}

Result<void> Check::addOutput()
{
    m_measurement.setPhase("spectrum", 1, "calls");
    const auto judged = TRY(m_measurement.ask());
    if (!judged.answered()) {
        return {};
    }
    return addStage(0, matrixOf(std::span<const double>(judged.values), m_shape, m_element));
}

void Check::conclude()
{
    if (m_answer.stages.empty()) {
        m_answer.sentence = "the call gave no output";
        return;
    }
    const auto& last = m_answer.stages.back();
    const auto flagged = std::ranges::count_if(last.lines, &SpectrumLine::flagged);
    if (!last.finite) {
        m_answer.sentence = "the output is not finite: no singular direction can be followed into it";
    } else if (m_answer.variant.empty()) {
        m_answer.sentence = "nobody said which variant it is (--variant): what is expected is not known";
    } else if (flagged == 0) {
        m_answer.sentence =
            fmt::format("all {} singular values became what {} makes of them, as far as rounding allows",
                last.lines.size(), m_answer.variant);
    } else {
        m_answer.sentence = fmt::format("{} of {} singular values became something else than {} makes of them, by more "
                                        "than three times what its roundings do",
            flagged, last.lines.size(), m_answer.variant);
    }
}

Result<SpectrumAnswer> Check::run()
{
    const auto& scan = m_measurement.inputBatch().scans[m_element];
    if (!scan.finite() || scan.allZero()) {
        return failure(ErrorKind::usage,
            fmt::format("matrix {} is {}: it has no singular values to follow",
                m_measurement.inputBatch().firstBatch + static_cast<std::int64_t>(m_element),
                scan.finite() ? "all zero" : "not finite"),
            m_measurement.inputBatch().path);
    }
    m_measurement.job().progress({"measure", "singular values", 0, 0, "", {}});
    TRY(prepare());
    TRY(m_measurement.facts().own ? addOutput() : addIterates());
    conclude();
    return m_answer;
}

} // namespace

Result<SpectrumAnswer> checkSpectrum(Measurement& measurement, CellTarget* reference)
{
    return Check(measurement, reference).run();
}

} // namespace nanscope::instruments
