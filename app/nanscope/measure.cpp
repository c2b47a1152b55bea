// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/functionoptions.h"
#include "app/nanscope/shared/measurejob.h"
#include "app/nanscope/shared/options.h"
#include "app/nanscope/shared/source.h"
#include "app/nanscope/shared/terminal.h"
#include "app/nanscope/shared/words.h"
#include "app/nanscope/shared/worker.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/instruments/measure.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope {

namespace {

/// The options that say who is measured.
struct TargetOptions
{
    std::string variant;
    std::string precision;
    std::string lowering;
    std::string device = "cpu";
    std::optional<int> steps;
    FunctionOptions function;
    replay::Catalogue catalogue; ///< of the variant

    void add(Options& options);
};

Result<std::string> chosenVariant(const TargetOptions& options, const std::string& path, Terminal& terminal)
{
    if (!options.variant.empty()) {
        return options.variant;
    }
    auto file = TRY(tensorfile::readCapture(path, {}, terminal.job()));
    const auto plausible = TRY(plausibleVariants(file.capture, options.catalogue, terminal));
    if (plausible.names.size() != 1) {
        return failure(ErrorKind::usage,
            fmt::format("the capture does not tell which variant ran; name one with --variant: {}",
                fmt::join(plausible.names, ", ")),
            path);
    }
    return plausible.names.front();
}

Result<instruments::CellChoice> cellChoice(const TargetOptions& options, std::string variant)
{
    instruments::CellChoice choice;
    choice.variant = std::move(variant);
    choice.device = options.function.empty() ? options.device : "cpu";
    choice.steps = options.steps;
    choice.catalogue = options.catalogue;
    if (!options.precision.empty()) {
        choice.precision = TRY(precisionsOf({options.precision})).front();
    }
    if (!options.lowering.empty()) {
        choice.lowering = TRY(loweringsOf({options.lowering})).front();
    }
    return choice;
}

/// What will be run for --impl.
Result<instruments::FunctionChoice> functionChoice(const TargetOptions& options)
{
    return options.function.choice(options.device, options.variant).map([&](instruments::FunctionChoice choice) {
        choice.catalogue = options.catalogue;
        return choice;
    });
}

Result<instruments::MeasuredTarget> openFunction(const TargetOptions& options, Terminal& terminal)
{
    const auto impl = TRY(functionChoice(options));
    std::optional<instruments::CellChoice> expected;
    if (!options.variant.empty()) {
        expected = TRY(cellChoice(options, options.variant));
    }
    sayWhatRuns(impl, terminal);
    return instruments::measuredFunction(impl, expected, terminal.cancelToken());
}

void TargetOptions::add(Options& options)
{
    options.add("--variant", variant, "The variant to replay, or that the function claims to be");
    options.add("--precision", precision, "Number format of the replay; default: the variant's own");
    options.add("--lowering", lowering, "eager or fused; default: the variant's own");
    options
        .add(
            "--device", device, "cpu, or one of nanscope-worker such as cuda:0; of a function any that its torch knows")
        .showDefault();
    options.add("--steps", steps, "Iterations of the replay, 1 to 100");
    function.add(options);
}

/// Without --variant a cell is that of the sidecar, or the one variant that the captured output fits.
Result<instruments::MeasuredTarget> openTarget(
    const TargetOptions& options, const std::string& capture, Terminal& terminal)
{
    if (!options.function.empty()) {
        return openFunction(options, terminal);
    }
    const auto variant = TRY(chosenVariant(options, capture, terminal));
    const auto cell = TRY(cellChoice(options, variant));
    return instruments::measuredCell(
        cell, [&](const std::string& device) { return openDevice(device, terminal.cancelToken()); });
}

class Measure : public Command
{
public:
    explicit Measure(CLI::App& root);
    Result<int> run(Terminal& terminal) override;

private:
    Result<void> check();
    Result<void> checkRead() const;
    Result<int> show(Terminal& terminal) const;

    using Tell = std::function<Result<int>(const instruments::Measurement&, const instruments::MeasureAnswer&)>;
    Result<int> measured(instruments::MeasuredTarget& target, Terminal& terminal, const Tell& tell);
    Result<int> told(const instruments::MeasuredTarget& target, const instruments::Measurement& measurement,
        const instruments::MeasureAnswer& answer, Terminal& terminal) const;

    Result<MeasureTask> task() const;
    Result<int> runJob(Terminal& terminal) const;
    Result<int> runAsRank(Terminal& terminal);
    Result<int> measuredBy(const MeasuringRank& rank, Terminal& terminal);

    Result<void> write(const instruments::MeasureAnswer& answer) const;

