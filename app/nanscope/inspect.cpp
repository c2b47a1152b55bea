// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/command.h"
#include "app/nanscope/table.h"
#include "core/report/report.h"
#include "core/report/words.h"
#include "core/tensorfile/capturefile.h"

namespace nanscope {

namespace {

class Inspect : public Command
{
public:
    explicit Inspect(CLI::App& root)
        : Command(root, "inspect", "Every fact of one capture")
    {
        options().add_option("capture", m_path, "A capture (.pt, .safetensors, .npy)")->required();
    }

    Result<int> run(Terminal& terminal) override;

private:
    std::string m_path;
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
    auto file = openCapture(m_path);
    if (!file) {
        return tl::make_unexpected(file.error());
    }
    if (auto scanned = scanCapture(*file); !scanned) {
        return tl::make_unexpected(scanned.error());
    }
    if (terminal.json()) {
        terminal.printJson(toJson(file->capture));
    } else {
        terminal.print(header(file->capture) + bodyText(file->capture));
    }
    return exitDone;
}

} // namespace

std::unique_ptr<Command> makeInspect(CLI::App& root)
{
    return std::make_unique<Inspect>(root);
}

} // namespace nanscope
