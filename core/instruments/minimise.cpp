// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/minimise.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/base/try.h"
#include "core/replay/engine/outcome.h"

namespace nanscope::instruments {

namespace {

std::size_t offsetOf(const MatrixShape& shape, std::int64_t batch, std::int64_t row, std::int64_t col, DType dtype)
{
    return static_cast<std::size_t>((batch * shape.rows + row) * shape.cols + col) * sizeOf(dtype);
}

/// Bit for bit: a negative zero is something that can be left out.
bool isZeroIn(const Matrices& matrices, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols)
{
    const auto shape = matrices.matrices();
    const auto width = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(cols) * sizeOf(matrices.dtype));
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
        for (auto at = row; at < row + rows; ++at) {
            const auto begin =
                matrices.bytes.begin() + static_cast<std::ptrdiff_t>(offsetOf(shape, batch, at, col, matrices.dtype));
            if (std::any_of(begin, begin + width, [](std::byte byte) { return byte != std::byte {0}; })) {
                return false;
            }
        }
    }
    return true;
}

std::optional<Symptom> symptomOf(const Judged& judged)
{
    if (!judged.answered()) {
        return std::nullopt;
    }
    Symptom symptom {judged.worst, false};
    for (std::size_t i = 0; i < judged.outcomes.size(); ++i) {
        const auto& scan = judged.scans[i];
        symptom.wholeMatrix = symptom.wholeMatrix
            || (judged.outcomes[i] == judged.worst && scan.count > 0 && scan.nonFinite() == scan.count);
    }
    return symptom;
}

} // namespace

Matrices cutOut(const Matrices& from, const Cut& cut)
{
    const auto shape = from.matrices();
    Matrices result {from.dtype, from.shape, {}, {}};
    if (result.shape.size() > 2) {
        result.shape = {static_cast<std::int64_t>(cut.batches.size()), cut.rows, cut.cols};
    } else if (result.shape.size() == 2) {
        result.shape = {cut.rows, cut.cols};
    } else {
        result.shape = {cut.cols};
    }
    const auto width = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(cut.cols) * sizeOf(from.dtype));
    for (const auto batch : cut.batches) {
        for (auto row = cut.row; row < cut.row + cut.rows; ++row) {
            const auto begin =
                from.bytes.begin() + static_cast<std::ptrdiff_t>(offsetOf(shape, batch, row, cut.col, from.dtype));
            result.bytes.insert(result.bytes.end(), begin, begin + width);
        }
    }
    return result;
}

Matrices withZeros(const Matrices& from, std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols)
{
    auto result = from;
    const auto shape = from.matrices();
    const auto width = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(cols) * sizeOf(from.dtype));
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
        for (auto at = row; at < row + rows; ++at) {
            const auto begin =
                result.bytes.begin() + static_cast<std::ptrdiff_t>(offsetOf(shape, batch, at, col, from.dtype));
            std::fill(begin, begin + width, std::byte {0});
        }
    }
    return result;
}

std::int64_t nonZeroIn(const Matrices& matrices)
{
    const auto values = valuesOf(matrices);
    return std::ranges::count_if(values, [](double value) { return value != 0; });
}

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t quackSide = 256; ///< kernels are taken above it, or from it on, as the version goes
constexpr std::int64_t alignment = 8;

/// So many calls that one in ten is met nineteen times in twenty: 0.9^28 = 0.052.
constexpr int callsToMeet = 28;

/// Tries after which a symptom of this frequency is missed once in 20 times.
int triesFor(int met, int made)
{
    constexpr double missed = 0.05;
    const double clean = 1 - static_cast<double>(met) / made;
    return clean <= 0 ? 1 : static_cast<int>(std::ceil(std::log(missed) / std::log(clean)));
}

class Shrink
{
public:
    Shrink(Measurement& measurement, const MinimiseRequest& request)
        : m_measurement(measurement)
        , m_request(request)
        , m_left(measurement.inputBatch().input)
    { }

    Result<MinimiseAnswer> run();

private:
    Result<bool> shows(const Matrices& candidate);
    Result<void> begin();
    Result<bool> keepIf(Matrices candidate);
    Result<void> dropBatches();
    Result<void> halve();
    Result<bool> halveOnce();
    Result<void> zeroBlocks();
    Result<bool> zeroOnce(std::int64_t blockRows, std::int64_t blockCols);
    bool spent() const { return m_calls >= m_request.calls; }
    void conclude();

    Measurement& m_measurement;
    const MinimiseRequest& m_request;
    Matrices m_left;
    MinimiseAnswer m_answer;
    Matrices m_lastOutput;
    int m_calls = 0;
};

