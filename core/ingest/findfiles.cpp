// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/base/text.h"
#include "core/base/try.h"
#include "core/ingest/ingest.h"
#include "core/ingest/log/logsource.h"
#include "core/ingest/progressmeter.h"
#include "core/ingest/settings/configfile.h"
#include "core/ingest/stores/mlflow.h"
#include "core/ingest/stores/wandb.h"
#include "core/ingest/text/consoletext.h"
#include "core/model/run.h"
#include "core/platform/platform.h"
#include "core/tensorfile/capture/capturefile.h"
#include "core/tensorfile/tensorfile.h"

namespace nanscope::ingest {

namespace fs = std::filesystem;

namespace {

bool holds(const std::vector<std::string>& names, const RE2& pattern)
{
    return std::ranges::any_of(names, [&](const std::string& name) { return RE2::FullMatch(name, pattern); });
}

/// Names in a checkpoint's folder and in the folders right below it, as many as it takes to judge it.
class Contents
{
public:
    explicit Contents(const fs::path& folder) { list(folder, true); }

    bool has(const RE2& pattern) const
    {
        return std::ranges::any_of(m_folders, [&](const auto& names) { return holds(names, pattern); });
    }

    /// Some folder has the one and lacks the other.
    bool anywhereWithout(const RE2& there, const RE2& lacking) const
    {
        return std::ranges::any_of(
            m_folders, [&](const auto& names) { return holds(names, there) && !holds(names, lacking); });
    }

private:
    void list(const fs::path& folder, bool below)
    {
        constexpr std::size_t most = 20'000;
        const auto own = m_folders.size();
        m_folders.emplace_back();
        std::error_code error;
        for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
             entry.increment(error)) {
            if (++m_seen > most) {
                return;
            }
            std::error_code ignored;
            if (!fs::exists(entry->path(), ignored)) {
                continue; // a link to what is gone
            }
            m_folders[own].push_back(entry->path().filename().string());
            if (below && entry->is_directory(ignored) && !entry->is_symlink(ignored)) {
                list(entry->path(), false);
            }
        }
    }

    std::vector<std::vector<std::string>> m_folders;
    std::size_t m_seen = 0;
};

const RE2& weights()
{
    static const RE2 pattern(R"(.*\.(?:pt|pth|bin|ckpt|safetensors|distcp))", RE2::Latin1);
    return pattern;
}

/// Torch's distributed checkpoints write ".metadata" last: without it they cannot be loaded.
std::string problemOfSharded(const Contents& contents)
{
    static const RE2 shard(R"(.*\.distcp)", RE2::Latin1);
    static const RE2 metadata(R"(\.metadata)", RE2::Latin1);
    return contents.anywhereWithout(shard, metadata) ? "it has no .metadata: saving was not finished" : "";
}

/// Written last: "trainer_state.json" by transformers, "random_states_0.pkl" by accelerate, with which diffusers saves.
std::string problemOfTrainer(const Contents& contents)
{
    static const RE2 last(R"(trainer_state\.json|random_states_0\.pkl)", RE2::Latin1);
    return contents.has(last) ? "" : "it has no trainer_state.json: saving was not finished, or it was exported";
}

std::string problemOfDeepSpeed(const Contents& contents)
{
    static const RE2 model(R"(.*model_states\.pt)", RE2::Latin1);
    return contents.has(model) ? problemOfSharded(contents) : "it has no model_states.pt: saving was not finished";
}

struct FolderKind
{
    const char* name; ///< with the step as its group
    std::string (*problem)(const Contents&);
};

constexpr std::array folderKinds {
    FolderKind {R"(step[_-]?(\d+)(?:-unsharded)?)", problemOfSharded},
    FolderKind {R"(checkpoint[_-](\d+))", problemOfTrainer},
    FolderKind {R"(global_step(\d+))", problemOfDeepSpeed},
    FolderKind {R"(iter_(\d+))", problemOfSharded},
};

constexpr std::array fileKinds {
    R"(state_step(\d+)\.pt)",
    // Shorter numbers may be epochs.
    R"(model_(\d{5,})\.(?:pt|bin))",
    R"((?:ckpt|checkpoint|model)[_-]step[_-]?(\d+)\.(?:pt|pth|ckpt))",
    R"(.*step=(\d+)(?:-v\d+)?\.ckpt)",
    R"(ep\d+-ba(\d+)-rank\d+\.pt)",
    // As folders are named, by scripts of one's own. A dump by hand may be named so, too: import tells them apart.
    R"(step[-_]?(\d+)\.(?:pt|pth|ckpt|safetensors))",
};

/// Compiled once: a folder may hold a hundred thousand names.
struct Patterns
{
    std::vector<std::unique_ptr<RE2>> folders;
    std::vector<std::unique_ptr<RE2>> files;

