// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/words.h"
#include "app/nanscope/shared/worker.h"
#include "core/base/table.h"
#include "core/base/try.h"
#include "core/base/utf8.h"
#include "core/rpc/client.h"

namespace nanscope {

namespace {

class Agree : public Command
{
public:
    explicit Agree(CLI::App& root)
        : Command(root, "agree", "Whether every GPU here replays a capture to the same bits")
    {
        options().add("capture", m_capture, "A capture").required();
        options().add("--variant", m_variant, "The variant to replay").required();
        addVariantFileOption();
        options().add("--precision", m_precision, "fp64, fp32, tf32, bf16, fp16 or fp16-acc16; else the variant's own");
        options().add("--repeats", m_repeats, "Replays on each GPU, 1 to 1000").within(1, 1000);
    }

    Result<int> run(Terminal& terminal) override;

private:
    std::vector<std::string> arguments() const;

    std::string m_capture;
    std::string m_variant;
    std::string m_precision;
    int m_repeats = 3;
};

std::vector<std::string> Agree::arguments() const
{
    std::vector<std::string> words {"agree", m_capture, "--variant", m_variant, "--repeats", std::to_string(m_repeats)};
    if (!m_precision.empty()) {
        words.insert(words.end(), {"--precision", m_precision});
    }
    for (const auto& file : variantFiles()) {
        words.insert(words.end(), {"--variant-file", file});
    }
    return words;
}

std::string hardwareOf(const Json& device)
{
    const auto hardware = device["hardware"].get<std::string>();
    const auto uuid = device.find("uuid");
    return uuid != device.end() && uuid->is_string() ? fmt::format("{} ({})", hardware, uuid->get<std::string>())
                                                     : hardware;
}

bool isEmpty(const Json& answer)
{
    const auto& devices = answer["devices"];
    return std::all_of(devices.begin(), devices.end(), [](const Json& device) { return device["hashes"].empty(); });
}

std::string text(const Json& answer)
{
    Table table({{"device"}, {"hardware"}, {"replay"}, {"bits"}});
    for (const auto& device : answer["devices"]) {
        if (device["hashes"].empty()) {
            table.add({device["name"].get<std::string>(), hardwareOf(device), "-", "-"});
        }
        for (std::size_t i = 0; i < device["hashes"].size(); ++i) {
            table.add({i == 0 ? device["name"].get<std::string>() : "", i == 0 ? hardwareOf(device) : "",
                std::to_string(i + 1), device["hashes"][i].get<std::string>()});
        }
    }
    auto text = table.text() + printable(answer["text"].get<std::string>()) + "\n";
    if (answer["nccl"].is_object()) {
        text += fmt::format("NCCL {}: smallest and largest hash are {}\n",
            printable(answer["nccl"]["version"].get<std::string>()),
            answer["nccl"]["equal"].get<bool>() ? "equal" : "different");
    }
    for (const auto& note : answer["notes"]) {
        text += printable(note.get<std::string>()) + "\n";
    }
    return text;
}

Result<int> Agree::run(Terminal& terminal)
{
    TRY(catalogue().find(m_variant));
    TRY(precisionsOf(listOf(m_precision)));
    const auto said = TRY(askWorker(arguments(), terminal.cancelToken()));
    const auto answer = Json::parse(said, nullptr, false);
    if (!answer.is_object()) {
        return failure(ErrorKind::internal, "the worker's answer is not understood", rpc::workerProgram().string());
    }
    try {
        if (const auto error = answer.find("error"); error != answer.end()) {
            terminal.error({ErrorKind::unsupported, error->get<std::string>(), answer.value("path", "")});
            return answer.value("status", static_cast<int>(exitInternal));
        }
        terminal.json() ? terminal.printJson(answer) : terminal.print(text(answer));
        return isEmpty(answer) ? exitNothing : exitDone;
    } catch (const nlohmann::json::exception&) {
        return failure(ErrorKind::internal, "the worker is of another version", rpc::workerProgram().string());
    }
}

} // namespace

std::unique_ptr<Command> makeAgree(CLI::App& root)
{
    return std::make_unique<Agree>(root);
}

} // namespace nanscope
