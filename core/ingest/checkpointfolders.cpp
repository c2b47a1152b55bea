// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/checkpointfolders.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <re2/re2.h>

#include "core/ingest/text/consoletext.h"

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
            m_folders[own].push_back(entry->path().filename().string());
            std::error_code ignored;
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

std::string problemOfTrainer(const Contents& contents)
{
    static const RE2 state(R"(trainer_state\.json)", RE2::Latin1);
    return contents.has(state) ? "" : "it has no trainer_state.json: saving was not finished, or it was exported";
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

const Patterns& patterns()
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
        const auto step = stepIn(path.filename().string(), *patterns().folders[i]);
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
    for (const auto& pattern : patterns().files) {
        if (const auto step = stepIn(path.filename().string(), *pattern)) {
            std::error_code error;
            const bool empty = fs::file_size(path, error) == 0 && !error;
            return Checkpoint {
                *step, CheckpointFact::found, relative, empty ? "the file is empty: the disk may be full" : "", {}, 0};
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<Checkpoint> checkpointAt(const fs::path& path, const std::string& relative, bool isFolder)
{
    return isFolder ? folderCheckpoint(path, relative) : fileCheckpoint(path, relative);
}

} // namespace nanscope::ingest