    Patterns()
    {
        for (const auto& kind : folderKinds) {
            folders.push_back(std::make_unique<RE2>(kind.name, RE2::Latin1));
        }
        for (const char* kind : fileKinds) {
            files.push_back(std::make_unique<RE2>(kind, RE2::Latin1));
        }
    }
};

const Patterns& namePatterns()
{
    static const Patterns instance;
    return instance;
}

std::optional<std::int64_t> stepIn(const std::string& name, const RE2& pattern)
{
    std::string digits;
    if (!RE2::FullMatch(name, pattern, &digits)) {
        return std::nullopt;
    }
    return parseInteger(digits);
}

std::optional<Checkpoint> folderCheckpoint(const fs::path& path, const std::string& relative)
{
    for (std::size_t i = 0; i < folderKinds.size(); ++i) {
        const auto step = stepIn(path.filename().string(), *namePatterns().folders[i]);
        if (!step) {
            continue;
        }
        const Contents contents(path);
        // Samples, logs and dumps are sorted into folders of such names, too.
        if (!contents.has(weights())) {
            return std::nullopt;
        }
        return Checkpoint {*step, CheckpointFact::found, relative, folderKinds[i].problem(contents), {}, 0};
    }
    return std::nullopt;
}

std::optional<Checkpoint> fileCheckpoint(const fs::path& path, const std::string& relative)
{
    for (const auto& pattern : namePatterns().files) {
        if (const auto step = stepIn(path.filename().string(), *pattern)) {
            std::error_code error;
            const bool empty = fs::file_size(path, error) == 0 && !error;
            return Checkpoint {
                *step, CheckpointFact::found, relative, empty ? "the file is empty: the disk may be full" : "", {}, 0};
        }
    }
    return std::nullopt;
}

/// The checkpoint that a folder ("step_1000", "checkpoint-500", "global_step20", "iter_0000100") or a file
/// ("state_step001000.pt", "epoch=0-step=100.ckpt") is by its name and by what lies in it; nothing where it is none.
/// Opens no file. `relative` is its path in the run's folder.
std::optional<Checkpoint> checkpointAt(const fs::path& path, const std::string& relative, bool isFolder)
{
    return isFolder ? folderCheckpoint(path, relative) : fileCheckpoint(path, relative);
}

constexpr int deepestFolder = 100;
constexpr const char* noContents = "a pipe, socket or device, which was not read; write what it gives to a file";

/// Endings of files that hold neither a log nor a tensor; everything else is looked into.
const std::set<std::string, std::less<>>& otherFiles()
{
    static const std::set<std::string, std::less<>> endings {".7z", ".a", ".arrow", ".avi", ".bmp", ".bz2", ".c", ".cc",
        ".cpp", ".css", ".cu", ".cuh", ".db", ".deb", ".dll", ".dylib", ".exe", ".gif", ".h", ".h5", ".hpp", ".html",
        ".ico", ".idx", ".ipynb", ".jpeg", ".jpg", ".js", ".lock", ".md", ".mp3", ".mp4", ".nanscope", ".npz", ".o",
        ".parquet", ".pdf", ".pkl", ".png", ".proto", ".py", ".pyc", ".rar", ".rpm", ".rs", ".rst", ".sh", ".so",
        ".sqlite", ".sqlite3", ".svg", ".swp", ".tar", ".tfrecord", ".tgz", ".tif", ".tiff", ".tmp", ".toml", ".ts",
        ".ttf", ".wav", ".webp", ".whl", ".xml", ".yaml", ".yml", ".zip"};
    return endings;
}

/// Logs are packed to keep them; what else is packed is not unpacked to see.
bool packsSomethingElse(const fs::path& inner)
{
    static const std::set<std::string, std::less<>> tensors {".bin", ".ckpt", ".npy", ".pt", ".pth", ".safetensors"};
    const auto ending = lowered(inner.extension().string());
    return otherFiles().contains(ending) || tensors.contains(ending);
}

bool clearlySomethingElse(const fs::path& path)
{
    const auto ending = lowered(path.extension().string());
    const bool packed = ending == ".gz" || ending == ".zst" || ending == ".xz";
    return packed ? packsSomethingElse(path.stem()) : otherFiles().contains(ending);
}

bool isInside(const fs::path& path, const fs::path& folder)
{
    const auto [inFolder, inPath] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return inFolder == folder.end();
}

FoundFile mlflowLog(const fs::path& metrics, const std::string& relative)
{
    return {metrics, relative, FoundFile::Kind::log, static_cast<std::uint64_t>(mlflowState(metrics).bytes)};
}

/// Logs that were begun anew are kept in sessions as "(replaced) train.log": a file may be called so, a source of what
/// lies in the folder never is.
std::string notReplaced(const std::string& name)
{
    return name.starts_with("(replaced") ? "./" + name : name;
}

/// How much a file of a bundle holds of its capture; 0 for no capture.
int wholenessOf(const fs::path& path)
{
    const auto name = path.filename();
    return name == "capture_min.pt"             ? 1
        : name == "capture_whole.pt"            ? 2
        : tensorfile::looksLikeTensorFile(path) ? 3
                                                : 0;
}

bool holdsMoreThan(const fs::path& folder, int wholeness)
{
    std::error_code error;
    for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
         entries.increment(error)) {
        if (wholenessOf(entries->path()) > wholeness) {
            return true;
        }
    }
    return false;
}

