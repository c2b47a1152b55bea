// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/instruments/measurement.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/try.h"
#include "core/platform/platform.h"
#include "core/replay/engine/outcome.h"
#include "core/tensorfile/convert.h"
#include "core/tensorfile/scan/scantensor.h"

namespace nanscope::instruments {

namespace {

constexpr std::size_t mostComplaints = 8;

std::vector<Scan> scansOf(std::span<const double> values, const MatrixShape& shape, DType dtype)
{
    std::vector<Scan> scans;
    for (std::int64_t i = 0; i < shape.batch; ++i) {
        const auto matrix = matrixOf(values, shape, static_cast<std::size_t>(i));
        scans.push_back(
            tensorfile::scanMatrix(matrix, shape.rows, shape.cols, false, tensorfile::smallestNormalOf(dtype)));
    }
    return scans;
}

std::size_t firstSound(const std::vector<Scan>& scans)
{
    const auto found =
        std::find_if(scans.begin(), scans.end(), [](const Scan& scan) { return scan.finite() && !scan.allZero(); });
    return found == scans.end() ? 0 : static_cast<std::size_t>(found - scans.begin());
}

} // namespace

Result<void> allowSize(const tensorfile::Tensor& input, std::int64_t count)
{
    // As bits, as doubles, the output twice, and the workspace of one replay, which is about four matrices.
    constexpr double copies = 10 * sizeof(double);
    const auto bytes = static_cast<double>(count) * static_cast<double>(input.matrices().elements()) * copies;
    if (bytes > static_cast<double>(platform::physicalMemory())) {
        return failure(ErrorKind::refused,
            fmt::format(
                "{} matrices of {} × {} take about {:.0f} GiB here, more than this machine has; choose one with "
                "--batch",
                count, input.matrices().rows, input.matrices().cols, bytes / 0x1p30));
    }
    return {};
}

InputBatch inputBatchOf(Matrices input, std::optional<double> epsilon, const CancelToken& cancel)
{
    InputBatch inputBatch;
    inputBatch.epsilon = epsilon;
    inputBatch.values = valuesOf(input);
    const auto shape = input.matrices();
    inputBatch.scans = scansOf(inputBatch.values, shape, input.dtype);
    inputBatch.directions = replay::signalDirections(shape, inputBatch.values, cancel);
    inputBatch.watched = firstSound(inputBatch.scans);
    inputBatch.input = std::move(input);
    return inputBatch;
}

Result<InputBatch> openInputBatch(const CaptureRef& capture, std::optional<std::int64_t> batch,
    std::optional<double> epsilon, const CancelToken& cancel)
{
    const auto file = TRY(tensorfile::openCapture(capture));
    const auto shape = file.input.matrices();
    if (!tensorfile::isReal(file.input.dtype()) || shape.elements() == 0 || shape.batch == 0) {
        return failure(ErrorKind::format, "the input of the capture holds no matrix of real numbers", capture.path);
    }
    if (batch && (*batch < 0 || *batch >= shape.batch)) {
        return failure(ErrorKind::usage,
            fmt::format("there is no matrix {}, the capture holds {}", *batch, shape.batch), capture.path);
    }
    const auto count = batch ? 1 : shape.batch;
    TRY(allowSize(file.input, count));
    auto input = TRY(readMatrices(file.input, batch.value_or(0), count));
    auto inputBatch = inputBatchOf(std::move(input), epsilon ? epsilon : file.capture.epsilon, cancel);
    if (cancel.cancelled()) {
        return failure(ErrorKind::cancelled, "the measurement was cancelled");
    }
    inputBatch.file = file.capture.file;
    inputBatch.path = capture.path;
    inputBatch.forceEpsilon = epsilon.has_value();
    inputBatch.firstBatch = batch.value_or(0);
    return inputBatch;
}

void MeasureLog::complain(const std::string& text)
{
    if (complaints.size() < mostComplaints && std::ranges::find(complaints, text) == complaints.end()) {
        complaints.push_back(text);
    }
}

Measurement::Measurement(Target& target, const InputBatch& inputBatch, JobContext job)
    : m_target(target)
    , m_inputBatch(inputBatch)
    , m_job(std::move(job))
    , m_facts(target.facts())
    , m_directions(inputBatch.directions)
{ }

void Measurement::setExpected(const std::array<double, 2>& outputRange, bool turnsDirections)
{
    m_facts.outputRange = outputRange;
    m_facts.turnsDirections = turnsDirections;
}

void Measurement::startAgain(const std::string& why)
{
    m_facts = m_target.facts();
    m_log = {};
    m_log.complain(why);
    m_directions = m_inputBatch.directions;
}

void Measurement::setPhase(const std::string& job, std::int64_t total, const std::string& unit)
{
    m_progress = {"measure", job, 0, total, unit, {}};
    m_job.progress(m_progress);
}

void Measurement::judge(Judged& judged, const Matrices& input) const
{
    const auto shape = input.matrices();
    const auto given = scansOf(valuesOf(input), shape, input.dtype);
    judged.values = valuesOf(*judged.reply.output);
    judged.scans = scansOf(judged.values, shape, judged.reply.output->dtype);
    const std::vector<replay::SingularDirection> none;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const auto& along = !m_facts.turnsDirections && i < m_directions.size() ? m_directions[i] : none;
        const auto values = matrixOf(std::span<const double>(judged.values), shape, i);
        judged.outcomes.push_back(replay::judgeOutcome(
            given[i], judged.scans[i], replay::gainsAlong(along, values, shape.cols), m_facts.outputRange));
    }
    judged.worst = *std::ranges::max_element(judged.outcomes);
}

void Measurement::note(const replay::Replay& replay)
{
    ++m_log.calls;
    m_log.seconds += replay.seconds;
}

Result<Judged> Measurement::ask(const Matrices& input, const std::optional<double>& epsilon, bool forceEpsilon)
{
    auto reply = TRY(m_target.call({input, epsilon, forceEpsilon || m_inputBatch.forceEpsilon}, m_job.cancel));
    ++m_log.calls;
    m_log.seconds += reply.seconds;
    Judged judged;
    judged.reply = std::move(reply);
    if (judged.reply.output) {
        judge(judged, input);
    } else {
        ++m_log.failed;
        m_log.complain(judged.reply.complaint);
    }
    ++m_progress.done;
    m_job.progress(m_progress);
    return judged;
}

Result<Burst> Measurement::burst(const BurstOptions& options)
{
    JobContext job = m_job;
    job.progress = [this](const Progress& update) {
        auto own = m_progress;
        own.done += update.done;
        m_job.progress(own);
    };
    auto burst = m_target.burst({m_inputBatch.input, m_inputBatch.epsilon, m_inputBatch.forceEpsilon}, options, job);
    if (burst) {
        m_log.calls += static_cast<std::int64_t>(burst->calls.size());
        m_progress.done += static_cast<std::int64_t>(burst->calls.size());
        m_log.failed += std::ranges::count_if(burst->calls, [](const BurstCall& call) { return call.hash.empty(); });
        for (const auto& text : burst->complaints) {
            m_log.complain(text);
        }
    }
    return burst;
}

} // namespace nanscope::instruments
