// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace nanscope::platform {

/// Tells when something at or below a path was written, made, moved or removed. The system reports changes on local
/// file systems, so that waiting costs nothing; where it cannot (network file systems, no watches left), the times of
/// files and folders are looked at, as often as keeps the look below one hundredth of a core.
class FolderWatch
{
public:
    enum class Means { best, looking };

    /// By the name of a file that was closed after writing or moved into its place: whether it is worth waking up for
    /// at once, however busy the rest of the folder is.
    using Hasty = std::function<bool(const std::string& name)>;

    static Result<FolderWatch> open(const std::filesystem::path& path, Means means = Means::best, Hasty hasty = {});
    FolderWatch(FolderWatch&& other) noexcept;
    FolderWatch& operator=(FolderWatch&& other) noexcept;
    ~FolderWatch();

    /// True once something changed since the last call and then stayed calm for a moment (but no longer than a second
    /// after the first change, so that a file that grows all the time is seen too); false when `stop` said so.
    /// True too once `most` has passed.
    bool wait(const std::function<bool()>& stop, std::optional<std::chrono::milliseconds> most = {});

    /// False where it has to look by itself, because the file system sends no notice.
    bool isTold() const;

    /// The path itself was moved or removed: what lies there now, if anything, is not watched.
    bool lost() const;

    static constexpr std::chrono::milliseconds calm {200};
    static constexpr std::chrono::milliseconds longest {800};

private:
    struct State;
    explicit FolderWatch(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace nanscope::platform