bool holdsAll(const fs::path& folder, std::initializer_list<const char*> names)
{
    std::error_code ignored;
    return std::ranges::all_of(names, [&](const char* name) { return fs::exists(folder / name, ignored); });
}

/// Of a bundle that lies in the run which it is about: the part of a capture beside its reproducer is no further one of
/// the run. Whatever else lies there may be the run's own.
void leaveOutBundles(FoundFiles& found, const fs::path& root)
{
    const auto isPart = [&](const FoundFile& file) {
        const auto wholeness = wholenessOf(file.path);
        const auto folder = file.path.parent_path();
        return (wholeness == 1 || wholeness == 2) && folder != root && holdsAll(folder, {"repro.py", "expected.json"});
    };
    const bool ownCaptures = std::ranges::any_of(
        found.files, [&](const FoundFile& file) { return file.kind == FoundFile::Kind::tensor && !isPart(file); });
    if (ownCaptures) {
        std::erase_if(found.files, isPart);
    }
}

/// In a folder that `nanscope report --bundle` made: what the report says of the run is no log of it, and a part of the
/// capture no second one beside more of it.
bool isOfBundle(const fs::path& path)
{
    const auto name = path.filename();
    const bool text = name == "report.json" || name == "expected.json" || name == "README.txt";
    const auto wholeness = wholenessOf(path);
    if (!text && wholeness != 1 && wholeness != 2) {
        return false;
    }
    const auto folder = path.parent_path();
    return holdsAll(folder, {"report.json", "report.html", "README.txt"}) && (text || holdsMoreThan(folder, wholeness));
}

struct Folder
{
    fs::path path;
    std::string relative;
    int depth = 0;
};

class Walk
{
public:
    Walk(FoundFiles& found, const JobContext& job)
        : m_found(found)
        , m_meter(job, "find", "files")
    { }