    std::string m_name;
    instruments::MeasureRequest m_request;
    TargetOptions m_target;
    std::string m_roundTo;
    std::string m_out;
    std::string m_session;
    JobOptions m_job;
    bool m_asRank = false;
};

Measure::Measure(CLI::App& root)
    : Command(root, "measure", "Put one capture to a replay or to your own function, under an instrument")
{
    options().add("instrument", m_name, "scale, epsilon, repeat, storm, input, spectrum or minimise").required();
    options().add("capture", m_request.capture.path, "A capture").required();
    m_target.add(options());
    addVariantFileOption();
    options().add("--session", m_session, "Know the variants of your own that this session keeps");
    options().add("--batch", m_request.batch, "One matrix of the capture; default: all, or the first that is sound");
    options().add("--epsilon", m_request.epsilon, "Instead of the captured one");
    options().add("-n,--calls", m_request.calls, "repeat, storm: calls (100); minimise: calls at most (300)");
    options().add("--tries", m_request.tries,
        "minimise: calls of each candidate (default: as often as the fault comes asks for)");
    options().add("--round-to", m_roundTo,
        "scale: type the scaled input is rounded to; default: none for a replay, the capture's own for a function");
    options().add("-o,--output", m_out, "minimise: the capture that is written");
    m_job.add(options());
    options().addFlag("--as-rank", m_asRank, "Be one rank of a job, as torchrun or srun starts it");
}

Result<void> Measure::checkRead() const
{
    const auto is = [this](instruments::Instrument instrument) { return m_request.instrument == instrument; };
    const bool replays = m_target.function.empty() || !m_target.variant.empty();
    return options().requireRead({{"`nanscope measure scale`", is(instruments::Instrument::scale), {"--round-to"}},
        {"`nanscope measure repeat`", is(instruments::Instrument::repeat), {"--calls"}},
        {"`nanscope measure storm`", is(instruments::Instrument::storm), {"--calls"}},
        {"`nanscope measure minimise`", is(instruments::Instrument::minimise), {"--calls", "--tries", "-o"}},
        {"a replay, or of a function that --variant names", replays, {"--precision", "--lowering", "--steps"}},
        {"`nanscope measure` without --show", !m_target.function.show, {"--json", "--job", "--nodes", "--processes"}}});
}

Result<void> Measure::check()
{
    m_request.instrument = TRY(instruments::findInstrument(m_name));
    TRY(checkRead());
    if (m_request.calls && (*m_request.calls < 1 || *m_request.calls > 1000000)) {
        return failure(ErrorKind::usage, "--calls takes 1 to 1000000");
    }
    if (m_request.tries.value_or(1) < 1) {
        return failure(ErrorKind::usage, "--tries takes 1 or more");
    }
    if (m_request.epsilon && !(std::isfinite(*m_request.epsilon) && *m_request.epsilon >= 0)) {
        return failure(ErrorKind::usage, "--epsilon takes a finite number of at least 0");
    }
    if (!m_roundTo.empty()) {
        m_request.roundTo = parseDType(m_roundTo);
        if (!m_request.roundTo || !instruments::isPackable(*m_request.roundTo)) {
            return failure(
                ErrorKind::usage, fmt::format("--round-to takes fp64, fp32, fp16 or bf16, not '{}'", m_roundTo));
        }
    }
    const bool writes = m_request.instrument == instruments::Instrument::minimise && !m_target.function.show;
    if (writes && m_out.empty()) {
        return failure(ErrorKind::usage, "minimise writes a capture: name it with -o FILE");
    }
    const bool finds = m_request.instrument == instruments::Instrument::repeat
        || m_request.instrument == instruments::Instrument::storm;
    if ((m_job.wanted() || m_asRank) && !finds) {
        return failure(ErrorKind::usage,
            "a job is of repeat or of storm: the others ask about the numbers, which one device tells");
    }
    return {};
}

Result<int> Measure::show(Terminal& terminal) const
{
    printProgram(TRY(functionChoice(m_target)), terminal);
    return exitDone;
}

Result<void> Measure::write(const instruments::MeasureAnswer& answer) const
{
    const auto* smallest = std::get_if<instruments::MinimiseAnswer>(&answer);
    return smallest == nullptr ? Result<void>() : instruments::writeMinimised(*smallest, m_out, m_request.capture.path);
}

Result<int> Measure::measured(instruments::MeasuredTarget& target, Terminal& terminal, const Tell& tell)
{
    const auto under = TRY(instruments::inputBatchFor(m_request, target, terminal.cancelToken()));
    instruments::Measurement measurement(target.target(), under, terminal.job());
    const auto answer = instruments::measure(m_request, measurement, target);
    const auto written = answer ? write(*answer) : tl::make_unexpected(answer.error());
    if (!written) {
        for (const auto& complaint : measurement.log().complaints) {
            terminal.say(LogLevel::warning, complaint);
        }
        return tl::make_unexpected(written.error());
    }
    return tell(measurement, *answer);
}

Json answerJson(const instruments::MeasuredTarget& target, const instruments::Measurement& measurement,
    const instruments::MeasureAnswer& answer, instruments::Instrument instrument)
{
    auto json = instruments::measureJson(instrument, measurement, answer);
    json["command"] = target.own ? Json(instruments::harnessCommand(target.impl)) : Json(nullptr);
    return json;
}

Result<int> Measure::told(const instruments::MeasuredTarget& target, const instruments::Measurement& measurement,
    const instruments::MeasureAnswer& answer, Terminal& terminal) const
{
    if (terminal.json()) {
        auto json = answerJson(target, measurement, answer, m_request.instrument);
        json["written"] = m_out.empty() ? Json(nullptr) : Json(m_out);
        terminal.printJson(json);
    } else {
        terminal.print(instruments::measureText(m_request.instrument, measurement, answer));
        if (!m_out.empty()) {
            terminal.print(fmt::format("written: {}\n", printable(m_out)));
        }
    }
    const auto& log = measurement.log();
    return log.failed == 0 ? exitDone : log.failed < log.calls ? exitRejected : exitNothing;
}

std::string absolutePath(const std::string& path)
{
    std::error_code ignored;
    return std::filesystem::absolute(path, ignored).string();
}

/// "python:mine.py:f" with the whole path: ranks start in other folders.
std::string withWholePath(const std::string& impl)
{
    const auto target = instruments::functionTarget(impl);
    const auto colon = target ? target->rfind(':') : std::string::npos;
    const bool isFile = colon != std::string::npos && target->substr(0, colon).ends_with(".py");
    return isFile ? "python:" + absolutePath(target->substr(0, colon)) + target->substr(colon) : impl;
}

/// What each rank is told, and what tells this job from others.
Result<MeasureTask> Measure::task() const
{
    const auto device = TRY(jobDevice({m_target.device}));
    // Said here once, not by each rank.
    if (!m_target.function.empty()) {
        TRY(functionChoice(m_target));
    }
    MeasureTask task {m_name, absolutePath(m_request.capture.path), device, {}};
    task.words = {m_name, task.capture, "--device", device};
    const auto add = [&task](const char* option, const std::string& value) {
        if (!value.empty()) {
            task.words.insert(task.words.end(), {option, value});
        }
    };
    const auto addNumber = [&add](const char* option, const auto& value) {
        add(option, value ? fmt::format("{}", *value) : std::string());
    };
    const auto addPath = [&add](const char* option, const std::string& path) {
        add(option, path.empty() ? path : absolutePath(path));
    };
    add("--variant", m_target.variant);
    add("--precision", m_target.precision);
    add("--lowering", m_target.lowering);
    addNumber("--steps", m_target.steps);
    if (const auto& function = m_target.function; !function.empty()) {
        const bool isPath = function.python.find('/') != std::string::npos;
        add("--impl", withWholePath(function.impl));
        add("--python", isPath ? absolutePath(function.python) : function.python);
        add("--timeout", fmt::format("{}", function.timeout));
    }
    for (const auto& file : variantFiles()) {
        addPath("--variant-file", file);
    }
    addPath("--session", m_session);
    addNumber("--batch", m_request.batch);
    addNumber("--epsilon", m_request.epsilon);
    addNumber("--calls", m_request.calls);
    return task;
}

Result<int> Measure::runJob(Terminal& terminal) const
{
    const auto task = TRY(this->task());
    const auto job = TRY(openMeasureJob(m_job, task));
    terminal.answer([&] { return measureJobJson(job, task); }, [&] { return measureJobText(job); });
    // A job that was just made lacks nothing yet.
    return job.gathered.begun && !job.gathered.missing.empty() ? exitRejected : exitDone;
}

Result<int> Measure::runAsRank(Terminal& terminal)
{
    const auto task = TRY(this->task());
    const auto rank = TRY(MeasuringRank::join(m_job, task));
    if (rank.hasAnswer()) {
        terminal.print(printable(rank.name()) + ": has its answer already\n");
        return exitDone;
    }
    m_target.device = rank.device();
    auto done = measuredBy(rank, terminal);
    if (!done && done.error().kind != ErrorKind::cancelled) {
        rank.failed(done.error());
    }
    return done;
}

/// Whatever the calls came to is this rank's answer. Another status than 0 would have torchrun stop the others.
Result<int> Measure::measuredBy(const MeasuringRank& rank, Terminal& terminal)
{
    auto target = TRY(openTarget(m_target, m_request.capture.path, terminal));
    return measured(
        target, terminal, [&](const instruments::Measurement& measurement, const instruments::MeasureAnswer& answer) {
            const auto json = answerJson(target, measurement, answer, m_request.instrument);
            return rank.keep(measurement.facts().environment, measurement.log().seconds, json).map([&] {
                const auto sentence = json["answer"].value("sentence", std::string());
                terminal.print(printable(fmt::format("{}: {}", rank.name(), sentence)) + "\n");
                return static_cast<int>(exitDone);
            });
        });
}

Result<int> Measure::run(Terminal& terminal)
{
    TRY(check());
    if (m_target.function.show) {
        return show(terminal);
    }
    TRY(takeVariantsFrom(m_session, catalogue(), terminal));
    m_target.catalogue = catalogue();
    if (m_asRank) {
        return runAsRank(terminal);
    }
    if (m_job.wanted()) {
        return runJob(terminal);
    }
    auto target = TRY(openTarget(m_target, m_request.capture.path, terminal));
    return measured(
        target, terminal, [&](const instruments::Measurement& measurement, const instruments::MeasureAnswer& answer) {
            return told(target, measurement, answer, terminal);
        });
}

} // namespace

std::unique_ptr<Command> makeMeasure(CLI::App& root)
{
    return std::make_unique<Measure>(root);
}

} // namespace nanscope
