// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/report/document/document.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/report/document/sections.h"
#include "core/report/input/reportinput.h"

namespace nanscope::report {

namespace {

constexpr std::size_t longestText = 1200;
constexpr std::size_t longestLine = 400;

std::string cleaned(const std::string& text, std::size_t characters, Redactor& redactor)
{
    return clipped(printable(redactor(text)), characters);
}

void clean(Phrase& text, Redactor& redactor)
{
    for (auto& words : text.words) {
        if (words.voice != Voice::own) {
            words.text = cleaned(words.text, longestText, redactor);
        }
    }
}

struct Cleaner
{
    Redactor& redactor;

    void operator()(Paragraph& block) const { clean(block.text, redactor); }
    void operator()(Figure& block) const { clean(block.caption, redactor); }
    void operator()(ItemList& block) const
    {
        for (auto& item : block.items) {
            clean(item.text, redactor);
        }
    }
    void operator()(Table& block) const
    {
        for (auto& row : block.rows) {
            for (auto& cell : row) {
                clean(cell, redactor);
            }
        }
    }
    void operator()(CodeBlock& block) const
    {
        for (auto& line : block.lines) {
            line = cleaned(line, longestLine, redactor);
        }
    }
};

void clean(Blocks& blocks, Redactor& redactor)
{
    for (auto& block : blocks) {
        std::visit(Cleaner {redactor}, block);
    }
}

struct Writer
{
    ReportSection section;
    Blocks (*write)(const ReportFacts&);
};

constexpr Writer writers[] {{ReportSection::claim, claim}, {ReportSection::output, outputFacts},
    {ReportSection::evidence, evidence}, {ReportSection::reproduce, reproduce}, {ReportSection::ask, ask},
    {ReportSection::call, call}, {ReportSection::when, when}, {ReportSection::input, inputFacts},
    {ReportSection::numbers, numbersAcquitted}, {ReportSection::limits, limits}, {ReportSection::control, control},
    {ReportSection::retry, retry}, {ReportSection::experiments, experiments}, {ReportSection::advisories, advisories},
    {ReportSection::impact, impact}, {ReportSection::facts, minimalFacts}, {ReportSection::console, consoleAroundBirth},
    {ReportSection::findings, findings}, {ReportSection::rejected, rejectedFiles},
    {ReportSection::captures, captureTable}};

Section headed(ReportSection id, const ReportFacts& facts, Blocks blocks)
{
    auto heading = std::string(title(id));
    if (id == ReportSection::rejected) {
        heading += fmt::format(": {}", facts.input.run.rejected.size());
    }
    return {id, std::move(heading), std::move(blocks)};
}

Blocks written(const Writer& writer, const ReportFacts& facts, Redactor& redactor)
{
    auto blocks = writer.write(facts);
    if (facts.options.figures) {
        auto figures = figuresOf(writer.section, facts, redactor);
        // Of the output the picture says most, and comes first.
        const auto place = writer.section == ReportSection::output ? blocks.begin() : blocks.end();
        blocks.insert(place, std::move_iterator(figures.begin()), std::move_iterator(figures.end()));
    }
    clean(blocks, redactor);
    return blocks;
}

void numberFigures(Document& document)
{
    int number = 0;
    for (auto& section : document.sections) {
        for (auto& block : section.blocks) {
            if (auto* figure = std::get_if<Figure>(&block)) {
                figure->number = ++number;
            }
        }
    }
}

} // namespace

std::string pictureFile(const Figure& figure, const std::string& stem)
{
    return fmt::format("{}-{}.png", stem, figure.number);
}

Document documentOf(const ReportInput& input, const ReportOptions& options, const Reproducer* beside)
{
    const ReportFacts facts {input, options, mainVerdict(input), mainCapture(input), beside};
    auto redactor = redactorFor(input, options);
    Document document {titleOf(facts), input.run.name, {}, {}};
    clean(document.title, redactor);
    document.run = cleaned(document.run, longestLine, redactor);
    const auto wanted = [&options](ReportSection section) { return options.sections.contains(section); };
    for (const auto& writer : writers) {
        if (!wanted(writer.section) || writer.write == nullptr) {
            continue;
        }
        auto blocks = written(writer, facts, redactor);
        if (!blocks.empty()) {
            document.sections.push_back(headed(writer.section, facts, std::move(blocks)));
        }
    }
    if (wanted(ReportSection::redactions)) {
        // It counts what the others needed, so it is written last.
        const auto command = cleaned(input.commandLine, longestText, redactor);
        auto blocks = redactions(facts, command, redactor.counts());
        document.sections.push_back(headed(ReportSection::redactions, facts, std::move(blocks)));
    }
    numberFigures(document);
    document.redactions = redactor.made();
    return document;
}

} // namespace nanscope::report
