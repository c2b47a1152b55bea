// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/factlist.h"
#include "app/nanscope/shared/words.h"
#include "app/nanscope/shared/worker.h"
#include "core/base/text.h"
#include "core/platform/platform.h"
#include "core/replay/device/device.h"
#include "core/session/session.h"

namespace nanscope {

namespace fs = std::filesystem;

namespace {

class Doctor : public Command
{
public:
    explicit Doctor(CLI::App& root)
        : Command(root, "doctor", "What Nanscope itself found: worker, session folder, CPU")
    { }

    Result<int> run(Terminal& terminal) override;
};

std::string workerText()
{
    const auto path = workerPath();
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
        return path.string();
    }
    return fmt::format(
        "none at {}; replay runs on the built-in CPU device (./bootstrap build makes a worker)", path.string());
}

std::string sessionsText()
{
    const auto folder = platform::userDataFolder() / "sessions";
    std::error_code error;
    std::int64_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        count += entry.path().extension() == ".nanscope" ? 1 : 0;
    }
    const auto kind = platform::isNetworkFileSystem(platform::userDataFolder()) ? ", on a network file system" : "";
    return fmt::format("{} ({}{})", folder.string(), counted(count, "session"), kind);
}

std::string deviceText()
{
    const auto device = replay::makeCoreDevice("cpu");
    if (!device) {
        return sentence(device.error());
    }
    const auto environment = (*device)->environment();
    return fmt::format("{}, {}, {}", environment.engine, environment.hardware, counted(environment.threads, "thread"));
}

Result<int> Doctor::run(Terminal& terminal)
{
    FactList facts;
    facts.group("nanscope");
    facts.add("version", NANSCOPE_VERSION);
    facts.add("program", platform::programFolder().string());
    facts.add("session schema", std::to_string(session::sessionSchemaVersion));
    facts.group("replay");
    facts.add("worker", workerText());
    facts.add("cpu device", deviceText());
    facts.add("variants", fmt::format("{}", fmt::join(allVariants({}), ", ")));
    facts.group("data");
    facts.add("sessions", sessionsText());
    terminal.answer([&] { return facts.json("nanscope.doctor/1"); }, [&] { return facts.text(); });
    return exitDone;
}

} // namespace

std::unique_ptr<Command> makeDoctor(CLI::App& root)
{
    return std::make_unique<Doctor>(root);
}

} // namespace nanscope