Result<bool> Shrink::shows(const Matrices& candidate)
{
    m_measurement.setDirections(replay::signalDirections(candidate.matrices(), valuesOf(candidate)));
    for (int i = 0; i < m_answer.tries && !spent(); ++i) {
        ++m_calls;
        auto judged = TRY(m_measurement.ask(candidate, m_measurement.inputBatch().epsilon));
        if (symptomOf(judged) == m_answer.symptom) {
            m_lastOutput = std::move(*judged.reply.output);
            return true;
        }
    }
    return false;
}

Result<bool> Shrink::keepIf(Matrices candidate)
{
    auto found = shows(candidate);
    if (found && *found) {
        m_left = std::move(candidate);
        m_answer.output = m_lastOutput;
    }
    return found;
}

/// How often the symptom comes, in up to so many calls; one that came every time at first is taken for one that does.
Result<void> Shrink::begin()
{
    constexpr int atFirst = 3;
    const int most = m_request.tries.value_or(m_measurement.facts().own ? callsToMeet : 1);
    std::optional<Symptom> symptom;
    int met = 0;
    int made = 0;
    while (made < most && !spent() && (made < atFirst || met < made)) {
        ++m_calls;
        ++made;
        const auto seen = symptomOf(TRY(m_measurement.ask()));
        const bool shown = seen && seen->outcome != Outcome::finite;
        symptom = !symptom || (shown && met == 0) ? seen : symptom;
        met += shown && seen == symptom ? 1 : 0;
    }
    const auto& path = m_measurement.inputBatch().path;
    if (!symptom) {
        return failure(ErrorKind::usage, "there was no output to make a smaller input for", path);
    }
    if (met == 0) {
        return failure(ErrorKind::usage,
            fmt::format("the outcome is finite in {} call{}: there is no symptom to keep in a smaller input", made,
                made == 1 ? "" : "s"),
            path);
    }
    m_answer.symptom = *symptom;
    m_answer.tries = m_request.tries.value_or(triesFor(met, made));
    const auto again = TRY(keepIf(m_left));
    if (!again) {
        return failure(ErrorKind::usage,
            fmt::format("the output was {} in {} of {} calls and not in {} tries after that; raise --tries",
                describe(*symptom), met, made, m_answer.tries),
            path);
    }
    return {};
}

/// One matrix alone, if one will do; else the batch stays whole, since what shows only together needs it together.
Result<void> Shrink::dropBatches()
{
    const auto shape = m_left.matrices();
    for (std::int64_t batch = 0; shape.batch > 1 && batch < shape.batch && !spent(); ++batch) {
        const auto kept = TRY(keepIf(cutOut(m_left, {{batch}, 0, shape.rows, 0, shape.cols})));
        if (kept) {
            m_answer.batches = {m_measurement.inputBatch().firstBatch + batch};
            break;
        }
    }
    return {};
}

/// The largest size below `size` that keeps what the class asks of one side, at most half if that is possible.
std::int64_t smaller(std::int64_t size, const DispatchClass& dispatch)
{
    const auto step = dispatch.multipleOf8 ? alignment : 1;
    const auto least = (dispatch.leastSide + step - 1) / step * step;
    return std::max(size / 2 / step * step, least);
}

Result<bool> Shrink::halveOnce()
{
    const auto shape = m_left.matrices();
    const auto& dispatch = m_answer.dispatch;
    const auto rows = smaller(shape.rows, dispatch);
    const auto cols = smaller(shape.cols, dispatch);
    std::vector<std::pair<std::int64_t, std::int64_t>> sizes {{rows, cols}, {rows, shape.cols}, {shape.rows, cols}};
    std::vector<std::int64_t> all(static_cast<std::size_t>(shape.batch));
    std::iota(all.begin(), all.end(), 0);
    for (const auto& [height, width] : sizes) {
        if (!dispatch.has(height, width) || height > shape.rows || width > shape.cols
            || height * width >= shape.elements()) {
            continue;
        }
        for (const auto row : {std::int64_t {0}, shape.rows - height}) {
            for (const auto col : {std::int64_t {0}, shape.cols - width}) {
                auto kept = spent() ? false : keepIf(cutOut(m_left, {all, row, height, col, width}));
                if (!kept || *kept) {
                    return kept;
                }
            }
        }
    }
    return false;
}

Result<void> Shrink::halve()
{
    for (bool smallerYet = true; smallerYet && !spent();) {
        smallerYet = TRY(halveOnce());
    }
    return {};
}

Result<bool> Shrink::zeroOnce(std::int64_t blockRows, std::int64_t blockCols)
{
    bool any = false;
    const auto shape = m_left.matrices();
    for (std::int64_t row = 0; row < shape.rows; row += blockRows) {
        for (std::int64_t col = 0; col < shape.cols && !spent(); col += blockCols) {
            const auto rows = std::min(blockRows, shape.rows - row);
            const auto cols = std::min(blockCols, shape.cols - col);
            if (isZeroIn(m_left, row, rows, col, cols)) {
                continue;
            }
            auto kept = TRY(keepIf(withZeros(m_left, row, rows, col, cols)));
            any = any || kept;
        }
    }
    return any;
}

