// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/command.h"
#include "app/nanscope/measuresubject.h"
#include "app/nanscope/source.h"
#include "core/base/utf8.h"
#include "core/instruments/answers.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

class Measure : public Command
{
public:
    explicit Measure(CLI::App& root);
    Result<int> run(Terminal& terminal) override;

private:
    Result<void> check();
    Result<int> show(Terminal& terminal) const;
    Result<int> measured(instruments::MeasuredSubject& subject, Terminal& terminal);
    Result<void> write(const instruments::MeasureAnswer& answer) const;

    std::string m_name;
    instruments::MeasureRequest m_request;
    SubjectOptions m_subject;
    std::string m_roundTo;
    std::string m_out;
    std::string m_session;
};

Measure::Measure(CLI::App& root)
    : Command(root, "measure", "Put one capture to a replay or to your own function, under an instrument")
{
    options().add("instrument", m_name, "scale, epsilon, repeat, storm, input, spectrum or minimise").required();
    options().add("capture", m_request.capture.path, "A capture").required();
    m_subject.add(options());
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
}

Result<void> Measure::check()
{
    const auto instrument = instruments::findInstrument(m_name);
    if (!instrument) {
        return tl::make_unexpected(instrument.error());
    }
    m_request.instrument = *instrument;
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
    if ((m_request.instrument == instruments::Instrument::minimise) == m_out.empty() && !m_subject.function.show) {
        return failure(ErrorKind::usage,
            m_out.empty() ? "minimise writes a capture: name it with -o FILE"
                          : "-o is an option of `nanscope measure minimise`");
    }
    return {};
}

Result<int> Measure::show(Terminal& terminal) const
{
    const auto choice = implChoice(m_subject);
    if (!choice) {
        return tl::make_unexpected(choice.error());
    }
    printProgram(*choice, terminal);
    return exitDone;
}

Result<void> Measure::write(const instruments::MeasureAnswer& answer) const
{
    const auto* smallest = std::get_if<instruments::MinimiseAnswer>(&answer);
    return smallest == nullptr ? Result<void>() : instruments::writeMinimised(*smallest, m_out, m_request.capture.path);
}

Result<int> Measure::measured(instruments::MeasuredSubject& subject, Terminal& terminal)
{
    const auto under = instruments::specimenFor(m_request, subject);
    if (!under) {
        return tl::make_unexpected(under.error());
    }
    instruments::Asker asker(subject.subject(), *under, terminal.job());
    const auto answer = instruments::measure(m_request, asker, subject);
    const auto written = answer ? write(*answer) : tl::make_unexpected(answer.error());
    if (!written) {
        for (const auto& complaint : asker.log().complaints) {
            terminal.say(LogLevel::warning, complaint);
        }
        return tl::make_unexpected(written.error());
    }
    if (terminal.json()) {
        auto json = instruments::measureJson(m_request.instrument, asker, *answer);
        json["command"] = subject.own ? Json(instruments::harnessCommand(subject.impl)) : Json(nullptr);
        json["written"] = m_out.empty() ? Json(nullptr) : Json(m_out);
        terminal.printJson(json);
    } else {
        terminal.print(instruments::measureText(m_request.instrument, asker, *answer));
        if (!m_out.empty()) {
            terminal.print(fmt::format("written: {}\n", printable(m_out)));
        }
    }
    const auto& log = asker.log();
    return log.failed == 0 ? exitDone : log.failed < log.calls ? exitRejected : exitNothing;
}

Result<int> Measure::run(Terminal& terminal)
{
    if (auto good = check(); !good) {
        return tl::make_unexpected(good.error());
    }
    if (m_subject.function.show) {
        return show(terminal);
    }
    if (const auto taken = takeVariantsFrom(m_session, terminal); !taken) {
        return tl::make_unexpected(taken.error());
    }
    auto subject = openSubject(m_subject, m_request.capture.path, terminal);
    if (!subject) {
        return tl::make_unexpected(subject.error());
    }
    return measured(*subject, terminal);
}

} // namespace

std::unique_ptr<Command> makeMeasure(CLI::App& root)
{
    return std::make_unique<Measure>(root);
}

} // namespace nanscope
