// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/shared/command.h"
#include "app/nanscope/shared/factlist.h"
#include "app/nanscope/shared/words.h"
#include "app/nanscope/shared/worker.h"
#include "core/base/text.h"
#include "core/platform/childprocess.h"
#include "core/platform/platform.h"
#include "core/replay/device/device.h"
#include "core/rpc/client.h"
#include "core/session/session.h"

namespace nanscope {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

class Doctor : public Command
{
public:
    explicit Doctor(CLI::App& root)
        : Command(root, "doctor", "What Nanscope itself found: worker and its GPUs, window, sessions; what is missing")
    {
        options().addFlag("--build-worker", m_build, "Build nanscope-worker, which replays on a torch and its GPUs");
        options().add("--torch-python", m_python,
            "With --build-worker: the Python whose torch it replays on, 2.8 or newer; default: the active one");
    }

    Result<int> run(Terminal& terminal) override;

private:
    Error buildWorker() const;

    bool m_build = false;
    std::string m_python;
};

constexpr auto* workerRemedy = "nanscope doctor --build-worker --torch-python PYTHON";

/// What doctor shows of one thing, and what to do where it is missing.
struct Piece
{
    std::string found;
    std::string remedy {};
};

/// The sources that a package carries, or the checkout that this program was built in.
Result<fs::path> workerSource()
{
    const auto program = platform::programFolder();
    std::error_code error;
    for (const auto* place : {"../share/nanscope/source", "../nanscope.source", "../../.."}) {
        const auto folder = fs::weakly_canonical(program / place, error);
        if (fs::exists(folder / "bootstrap", error) && fs::exists(folder / "core/rpc/client.h", error)) {
            return folder;
        }
    }
    return failure(ErrorKind::unsupported,
        "the sources of the worker are not beside this program; ./bootstrap worker FOLDER makes it from a checkout",
        program.string());
}

/// A folder to compile in: a checkout itself, else a copy of what the package carries. What pip downloaded for an
/// earlier worker stays.
Result<fs::path> workplace(const fs::path& source)
{
    std::error_code error;
    if (fs::exists(source / ".git", error)) {
        return source;
    }
    const auto folder = rpc::builtWorkerFolder() / "source";
    fs::create_directories(folder, error);
    for (auto entry = fs::directory_iterator(source, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
        const auto target = folder / entry->path().filename();
        fs::remove_all(target, error);
        if (!error) {
            fs::copy(entry->path(), target, fs::copy_options::recursive, error);
        }
    }
    if (error) {
        return platform::systemFailure("The sources of the worker cannot be copied", error.value(), folder);
    }
    return folder;
}

/// Becomes ./bootstrap worker: what it installs, downloads and asks for is between it and the terminal.
Error Doctor::buildWorker() const
{
    const auto source = workerSource();
    const auto folder = source ? workplace(*source) : source;
    if (!folder) {
        return folder.error();
    }
    std::vector<std::string> arguments {"worker", rpc::builtWorkerFolder().string()};
    if (!m_python.empty()) {
        arguments.insert(arguments.end(), {"--torch-python", m_python});
    }
    return platform::becomeProgram({*folder / "bootstrap", arguments, {}});
}

std::string devicesText(const Json& environment)
{
    std::vector<std::string> devices;
    for (const auto& device : environment.at("devices")) {
        devices.push_back(
            fmt::format("{} {}", device.at("name").get<std::string>(), device.at("hardware").get<std::string>()));
    }
    auto text = fmt::format("{}", fmt::join(devices, ", "));
    for (const auto& note : environment.at("notes")) {
        text += "; " + note.get<std::string>();
    }
    return text;
}

/// Of the JSON that `nanscope-worker env` prints.
Piece workerPiece(const std::string& said)
{
    try {
        const auto environment = Json::parse(said);
        const auto version = environment.at("nanscope").get<std::string>();
        Piece piece {fmt::format("torch {}, {}", environment.at("torch").get<std::string>(), devicesText(environment))};
        if (version != NANSCOPE_VERSION) {
            piece.remedy = fmt::format("it is of Nanscope {}, build it again: {}", version, workerRemedy);
        }
        return piece;
    } catch (const Json::exception&) {
        return {"its answer is not understood", fmt::format("build it again: {}", workerRemedy)};
    }
}

Piece worker(const CancelToken& cancel)
{
    const auto path = rpc::workerProgram();
    std::error_code error;
    if (!fs::exists(path, error)) {
        return {fmt::format("none at {}; replay runs on the built-in CPU device", path.string()),
            std::getenv("NANSCOPE_WORKER") != nullptr
                ? std::string("NANSCOPE_WORKER names a file that is not there: set it to another, or unset it")
                : fmt::format("to replay on the torch and the GPUs of the training: {}", workerRemedy)};
    }
    const auto said = askWorker({"env"}, cancel);
    auto piece = said
        ? workerPiece(*said)
        : Piece {said.error().what, fmt::format("build it again for a torch that is there: {}", workerRemedy)};
    piece.found += fmt::format(" ({})", path.string());
    return piece;
}

Piece window()
{
    const auto path = platform::programFolder() / "nanscope-gui";
    std::error_code error;
    if (fs::exists(path, error)) {
        return {path.string()};
    }
    return {"none", "install the package nanscope-gui, or ./bootstrap build in a checkout"};
}

/// Sessions are made where this folder is, or will be.
Piece sessions()
{
    const auto data = platform::userDataFolder();
    const auto folder = data / "sessions";
    std::error_code error;
    std::int64_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        count += entry.path().extension() == ".nanscope" ? 1 : 0;
    }
    Piece piece {fmt::format("{} ({})", folder.string(), counted(count, "session"))};
    if (platform::isNetworkFileSystem(data)) {
        piece.remedy = "it is on a network file system, where SQLite cannot share a session: set XDG_DATA_HOME to a "
                       "folder of a local disk";
    }
    return piece;
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
    if (m_build) {
        return tl::make_unexpected(buildWorker());
    }
    const auto ofWindow = window();
    const auto ofWorker = worker(terminal.cancelToken());
    const auto ofSessions = sessions();
    FactList facts;
    facts.group("nanscope");
    facts.add("version", NANSCOPE_VERSION);
    facts.add("program", platform::programFolder().string());
    facts.add("window", ofWindow.found);
    facts.add("session schema", std::to_string(session::sessionSchemaVersion));
    facts.group("replay");
    facts.add("worker", ofWorker.found);
    facts.add("cpu device", deviceText());
    facts.add("variants", fmt::format("{}", fmt::join(allVariants({}), ", ")));
    facts.group("data");
    facts.add("sessions", ofSessions.found);
    facts.group("missing");
    for (const auto& [name, piece] :
        {std::pair("window", &ofWindow), {"worker", &ofWorker}, {"sessions", &ofSessions}}) {
        if (!piece->remedy.empty()) {
            facts.add(name, piece->remedy);
        }
    }
    terminal.answer([&] { return facts.json("nanscope.doctor/1"); }, [&] { return facts.text(); });
    return exitDone;
}

} // namespace

std::unique_ptr<Command> makeDoctor(CLI::App& root)
{
    return std::make_unique<Doctor>(root);
}

} // namespace nanscope