/// Blocks of a half, then of a quarter and so on, so that few calls empty most of the matrix.
Result<void> Shrink::zeroBlocks()
{
    const auto shape = m_left.matrices();
    auto rows = shape.rows;
    auto cols = shape.cols;
    while ((rows > 1 || cols > 1) && !spent()) {
        rows = std::max<std::int64_t>(1, (rows + 1) / 2);
        cols = std::max<std::int64_t>(1, (cols + 1) / 2);
        TRY(zeroOnce(rows, cols));
    }
    return {};
}

void Shrink::conclude()
{
    const auto after = m_left.matrices();
    m_answer.after = m_left.shape;
    m_answer.nonZeroAfter = nonZeroIn(m_left);
    m_answer.exhausted = spent();
    m_answer.epsilon = m_measurement.inputBatch().epsilon;
    m_answer.sentence = fmt::format("{} non-zero of {} elements are left of {}, and the output is still {}{}",
        countText(m_answer.nonZeroAfter), countText(after.batch * after.elements()), shapeText(m_answer.before),
        m_answer.tries > 1 ? fmt::format("{} in one of {} tries", describe(m_answer.symptom), m_answer.tries)
                           : describe(m_answer.symptom),
        m_answer.exhausted ? "; the calls were used up, so that less may do (--calls)" : "");
    m_answer.input = std::move(m_left);
}

Result<MinimiseAnswer> Shrink::run()
{
    const auto shape = m_left.matrices();
    m_answer.before = m_left.shape;
    m_answer.nonZeroBefore = nonZeroIn(m_left);
    m_answer.dispatch = dispatchClass(shape.rows, shape.cols, !m_measurement.facts().own);
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
        m_answer.batches.push_back(m_measurement.inputBatch().firstBatch + batch);
    }
    m_measurement.setPhase("minimise", m_request.calls, "calls");
    for (const auto part : {&Shrink::begin, &Shrink::dropBatches, &Shrink::halve, &Shrink::zeroBlocks}) {
        TRY((this->*part)());
    }
    conclude();
    return std::move(m_answer);
}

} // namespace

bool DispatchClass::has(std::int64_t rows, std::int64_t cols) const
{
    const bool aligned = !multipleOf8 || (rows % alignment == 0 && cols % alignment == 0);
    return aligned && (rows == cols) == square && (rows > cols) == tall && std::min(rows, cols) >= leastSide;
}

DispatchClass dispatchClass(std::int64_t rows, std::int64_t cols, bool ofCell)
{
    DispatchClass result;
    result.square = rows == cols;
    result.tall = rows > cols;
    if (!ofCell) {
        result.multipleOf8 = rows % alignment == 0 && cols % alignment == 0;
        const auto side = std::min(rows, cols);
        result.leastSide = side > quackSide ? quackSide + 1 : side == quackSide ? quackSide : 1;
    }
    return result;
}

std::string describe(const DispatchClass& dispatch)
{
    std::vector<std::string> words {dispatch.square ? "square"
            : dispatch.tall                         ? "more rows than columns"
                                                    : "more columns than rows"};
    if (dispatch.multipleOf8) {
        words.emplace_back("both sides multiples of 8");
    }
    if (dispatch.leastSide > 1) {
        words.push_back(fmt::format("no side below {}", dispatch.leastSide));
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

std::string describe(const Symptom& symptom)
{
    switch (symptom.outcome) {
    case Outcome::nan:
        return symptom.wholeMatrix ? "all NaN" : "partly NaN";
    case Outcome::inf:
        return symptom.wholeMatrix ? "all Inf" : "partly Inf";
    case Outcome::zero:
        return "silently all zero";
    default:
        return std::string(name(symptom.outcome));
    }
}

Result<MinimiseAnswer> minimise(Measurement& measurement, const MinimiseRequest& request)
{
    return Shrink(measurement, request).run();
}

Result<void> writeMinimised(const MinimiseAnswer& answer, const std::string& path, const std::string& original)
{
    std::error_code error;
    if (fs::equivalent(path, original, error)) {
        return failure(ErrorKind::usage, "this is the original capture, which is never written over", path);
    }
    const auto tensor = [](const char* name, const Matrices& matrices) {
        return tensorfile::TensorToWrite {name, matrices.dtype, matrices.shape, matrices.bytes};
    };
    std::vector<std::pair<std::string, tensorfile::ValueToWrite>> entries {{"input", tensor("input", answer.input)},
        {"output", tensor("output", answer.output)}, {"rank", std::int64_t {0}}, {"shape", answer.input.shape},
        {"dtype", fmt::format("torch.{}", torchName(answer.input.dtype))}};
    if (answer.epsilon) {
        entries.emplace_back("epsilon", *answer.epsilon);
    }
    return tensorfile::writePt(path, entries);
}

} // namespace nanscope::instruments
