// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/model/scenewords.h"
#include "core/model/verdict.h"
#include "core/model/words.h"
#include "core/report/document/conviction.h"
#include "core/report/input/reportinput.h"
#include "core/report/report.h"

namespace nanscope::report {

namespace {

struct Patch
{
    unsigned classes = 0;
    float absmax = 0;
};

struct Span
{
    int begin;
    int end;
};

Span part(int index, int parts, int of)
{
    return {index * of / parts, (index + 1) * of / parts};
}

Patch patch(const TileMap& map, Span rows, Span cols)
{
    Patch result;
    for (int row = rows.begin; row < rows.end; ++row) {
        for (int col = cols.begin; col < cols.end; ++col) {
            const auto at =
                static_cast<std::size_t>(row) * static_cast<std::size_t>(map.width) + static_cast<std::size_t>(col);
            result.classes |= map.classes[at];
            result.absmax = std::max(result.absmax, map.absmax[at]);
        }
    }
    return result;
}

const char* shade(float absmax, float largest)
{
    const auto binades = std::log2(largest / absmax);
    if (!(binades >= 1)) {
        return "█";
    }
    if (binades < 2) {
        return "▓";
    }
    return binades < 4 ? "▒" : "░";
}

const char* mark(const Patch& patch, float largest)
{
    if ((patch.classes & classNan) != 0) {
        return "╳";
    }
    if ((patch.classes & classPosInf) != 0) {
        return "▲";
    }
    if ((patch.classes & classNegInf) != 0) {
        return "▼";
    }
    return patch.absmax > 0 ? shade(patch.absmax, largest) : "·";
}

bool consistent(const TileMap& map)
{
    const auto tiles =
        static_cast<std::size_t>(std::max(map.width, 0)) * static_cast<std::size_t>(std::max(map.height, 0));
    return tiles > 0 && map.classes.size() == tiles && map.absmax.size() == tiles;
}

} // namespace

std::vector<std::string> tileText(const TileMap& map, int width, int height)
{
    if (!consistent(map)) {
        return {};
    }
    const auto across = std::min(width, map.width);
    const auto down = std::min(height, map.height);
    const auto largest = *std::max_element(map.absmax.begin(), map.absmax.end());
    std::vector<std::string> lines(static_cast<std::size_t>(down));
    for (int row = 0; row < down; ++row) {
        for (int col = 0; col < across; ++col) {
            lines[static_cast<std::size_t>(row)] +=
                mark(patch(map, part(row, down, map.height), part(col, across, map.width)), largest);
        }
    }
    return lines;
}

namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t labelWidth = 9;
constexpr int mapWidth = 64;
constexpr int mapHeight = 6;

std::string statement(std::string_view label, const std::string& text)
{
    return paragraph(fmt::format("{:<{}}", label, labelWidth), text, labelWidth, columns);
}

std::string matrixWords(const nanscope::Shape& shape)
{
    const auto matrices = matrixShape(shape);
    return fmt::format("{} {} of {} × {}", countText(matrices.batch), matrices.batch == 1 ? "matrix" : "matrices",
        matrices.rows, matrices.cols);
}

std::string whatText(const Capture& capture)
{
    auto text = fmt::format("{}, {}, {}",
        capture.scene.loneTensor ? "one tensor, taken for what went into a Newton-Schulz call"
                                 : "one Newton-Schulz call",
        matrixWords(capture.input.shape), shortName(capture.input.dtype));
    if (capture.rank) {
        text += fmt::format(", rank {}", *capture.rank);
    }
    text += capture.variant ? fmt::format(", {} by its sidecar", printable(*capture.variant)) : "";
    text += capture.epsilon ? fmt::format(", eps {:.3g}", *capture.epsilon) : ", eps not recorded";
    if (capture.timestampMs) {
        text += fmt::format(", dumped {} ({})", timeText(*capture.timestampMs),
            capture.timestampFromName ? "from its name" : "the file's time");
    }
    if (!capture.part.empty()) {
        text += "; " + capture.part;
    }
    return text;
}

std::string sideText(const CaptureTensor& tensor)
{
    if (!tensor.scanned()) {
        return "not scanned";
    }
    const auto scan = tensor.total();
    if (scan.allZero()) {
        return fmt::format("all {} elements are zero", countText(scan.count));
    }
    if (scan.finite()) {
        return fmt::format("finite: absmax {}, Frobenius norm {}, {} zero", magnitudeText(scan.absmax),
            numberText(std::sqrt(scan.sumSquares)), countText(scan.zero));
    }
    const auto share = 100.0 * static_cast<double>(scan.nonFinite()) / static_cast<double>(scan.count);
    const auto rest = scan.nonFinite() == scan.count ? std::string("no finite value")
                                                     : "the rest at most " + magnitudeText(scan.absmax);
    const auto first = scan.firstNonFinite < 0
        ? std::string()
        : fmt::format("first at {}, ", indexText(indexIn(tensor.shape, scan.firstNonFinite)));
    return fmt::format(
        "{} of {} elements ({:.3g} %), {}{}", classesText(scan), countText(scan.count), share, first, rest);
}

std::string outputText(const Capture& capture, const CaptureVerdict& verdict)
{
    if (!capture.output && !capture.scene.exception.empty()) {
        return "there is none: the call raised " + printable(capture.scene.exception);
    }
    if (!capture.output) {
        return capture.scene.outputBad ? "was not finite, and gone before it could be kept"
                                       : "not in the file: a bare tensor or a partial dump";
    }
    auto text = sideText(*capture.output);
    const auto& damage = verdict.facts.damage;
    if (damage.shape != DamageShape::none) {
        text += "; " + std::string(name(damage.shape)) + (damage.text.empty() ? "" : ": " + damage.text);
    }
    return text;
}

/// What the classes of both sides allow to be said without any replay.
struct Reading
{
    std::string can;
    std::string cannot;
};

Reading withoutOutput(const CaptureTensor& input)
{
    if (input.total().finite()) {
        return {"the tensor is finite; replays of it can be judged", "what the function made of it"};
    }
    return {"the tensor was damaged before this call, if it is its input", "what the function made of it"};
}

Reading readingOf(const Capture& capture, RuleId rule)
{
    if (!capture.hasTensors()) {
        return {"what its helper counted and saw at the call",
            fmt::format("which values, and anything a replay would tell: {}", printable(withheldText(capture.scene)))};
    }
    if (capture.scene.rotated && capture.input.total().finite()) {
        return {"that it broke in this call, if its output is not finite, and what its singular values are",
            "where the damage lay, its bits and the largest values: the tensors were turned by random rotations"};
    }
    if (!capture.part.empty()) {
        return {"what this rank's part holds",
            "anything of the call: it was given the whole, whose other parts may be "
            "damaged or large"};
    }
    if (!capture.output) {
        return withoutOutput(capture.input);
    }
    if (rule == RuleId::inputMayBeResult) {
        return {"what the file holds after the call", "what went in: whether it was damaged already, or by this call"};
    }
    const auto input = capture.input.total();
    const auto output = capture.output->total();
    if (input.allZero() && !output.allZero()) {
        return {"zero went in, something else came out: no matter of numbers, unless epsilon rounds to 0 or something "
                "is added to the result",
            "whether a kernel, the launch order or memory did it"};
    }
    if (input.nonFinite() == input.count && input.count > 0) {
        return {
            "nothing finite went in: this call is a victim, not the cause", "where it began: look at earlier dumps"};
    }
    if (!input.finite()) {
        return {fmt::format("the input was damaged already, first at {}: the cause lies before this call",
                    indexText(indexIn(capture.input.shape, input.firstNonFinite))),
            "what wrote it: gradient, momentum or communication"};
    }
    if (output.allZero() && !input.allZero()) {
        return {"a silent zero: something went in, and nothing came out anywhere",
            "whether the norm left the number format, a mask took it all, or nobody wrote it: nanscope diagnose"};
    }
    if (output.finite()) {
        return {"both sides are finite: a healthy call, or corruption that a replay has to find",
            "whether the output is right: replay it"};
    }
    return {"what went in was finite: it broke in this call or in what wrote it out",
        fmt::format(
            "which {}operation it was; a race that the dump itself hides", capture.variant ? "" : "function and ")};
}

/// An input that fp16 does not hold convicts whoever casts it, where the output is damaged.
std::string convictingInput(const Capture& capture)
{
    const bool damaged = capture.output && capture.output->scanned() && !capture.output->total().finite();
    return damaged && capture.input.scanned() ? castText(capture.input) : std::string();
}

std::string mapHeader(const Capture& capture, const TileMap& map, std::size_t across, std::size_t down)
{
    const auto element = capture.output && matrixShape(capture.output->shape).batch > 1
        ? fmt::format("batch element {}, ", shownBatch(capture))
        : std::string {};
    const auto each = [](std::int64_t elements, std::size_t marks) {
        return (elements + static_cast<std::int64_t>(marks) - 1) / static_cast<std::int64_t>(marks);
    };
    return fmt::format("{}1 mark = {} × {}: ╳ NaN ▲ +Inf ▼ -Inf · zero ░▒▓█ size", element, each(map.rows, down),
        each(map.cols, across));
}

std::string mapText(const Capture& capture, const TileMap* map)
{
    if (map == nullptr) {
        return {};
    }
    const auto lines = tileText(*map, mapWidth, mapHeight);
    if (lines.empty()) {
        return {};
    }
    auto text =
        fmt::format("{:<{}}{}\n", "map", labelWidth, mapHeader(capture, *map, textWidth(lines.front()), lines.size()));
    for (const auto& line : lines) {
        text += fmt::format("{:<{}}{}\n", "", labelWidth, line);
    }
    return text;
}

/// What a helper saw at the call; empty where it says nothing.
std::string sceneText(const Capture& capture)
{
    const auto& scene = capture.scene;
    std::string text;
    if (!scene.function.empty()) {
        text += fmt::format("{} was called{}. ", printable(scene.function), scene.onCpu ? " on the CPU" : "");
    }
    if (scene.calledAgain > 0) {
        const bool damaged = scene.outputBad || (capture.output && !capture.output->total().finite());
        const bool twoEnds = scene.failedAgain < scene.calledAgain && (damaged || scene.failedAgain > 0);
        text +=
            fmt::format("Made again at the scene on the same bits, {} of {} failed{}. ", countText(scene.failedAgain),
                counted(scene.calledAgain, "call"), twoEnds ? ": no function of its input does that" : "");
    }
    if (!scene.notCalledAgain.empty()) {
        text += fmt::format("{}: {}. ", scene.calledAgain > 0 ? "Not made again more often" : "It was not made again",
            printable(scene.notCalledAgain));
    }
    text += scene.inputOverwritten ? "Afterwards the input held other bits. " : "";
    if (!scene.control.empty()) {
        text += fmt::format("A healthy call of its kind is in {}. ", printable(scene.control));
    }
    if (scene.singular) {
        text += fmt::format("Singular values of the first input from {} to {}, half of them above {}. ",
            numberText(scene.singular->least), numberText(scene.singular->largest), numberText(scene.singular->median));
    }
    for (const auto& note : notesOf(scene)) {
        text += asSentence(printable(note)) + " ";
    }
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string nextText(const Capture& capture, const CaptureVerdict& verdict, const std::string& words)
{
    if (const auto next = untried(verdict); !next.empty()) {
        return lineOf(*next.front());
    }
    if (!capture.hasTensors()) {
        return "run it again: " + whatKeepsMore(capture.scene);
    }
    if (!capture.part.empty()) {
        return "nanscope inspect FOLDER --stitch -o whole.pt, then nanscope diagnose whole.pt" + words;
    }
    if (capture.input.total().finite()) {
        return fmt::format("nanscope diagnose FOLDER{0} (all dumps and logs), or nanscope sweep FILE{0}", words);
    }
    return fmt::format("nanscope diagnose FOLDER{}: it orders all dumps and logs and finds the first", words);
}

} // namespace

std::string explainText(
    const Capture& capture, const CaptureVerdict& verdict, const TileMap* output, const std::string& words)
{
    const auto reading = readingOf(capture, verdict.rule);
    auto text = printable(capture.file) + "\n" + statement("what", whatText(capture))
        + statement("input", sideText(capture.input)) + statement("output", outputText(capture, verdict))
        + mapText(capture, output);
    if (const auto number = convictingInput(capture); !number.empty()) {
        text += statement("number", number);
    }
    if (const auto scene = sceneText(capture); !scene.empty()) {
        text += statement("scene", scene);
    }
    if (!verdict.summary.empty()) {
        text += statement("verdict", verdict.summary);
    }
    if (const auto places = originsText(verdict); !places.empty()) {
        text += statement("spread", places);
    }
    return text + statement("can say", reading.can) + statement("cannot", reading.cannot)
        + statement("next", nextText(capture, verdict, words));
}

} // namespace nanscope::report
