// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/shardfacts.h"
#include "app/nanscope/stitching.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/json/records.h"
#include "core/model/words.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope {

namespace {

class Inspect : public Command
{
public:
    explicit Inspect(CLI::App& root)
        : Command(root, "inspect", "Every fact of one capture, or of the tensor that shards make up")
    {
        options()
            .add("capture", m_paths, "A capture (.pt, .safetensors, .npy); several or folders with --stitch")
            .required();
        options().addFlag("--stitch", m_stitch, "Put the shards of a DTensor that the ranks dumped together");
        options().add("-o,--output", m_output, "With --stitch: write the whole as one capture, whole.pt");
    }

    Result<int> run(Terminal& terminal) override;

private:
    Result<int> inspectOne(Terminal& terminal) const;

    std::vector<std::string> m_paths;
    bool m_stitch = false;
    std::string m_output;
};

template <class T>
std::string orUnknown(const std::optional<T>& value)
{
    return value ? fmt::format("{}", *value) : "not recorded";
}

std::string header(const Capture& capture)
{
    const auto time = capture.timestampMs ? fmt::format("{} ({})", timeText(*capture.timestampMs),
                          capture.timestampFromName ? "from its name" : "the file's time")
                                          : std::string("not recorded");
    return fmt::format("{}\nrank {}, pid {}, epsilon {}, {}\nvariant {}, step {}\n\n", printable(capture.file),
        orUnknown(capture.rank), orUnknown(capture.pid), orUnknown(capture.epsilon), time,
        printable(capture.variant.value_or("not recorded")), orUnknown(capture.step));
}

void addSide(Table& table, const char* side, const CaptureTensor& tensor)
{
    const auto matrices = matrixShape(tensor.shape);
    for (std::size_t i = 0; i < tensor.batches.size(); ++i) {
        const auto& scan = tensor.batches[i];
        const auto first = scan.firstNonFinite < 0
            ? std::string("-")
            : indexText(indexIn({matrices.rows, matrices.cols}, scan.firstNonFinite));
        table.add({side, std::to_string(i), shapeText(tensor.shape), std::string(shortName(tensor.dtype)),
            countText(scan.nan), countText(scan.posInf), countText(scan.negInf), countText(scan.zero),
            countText(scan.subnormal), numberText(scan.absmax), numberText(scan.minNonzero),
            numberText(std::sqrt(scan.sumSquares)), first});
    }
}

std::string bodyText(const Capture& capture)
{
    constexpr auto right = Table::Align::right;
    Table table({{"side"}, {"batch", right}, {"shape"}, {"dtype"}, {"NaN", right}, {"Inf", right}, {"-Inf", right},
        {"zero", right}, {"subnormal", right}, {"absmax", right}, {"min non-zero", right}, {"Frobenius", right},
        {"first non-finite"}});
    addSide(table, "input", capture.input);
    if (capture.output) {
        addSide(table, "output", *capture.output);
    }
    return table.text();
}

Result<int> Inspect::run(Terminal& terminal)
{
    if (m_stitch) {
        return stitchCaptures(m_paths, m_output, terminal);
    }
    if (m_paths.size() > 1 || !m_output.empty()) {
        return failure(ErrorKind::usage,
            m_paths.size() > 1 ? "several captures are only looked at together with --stitch"
                               : "only --stitch writes a file, so -o needs it");
    }
    return inspectOne(terminal);
}

Result<int> Inspect::inspectOne(Terminal& terminal) const
{
    auto file = tensorfile::openCapture(m_paths.front());
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    if (auto scanned = tensorfile::scanCapture(*file); !scanned) {
        return tl::make_unexpected(scanned.error());
    }
    if (terminal.json()) {
        auto answer = toJson(file->capture);
        addShardJson(answer, *file);
        terminal.printJson(answer);
    } else {
        terminal.print(header(file->capture) + shardText(*file) + bodyText(file->capture));
    }
    return exitDone;
}

} // namespace

std::unique_ptr<Command> makeInspect(CLI::App& root)
{
    return std::make_unique<Inspect>(root);
}

} // namespace nanscope
