// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/command.h"
#include "app/nanscope/measuresubject.h"
#include "app/nanscope/measuretext.h"
#include "app/nanscope/words.h"

namespace nanscope {

namespace {

using Json = nlohmann::ordered_json;

/// In the order of the names in measureInstruments.
enum class Instrument { scale, epsilon, repeat, storm, input, spectrum, minimise };
const std::vector<std::string_view> instrumentNames {
    "scale", "epsilon", "repeat", "storm", "input", "spectrum", "minimise"};

/// The same answer for a person and for a program.
struct Told
{
    std::string text;
    Json json;
};

template <class Answer>
Result<Told> told(const Result<Answer>& answer)
{
    return answer ? Result<Told>(Told {measureText(*answer), toJson(*answer)}) : tl::make_unexpected(answer.error());
}

class Measure : public Command
{
public:
    explicit Measure(CLI::App& root);
    Result<int> run(Terminal& terminal) override;

private:
    Result<void> check();
    Result<int> show(Terminal& terminal) const;
    Result<int> measured(MeasuredSubject& subject, Terminal& terminal);
    Result<Specimen> specimen(const MeasuredSubject& subject) const;
    Result<Told> ask(Asker& asker, MeasuredSubject& subject) const;
    Result<Told> askScale(Asker& asker) const;
    Result<Told> askEpsilon(Asker& asker, const MeasuredSubject& subject) const;
    Result<Told> askMinimise(Asker& asker) const;

