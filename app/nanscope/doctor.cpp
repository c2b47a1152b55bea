// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
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
#include "core/base/try.h"
#include "core/platform/childprocess.h"
#include "core/platform/platform.h"
#include "core/replay/device/device.h"
#include "core/rpc/client.h"
#include "core/session/session.h"

namespace nanscope {

namespace fs = std::filesystem;
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
    Error buildWorker(const CancelToken& cancel) const;

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

/// What the worker is built from; a checkout holds much else.
constexpr std::array sourceParts {
    "app", "bootstrap", "cmake", "CMakeLists.txt", "CMakePresets.json", "core", "gpu", "packaging", "resources"};

/// With folders of this program's own making: those of a package may be read-only.
Result<void> copyPart(const fs::path& from, const fs::path& to)
{
    std::error_code error;
    const auto failed = [&](const fs::path& path) {
        return platform::systemFailure("The sources of the worker cannot be copied", error.value(), path);
    };
    fs::remove_all(to, error);
    if (error) {
        return failed(to);
    }
    if (!fs::is_directory(from)) {
        return fs::copy_file(from, to, error) ? Result<void>() : failed(from);
    }
    if (!fs::create_directories(to, error)) {
        return failed(to);
    }
    for (auto entry = fs::recursive_directory_iterator(from, error); entry != fs::recursive_directory_iterator();
         entry.increment(error)) {
        const auto target = to / entry->path().lexically_relative(from);
        const bool done = entry->is_symlink() ? (fs::copy_symlink(entry->path(), target, error), !error)
            : entry->is_directory()           ? fs::create_directory(target, error)
                                              : fs::copy_file(entry->path(), target, error);
        if (!done) {
            return failed(entry->path());
        }
    }
    return error ? Result<void>(failed(from)) : Result<void>();
}

/// A folder to compile in: a checkout itself, else a copy of what the package carries. What pip downloaded for an
/// earlier worker stays.
Result<fs::path> workplace(const fs::path& source)
{
    if (fs::exists(source / ".git")) {
        return source;
    }
    const auto folder = rpc::builtWorkerFolder() / "source";
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
        return platform::systemFailure("The folder for the worker cannot be made", error.value(), folder);
    }
    for (const auto* part : sourceParts) {
        TRY(fs::exists(source / part) ? copyPart(source / part, folder / part) : Result<void>());
    }
    return folder;
}

/// Where the next start looks first: one beside this program goes before one that was built.
fs::path workerFolder()
{
    std::error_code ignored;
    const auto beside = platform::programFolder();
    return fs::exists(beside / "nanscope-worker", ignored) ? beside : rpc::builtWorkerFolder();
}

/// Becomes ./bootstrap worker: what it installs, downloads and asks for is between it and the terminal.
Error Doctor::buildWorker(const CancelToken& cancel) const
{
    const auto source = workerSource();
    const auto folder = source ? workplace(*source) : source;
    if (!folder) {
        return folder.error();
    }
    if (cancel.cancelled()) {
        return {ErrorKind::cancelled, "the worker was not built", {}};
    }
    std::vector<std::string> arguments {"worker", workerFolder().string()};
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

bool namedByVariable()
{
    const char* named = std::getenv("NANSCOPE_WORKER");
    return named != nullptr && *named != '\0';
}

/// What to do about a worker that is there and of no use.
std::string remedyFor(const std::string& otherwise)
{
    return namedByVariable() ? "NANSCOPE_WORKER names it: set it to another, or unset it" : otherwise;
}

/// Of the JSON that `nanscope-worker env` prints.
Piece workerPiece(const std::string& said)
{
    try {
        const auto environment = Json::parse(said);
        const auto version = environment.at("nanscope").get<std::string>();
        Piece piece {fmt::format("torch {}, {}", environment.at("torch").get<std::string>(), devicesText(environment))};
        if (version != NANSCOPE_VERSION) {
            piece.remedy = remedyFor(fmt::format("it is of Nanscope {}, build it again: {}", version, workerRemedy));
        }
        return piece;
    } catch (const Json::exception&) {
        return {"its answer is not understood", remedyFor(fmt::format("build it again: {}", workerRemedy))};
    }
}

Result<Piece> worker(const CancelToken& cancel)
{
    constexpr std::chrono::seconds patience {60};
    const auto path = rpc::workerProgram();
    std::error_code error;
    if (!fs::exists(path, error)) {
        return Piece {fmt::format("none at {}; replay runs on the built-in CPU device", path.string()),
            remedyFor(fmt::format("to replay on the torch and the GPUs of the training: {}", workerRemedy))};
    }
    const auto said = askWorker({"env"}, cancel, patience);
    if (!said && said.error().kind == ErrorKind::cancelled) {
        return tl::make_unexpected(said.error());
    }
    const bool silent = !said && said.error().kind == ErrorKind::busy;
    auto piece = said ? workerPiece(*said)
        : silent      ? Piece {said.error().what, "see whether nvidia-smi answers: a driver that hangs holds it up"}
                      : Piece {said.error().what,
                     remedyFor(fmt::format("build it again for a torch that is there: {}", workerRemedy))};
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
        return tl::make_unexpected(buildWorker(terminal.cancelToken()));
    }
    if (!m_python.empty()) {
        return failure(ErrorKind::usage, "--torch-python belongs to --build-worker");
    }
    const auto ofWindow = window();
    const auto ofWorker = TRY(worker(terminal.cancelToken()));
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