    Result<void> run(const fs::path& root)
    {
        std::error_code error;
        m_roots.push_back(fs::canonical(root, error));
        m_folders.push_back({root, {}, 0});
        // Links are looked at last: what also lies here under its own name keeps that name.
        while (!m_folders.empty() || !m_links.empty()) {
            auto& list = m_folders.empty() ? m_links : m_folders;
            const auto next = std::move(list.back());
            const bool link = m_folders.empty();
            list.pop_back();
            link ? follow(next) : list_(next);
            if (m_meter.cancelled()) {
                return failure(ErrorKind::cancelled, "cancelled while looking for files", root.string());
            }
            if (m_problem) {
                return tl::make_unexpected(*m_problem);
            }
        }
        return {};
    }

private:
    void list_(const Folder& folder)
    {
        std::error_code error;
        fs::directory_iterator entries(folder.path, error);
        for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
            visit(*entries, folder);
            if (m_meter.cancelled()) {
                return;
            }
        }
        if (error) {
            const auto reason = "the folder cannot be read, " + platform::systemReason(error.value());
            const bool everyOther =
                error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system;
            if (folder.relative.empty() || everyOther) {
                m_problem = Error {ErrorKind::io, reason, folder.path.string()};
            }
            reject(folder.relative, reason);
        }
    }

    void visit(const fs::directory_entry& entry, const Folder& folder)
    {
        const auto name = entry.path().filename().string();
        // Hydra leaves the configuration of a run in a hidden folder.
        if ((name.starts_with('.') && name != ".hydra") || name == "__pycache__") {
            return;
        }
        const auto shown = notReplaced(name);
        Folder next {entry.path(), folder.relative.empty() ? shown : folder.relative + '/' + shown, folder.depth + 1};
        std::error_code error;
        if (entry.is_symlink(error)) {
            m_links.push_back(std::move(next));
        } else if (entry.is_directory(error)) {
            noteCheckpoint(next, true);
            takeFolder(std::move(next));
        } else if (entry.is_regular_file(error)) {
            if (!isOfBundle(next.path)) {
                noteCheckpoint(next, false);
                add(next.path, next.relative);
            }
        } else {
            rejectSpecial(next);
        }
    }

    void noteCheckpoint(const Folder& place, bool isFolder)
    {
        if (auto checkpoint = checkpointAt(place.path, place.relative, isFolder)) {
            checkpoint->place = place.path.string();
            checkpoint->path = readable(checkpoint->path, checkpoint->path.size() * 4);
            m_found.checkpoints.push_back(std::move(*checkpoint));
        }
    }

    /// The metrics of a run of MLflow are one log.
    void takeFolder(Folder folder)
    {
        if (isMlflowMetrics(folder.path)) {
            m_found.files.push_back(mlflowLog(folder.path, folder.relative));
        } else if (!isReadWithMlflow(folder.path)) {
            enter(std::move(folder));
        }
    }

    void enter(Folder folder)
    {
        if (folder.depth > deepestFolder) {
            reject(folder.relative,
                fmt::format("folders lie more than {} deep; what is below was not read", deepestFolder));
            return;
        }
        m_folders.push_back(std::move(folder));
    }

    void follow(const Folder& link)
    {
        std::error_code error;
        const auto target = fs::canonical(link.path, error);
        if (error) {
            reject(link.relative, fmt::format("a symbolic link that leads nowhere ({})", error.message()));
            return;
        }
        const bool folder = fs::is_directory(target, error);
        if (folder && leadsBack(link, target)) {
            reject(link.relative, "a symbolic link that leads back to a folder it lies in; it was not followed");
            return;
        }
        if (std::any_of(m_roots.begin(), m_roots.end(), [&](const auto& root) { return isInside(target, root); })) {
            return;
        }
        m_roots.push_back(target);
        if (folder) {
            enter(link);
        } else if (fs::is_regular_file(target, error)) {
            add(link.path, link.relative);
        } else {
            rejectSpecial(link);
        }
    }

    /// Folders are full of sockets; worth a word is what somebody may take for a capture or a log.
    void rejectSpecial(const Folder& place)
    {
        std::error_code error;
        if (fs::exists(place.path, error)
            && (tensorfile::looksLikeTensorFile(place.path) || isNamedLikeALog(place.relative))) {
            reject(place.relative, noContents);
        }
    }

    bool leadsBack(const Folder& link, const fs::path& target) const
    {
        std::error_code error;
        const auto parent = fs::canonical(link.path.parent_path(), error);
        return isInside(parent, target) || isInside(m_roots.front(), target);
    }

    void add(const fs::path& path, const std::string& relative)
    {
        const bool tensor = tensorfile::looksLikeTensorFile(path);
        if (!tensor && clearlySomethingElse(path) && !hasConfigName(relative)) {
            return;
        }
        std::error_code error;
        const auto size = fs::file_size(path, error);
        m_found.files.push_back(
            {path, relative, tensor ? FoundFile::Kind::tensor : FoundFile::Kind::log, error ? 0 : size});
        m_meter.advance(static_cast<std::int64_t>(m_found.files.size()), 0);
    }

    void reject(const std::string& relative, std::string reason)
    {
        m_found.rejected.push_back({readable(relative, relative.size() * 4), std::move(reason)});
    }

    FoundFiles& m_found;
    ProgressMeter m_meter;
    std::optional<Error> m_problem; ///< with the folder itself, or one that all others would have, too
    std::vector<fs::path> m_roots; ///< real paths of what is read as a whole
    std::vector<Folder> m_folders;
    std::vector<Folder> m_links;
};

