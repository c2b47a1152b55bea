// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Small questions to a run's summary that several cards ask, and lines of evidence.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnose/findings/cards.h"

namespace nanscope::diagnose::cards {

constexpr double fp16Max = 65504;

/// Why a trace is empty: the value is not logged, or its points were not read here.
std::string whyEmpty(const RunSummary& summary, const Trace& trace);
std::string whyEmpty(const RunData& run, std::string_view name);

/// True if some log is text that a trainer printed, not a table of numbers: only there lines of other kinds are found.
bool hasConsole(const RunData& run);

/// The first event whose line says so; null where there is none.
const Event* eventSaying(const RunData& run, Phrase phrase);

/// True if a loss or a gradient norm is not finite, a trainer said so, a step was left out, or a capture is bad.
bool wentBad(const RunSummary& summary);
/// True if something is there that would show it.
bool couldGoBad(const RunSummary& summary);

/// Steps between the lines of a trace, the most common distance; 0 where it has fewer than two.
std::int64_t intervalOf(const Trace& trace);

/// First steps of the segments that a trace was put together from: there training began, or went on.
std::set<std::int64_t> freshStarts(const RunData& run, const Trace& trace);

const Point* pointAt(const Trace& trace, std::int64_t step);

Evidence evidenceOf(const Trace& trace, const Point& point);
Evidence evidenceOf(const Event& event);
Evidence evidenceOf(const Setting& setting);
Evidence evidenceOf(const Capture& capture, std::string text);

/// "fp16 = True" as the configuration writes it.
std::string textOf(const Setting& setting);

/// "1 step", "2 steps".
std::string howMany(std::int64_t count, std::string_view noun);

/// How often one rank says what events say, the one that says it most: every rank may say the same of one step.
class LinesOfRanks
{
public:
    void add(const Event& event) { m_lines[event.rank] += event.copies; }
    std::int64_t most() const;

private:
    std::map<std::optional<int>, std::int64_t> m_lines;
};

/// At most three lines: a thousand copies of one line are one fact.
void addEvidence(std::vector<Evidence>& evidence, Evidence line);

// The attempts of a run: what its logs hold of each start and each resume. Two of them can tell what one cannot.

struct Attempt
{
    const Series* loss = nullptr; ///< the log that has most of it
    std::int64_t firstStep = 0;
    std::optional<std::int64_t> firstBad; ///< step of the line, or of the line that was not printed
    Evidence bad;
    bool goodBefore = false; ///< a finite loss came first: it did not start from bad weights
    std::optional<double> peakLr;
};

/// In order. Attempts without a point are left out.
std::vector<Attempt> attemptsOf(const RunSummary& summary);
/// Those that went bad after they had been good: one that starts bad tells of its checkpoint, not of a batch.
std::vector<Attempt> wentBadLater(const RunSummary& summary);
/// Those from the beginning.
std::vector<Attempt> startedAttempts(const RunSummary& summary);
/// Those from the beginning whose learning rate is logged.
std::vector<Attempt> freshAttempts(const RunSummary& summary);
bool sameRate(double a, double b);

} // namespace nanscope::diagnose::cards
