// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/report/console.h"
#include "core/report/markdownsections.h"
#include "core/report/report.h"
#include "core/report/words.h"

namespace nanscope {

namespace {

const Capture* captureNamed(const RunData& run, const CaptureVerdict* verdict)
{
    if (verdict == nullptr) {
        return nullptr;
    }
    const auto same = [verdict](const Capture& capture) { return capture.file == verdict->capture; };
    const auto found = std::find_if(run.captures.begin(), run.captures.end(), same);
    return found == run.captures.end() ? nullptr : &*found;
}

/// Adds whole pieces while they fit, and says how many did not: half a table or half a fence helps nobody.
class Page
{
public:
    explicit Page(std::size_t limit)
        : m_limit(limit)
    { }

    void add(const std::string& piece)
    {
        if (m_text.size() + piece.size() + noteRoom > m_limit) {
            ++m_left;
            return;
        }
        m_text += piece;
    }

    std::size_t room() const { return m_limit - std::min(m_limit, m_text.size() + noteRoom); }

    std::string take()
    {
        if (m_left > 0) {
            m_text += fmt::format("\n*{} part{} left out to stay under {} characters; `nanscope report -o report.json` "
                                  "has everything.*\n",
                m_left, m_left == 1 ? "" : "s", countText(maxReportCharacters));
        }
        return std::move(m_text);
    }

private:
    static constexpr std::size_t noteRoom = 200;
    std::size_t m_limit;
    std::string m_text;
    int m_left = 0;
};

std::string consolePiece(ReportFacts& facts)
{
    const auto lines = consoleAround(facts.input.run, facts.verdict ? facts.verdict->capture : "", 8, 6);
    if (lines.empty()) {
        return "\n**Console around the birth:** not recorded.\n";
    }
    return "\n**Console around the birth** (as read; values stand for the lines that gave them)\n\n"
        + facts.text.block(lines, "text");
}

std::vector<std::string> captureRow(ReportFacts& facts, const CaptureVerdict& verdict)
{
    const auto* capture = captureNamed(facts.input.run, &verdict);
    const auto side = [](const CaptureTensor& tensor) {
        return tensor.scanned() ? classesText(tensor.total()) : std::string("not scanned");
    };
    const auto input = capture != nullptr ? side(capture->input) : "not recorded";
    const auto output = capture != nullptr && capture->output ? side(*capture->output) : "not recorded";
    return {facts.text.code(verdict.capture), std::string(name(verdict.role)),
        verdict.rank ? std::to_string(*verdict.rank) : "–",
        verdict.step ? fmt::format("{}–{}", verdict.step->first, verdict.step->second) : "–", input, output,
        std::string(name(verdict.blame))};
}

/// As many rows as fit: births come first in a diagnosis, so what is left out is the least telling.
std::string captureTable(ReportFacts& facts, std::size_t room)
{
    std::vector<std::vector<std::string>> rows;
    std::size_t size = 0;
    const auto& verdicts = facts.input.diagnosis.captures;
    for (const auto& verdict : verdicts) {
        auto row = captureRow(facts, verdict);
        for (const auto& cell : row) {
            size += cell.size() + 4;
        }
        if (size + 400 > room) {
            break;
        }
        rows.push_back(std::move(row));
    }
    const auto head =
        std::vector<std::string> {"capture", "role", "rank", "between steps", "input", "output", "verdict"};
    auto text = "\n**Captures**\n\n" + MarkdownText::table(head, rows);
    if (rows.size() < verdicts.size()) {
        text += fmt::format("\n*{} more captures left out to stay under {} characters.*\n",
            countText(static_cast<std::int64_t>(verdicts.size() - rows.size())), countText(maxReportCharacters));
    }
    return text;
}

std::string rejectedPiece(ReportFacts& facts)
{
    const auto& rejected = facts.input.run.rejected;
    if (rejected.empty()) {
        return {};
    }
    constexpr std::size_t most = 20;
    auto text = fmt::format("\n**Files that could not be used: {}**\n\n", rejected.size());
    for (std::size_t i = 0; i < std::min(most, rejected.size()); ++i) {
        text += fmt::format("- {}: {}\n", facts.text.plain(rejected[i].reason), facts.text.code(rejected[i].path));
    }
    return rejected.size() > most ? text + fmt::format("- and {} more\n", rejected.size() - most) : text;
}

} // namespace

const CaptureVerdict* mainVerdict(const Diagnosis& diagnosis)
{
    for (const auto role : {Role::birth, Role::padding, Role::upstream, Role::downstream, Role::healthy}) {
        for (const auto& verdict : diagnosis.captures) {
            if (verdict.role == role) {
                return &verdict;
            }
        }
    }
    return nullptr;
}

std::string markdownReport(const ReportInput& input, const ReportOptions& options)
{
    const auto* verdict = mainVerdict(input.diagnosis);
    ReportFacts facts {input, verdict, captureNamed(input.run, verdict), MarkdownText(options.redact)};
    const auto appendixHead = std::string("\n---\n\n## Appendix\n");
    const auto console = consolePiece(facts);
    const auto rejected = rejectedPiece(facts);

    // Section 16 tells what was redacted everywhere, so it is written last; its room is set aside.
    constexpr std::size_t closingRoom = 2500;
    Page page(maxReportCharacters - closingRoom);
    for (const auto& section : reportSections(facts)) {
        page.add(section);
    }
    Page appendix(page.room());
    appendix.add(appendixHead);
    appendix.add(console);
    appendix.add(rejected);
    appendix.add(captureTable(facts, appendix.room()));
    return page.take() + closingSection(facts) + appendix.take();
}

} // namespace nanscope