/// x.json beside x.pt tells the variant and step of that capture and is read with it; one that is alone may be a
/// capture of which only the counts were written.
void sortSidecars(std::vector<FoundFile>& files)
{
    std::set<std::string> stems;
    for (const auto& file : files) {
        if (file.kind == FoundFile::Kind::tensor) {
            stems.insert(file.relative.substr(0, file.relative.rfind('.')));
        }
    }
    std::erase_if(files, [&](const FoundFile& file) {
        return file.relative.ends_with(".json") && stems.contains(file.relative.substr(0, file.relative.size() - 5));
    });
    for (auto& file : files) {
        if (tensorfile::looksLikeSidecar(file.path)) {
            file.kind = FoundFile::Kind::tensor;
        }
    }
}

fs::path withoutTrailingSlash(const fs::path& path)
{
    const auto normal = fs::absolute(path).lexically_normal();
    return normal.has_filename() || !normal.has_parent_path() ? normal : normal.parent_path();
}

FoundFiles singleFile(const fs::path& path)
{
    std::error_code error;
    FoundFiles found;
    found.name = readable(path.filename().string(), 1000);
    found.root = runFolderOf(path).string();
    const bool tensors = tensorfile::looksLikeTensorFile(path) || tensorfile::looksLikeSidecar(path);
    const auto kind = tensors ? FoundFile::Kind::tensor : FoundFile::Kind::log;
    found.files.push_back({path, notReplaced(found.name), kind, fs::file_size(path, error)});
    // Its console is not read twice where it lies beside: then it belongs to the file.
    const auto console = isWandbName(found.name) ? wandbConsoleBeside(path) : fs::path();
    if (!console.empty() && fs::is_regular_file(console, error)) {
        found.files.push_back({console, console.lexically_relative(path.parent_path()).generic_string(),
            FoundFile::Kind::log, fs::file_size(console, error)});
    }
    return found;
}

FoundFiles onlyMetrics(const fs::path& path)
{
    FoundFiles found;
    found.name = readable(path.parent_path().filename().string(), 1000);
    found.root = runFolderOf(path).string();
    found.files.push_back(mlflowLog(path, path.filename().string()));
    return found;
}

} // namespace

fs::path runFolderOf(const fs::path& given)
{
    std::error_code error;
    const auto path = withoutTrailingSlash(given);
    return fs::is_directory(path, error) && !isMlflowMetrics(path) ? path : path.parent_path();
}

Result<FoundFiles> findFiles(const fs::path& given, const JobContext& job)
{
    std::error_code error;
    const auto path = withoutTrailingSlash(given);
    const auto status = fs::status(path, error);
    if (!fs::exists(status)) {
        return failure(ErrorKind::io, "no such file or folder, or no permission to look", given.string());
    }
    if (fs::is_regular_file(status)) {
        return singleFile(path);
    }
    if (!fs::is_directory(status)) {
        return failure(ErrorKind::unsupported, std::string("this is ") + noContents, given.string());
    }
    if (isMlflowMetrics(path)) {
        return onlyMetrics(path);
    }
    FoundFiles found;
    found.name = readable(path.filename().string(), 1000);
    found.root = runFolderOf(path).string();
    TRY(Walk(found, job).run(path));
    leaveOutBundles(found, path);
    sortSidecars(found.files);
    std::sort(found.checkpoints.begin(), found.checkpoints.end(),
        [](const Checkpoint& a, const Checkpoint& b) { return std::tie(a.step, a.path) < std::tie(b.step, b.path); });
    std::sort(found.files.begin(), found.files.end(),
        [](const FoundFile& a, const FoundFile& b) { return a.relative < b.relative; });
    for (auto& file : found.files) {
        file.relative = readable(file.relative, file.relative.size() * 4);
    }
    return found;
}

} // namespace nanscope::ingest