    std::string m_name;
    Instrument m_instrument = Instrument::scale;
    std::string m_path;
    SubjectOptions m_subject;
    std::optional<std::int64_t> m_batch;
    std::optional<double> m_epsilon;
    std::optional<int> m_calls;
    int m_tries = 1;
    std::string m_roundTo;
    std::optional<DType> m_type;
    std::string m_out;
    bool m_show = false;
};

Measure::Measure(CLI::App& root)
    : Command(root, "measure", "Put one capture to a replay or to your own function, under an instrument")
{
    options()
        .add_option("instrument", m_name, "scale, epsilon, repeat, storm, input, spectrum or minimise")
        ->required();
    options().add_option("capture", m_path, "A capture")->required();
    m_subject.add(options());
    options().add_option("--batch", m_batch, "One matrix of the capture; default: all, or the first that is sound");
    options().add_option("--epsilon", m_epsilon, "Instead of the captured one");
    options().add_option("-n,--calls", m_calls, "repeat, storm: calls (100); minimise: calls at most (300)");
    options().add_option("--tries", m_tries, "minimise: calls of each candidate")->capture_default_str();
    options().add_option("--round-to", m_roundTo,
        "scale: type the scaled input is rounded to; default: none for a replay, the capture's own for a function");
    options().add_option("-o,--output", m_out, "minimise: the capture that is written");
    options().add_flag("--show", m_show, "Print the program that calls the function, and run nothing");
}

Result<void> Measure::check()
{
    const auto instrument = oneOf("instrument", m_name, instrumentNames);
    if (!instrument) {
        return tl::make_unexpected(instrument.error());
    }
    m_instrument = static_cast<Instrument>(*instrument);
    if (m_calls && (*m_calls < 1 || *m_calls > 1000000)) {
        return failure(ErrorKind::usage, "--calls takes 1 to 1000000");
    }
    if (m_tries < 1) {
        return failure(ErrorKind::usage, "--tries takes 1 or more");
    }
    if (m_epsilon && !(std::isfinite(*m_epsilon) && *m_epsilon >= 0)) {
        return failure(ErrorKind::usage, "--epsilon takes a finite number of at least 0");
    }
    if (!m_roundTo.empty()) {
        m_type = parseDType(m_roundTo);
        if (!m_type || !isPackable(*m_type)) {
            return failure(
                ErrorKind::usage, fmt::format("--round-to takes fp64, fp32, fp16 or bf16, not '{}'", m_roundTo));
        }
    }
    if ((m_instrument == Instrument::minimise) == m_out.empty() && !m_show) {
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
    terminal.print(fmt::format("# {}\n{}", harnessCommand(*choice), harnessSource()));
    return exitDone;
}

/// What is of one matrix is replayed of one alone; a function is always given the whole batch it was given then.
Result<Specimen> Measure::specimen(const MeasuredSubject& subject) const
{
    auto whole = openSpecimen(m_path, m_batch, m_epsilon);
    const bool single = m_instrument == Instrument::scale || m_instrument == Instrument::spectrum;
    if (!whole || !single || subject.own || m_batch || whole->input.matrices().batch == 1) {
        return whole;
    }
    return openSpecimen(m_path, static_cast<std::int64_t>(whole->watched), m_epsilon);
}

Result<Told> Measure::askScale(Asker& asker) const
{
    ScaleRequest request;
    request.roundedTo = m_type;
    if (!request.roundedTo && asker.facts().own) {
        request.roundedTo = asker.specimen().input.dtype;
    }
    return told(bisectScale(asker, request));
}

Result<Told> Measure::askEpsilon(Asker& asker, const MeasuredSubject& subject) const
{
    if (subject.own) {
        return told(varyEpsilon(asker, {asker.specimen().epsilon, false, std::nullopt}));
    }
    const auto request = epsilonOf(*subject.cell, asker.specimen());
    return request ? told(varyEpsilon(asker, *request)) : tl::make_unexpected(request.error());
}

Result<Told> Measure::askMinimise(Asker& asker) const
{
    MinimiseRequest request;
    request.calls = m_calls.value_or(request.calls);
    request.tries = m_tries;
    const auto answer = minimise(asker, request);
    if (answer) {
        if (auto written = writeMinimised(*answer, m_out, m_path); !written) {
            return tl::make_unexpected(written.error());
        }
    }
    return told(answer);
}

Result<Told> Measure::ask(Asker& asker, MeasuredSubject& subject) const
{
    StormRequest stormy;
    stormy.calls = m_calls.value_or(stormy.calls);
    switch (m_instrument) {
    case Instrument::scale:
        return askScale(asker);
    case Instrument::epsilon:
        return askEpsilon(asker, subject);
    case Instrument::repeat:
        return told(repeatBitwise(asker, m_calls.value_or(100)));
    case Instrument::storm:
        return told(storm(asker, subject.impl, stormy));
    case Instrument::input:
        return told(checkInput(asker));
    case Instrument::spectrum:
        return told(checkSpectrum(asker, subject.cell.get()));
    case Instrument::minimise:
        break;
    }
    return askMinimise(asker);
}

Result<int> Measure::measured(MeasuredSubject& subject, Terminal& terminal)
{
    const auto under = specimen(subject);
    if (!under) {
        return tl::make_unexpected(under.error());
    }
    Asker asker(subject.subject(), *under, terminal.job());
    auto answer = ask(asker, subject);
    if (!answer) {
        for (const auto& complaint : asker.log().complaints) {
            terminal.say(LogLevel::warning, complaint);
        }
        return tl::make_unexpected(answer.error());
    }
    if (terminal.json()) {
        auto json = measureJson(m_name, asker, std::move(answer->json));
        json["command"] = subject.own ? Json(harnessCommand(subject.impl)) : Json(nullptr);
        terminal.printJson(json);
    } else {
        terminal.print(measureHead(m_name, asker) + answer->text + measureFoot(asker.log()));
    }
    const auto& log = asker.log();
    return log.failed == 0 ? exitDone : log.failed < log.calls ? exitRejected : exitNothing;
}

Result<int> Measure::run(Terminal& terminal)
{
    if (auto good = check(); !good) {
        return tl::make_unexpected(good.error());
    }
    if (m_show) {
        return show(terminal);
    }
    auto subject = openSubject(m_subject, m_path, terminal);
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
