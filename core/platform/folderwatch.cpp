// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/folderwatch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "core/platform/platform.h"

namespace nanscope::platform {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint32_t changes = IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
    | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
// How soon a stop is noticed; waking up so seldom costs nothing that could be measured.
constexpr milliseconds stopLatency {200};
constexpr milliseconds shortestLook {1000};
constexpr int lookShare = 100;
constexpr std::size_t mostFolders = 8192;

/// Paths, sizes and times below a path, folded into one number.
std::uint64_t lookAt(const fs::path& path)
{
    std::uint64_t seen = 1469598103934665603ULL;
    const auto fold = [&seen](std::uint64_t value) { seen = (seen ^ value) * 1099511628211ULL; };
    std::error_code error;
    const auto add = [&](const fs::path& entry) {
        std::error_code gone;
        fold(fs::hash_value(entry));
        fold(static_cast<std::uint64_t>(fs::last_write_time(entry, gone).time_since_epoch().count()));
        fold(fs::is_regular_file(entry, gone) ? fs::file_size(entry, gone) : 0);
    };
    add(path);
    for (fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error), end;
         !error && at != end; at.increment(error)) {
        add(at->path());
    }
    return seen;
}

} // namespace

struct FolderWatch::State
{
    fs::path path;
    Hasty hasty;
    int descriptor = -1;
    int top = -1; ///< inotify's number of the path itself
    std::map<int, fs::path> folders; ///< by inotify's number
    std::uint64_t seen = 0;
    milliseconds lookEvery = shortestLook;

    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State()
    {
        if (descriptor >= 0) {
            ::close(descriptor);
        }
    }

    bool watchOne(const fs::path& folder)
    {
        const int number = folders.size() < mostFolders ? ::inotify_add_watch(descriptor, folder.c_str(), changes) : -1;
        if (number >= 0) {
            folders[number] = folder;
        }
        return number >= 0;
    }

    /// False once a folder cannot be watched: notices of the other folders are not enough then.
    bool watchTree(const fs::path& root)
    {
        if (!watchOne(root)) {
            return false;
        }
        std::error_code error;
        for (fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error), end;
             !error && at != end; at.increment(error)) {
            std::error_code gone;
            if (at->is_directory(gone) && !at->is_symlink(gone) && !watchOne(at->path())) {
                return false;
            }
        }
        return true;
    }

    void stopBeingTold()
    {
        ::close(descriptor);
        descriptor = -1;
        folders.clear();
        look();
    }

    bool look()
    {
        const auto start = Clock::now();
        const auto now = lookAt(path);
        const auto cost = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
        lookEvery = std::max(shortestLook, cost * lookShare);
        return std::exchange(seen, now) != now;
    }

    bool watchAll()
    {
        const bool watched = watchTree(path);
        top = folders.empty() ? -1 : folders.begin()->first;
        return watched;
    }

    bool isHasty(const inotify_event& event) const
    {
        return hasty && event.len > 0 && (event.mask & IN_ISDIR) == 0
            && (event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0 && hasty(event.name);
    }

    void take(const inotify_event& event)
    {
        hurried = hurried || isHasty(event);
        lost = lost || (event.wd == top && (event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0);
        if ((event.mask & IN_IGNORED) != 0) {
            folders.erase(event.wd);
            return;
        }
        const auto parent = folders.find(event.wd);
        const bool newFolder = (event.mask & IN_ISDIR) != 0 && (event.mask & (IN_CREATE | IN_MOVED_TO)) != 0;
        if (parent != folders.end() && newFolder && !watchTree(parent->second / event.name)) {
            m_full = true;
        }
        m_full = m_full || (event.mask & IN_Q_OVERFLOW) != 0;
    }

    /// Reads what waits; false if nothing did.
    bool drain()
    {
        alignas(inotify_event) std::array<char, 16384> buffer;
        bool any = false;
        for (auto got = ::read(descriptor, buffer.data(), buffer.size()); got > 0;
             got = ::read(descriptor, buffer.data(), buffer.size())) {
            any = true;
            for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(got);) {
                const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
                take(*event);
                at += sizeof(inotify_event) + event->len;
            }
        }
        return any;
    }

    bool toldWithin(milliseconds time)
    {
        pollfd waiting {descriptor, POLLIN, 0};
        return ::poll(&waiting, 1, static_cast<int>(time.count())) > 0 && drain();
    }

    bool full() const { return m_full; }

    bool hurried = false; ///< a hasty file is there
    bool lost = false;

private:
    bool m_full = false; ///< events were lost, or a new folder could not be watched
};

FolderWatch::FolderWatch(std::unique_ptr<State> state)
    : m_state(std::move(state))
{ }

FolderWatch::FolderWatch(FolderWatch&&) noexcept = default;
FolderWatch& FolderWatch::operator=(FolderWatch&&) noexcept = default;
FolderWatch::~FolderWatch() = default;

Result<FolderWatch> FolderWatch::open(const fs::path& path, Means means, Hasty hasty)
{
    std::error_code error;
    if (!fs::exists(path, error)) {
        return failure(ErrorKind::io, "There is no such file or folder to watch", path.string());
    }
    auto state = std::make_unique<State>();
    state->path = path;
    state->hasty = std::move(hasty);
    if (means == Means::best && !isNetworkFileSystem(path)) {
        state->descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    }
    if (state->descriptor < 0) {
        state->look();
    } else if (!state->watchAll()) {
        state->stopBeingTold();
    }
    return FolderWatch(std::move(state));
}

bool FolderWatch::isTold() const
{
    return m_state->descriptor >= 0;
}

bool FolderWatch::lost() const
{
    return m_state->lost;
}

bool FolderWatch::wait(const std::function<bool()>& stop, std::optional<milliseconds> most)
{
    const auto start = Clock::now();
    m_state->hurried = false;
    auto nextLook = start + m_state->lookEvery;
    while (!stop()) {
        if (most && Clock::now() - start >= *most) {
            return true;
        }
        if (!isTold()) {
            std::this_thread::sleep_for(stopLatency);
            if (Clock::now() >= nextLook) {
                if (m_state->look()) {
                    return true;
                }
                nextLook = Clock::now() + m_state->lookEvery;
            }
            continue;
        }
        if (!m_state->toldWithin(stopLatency)) {
            continue;
        }
        const auto first = Clock::now();
        while (!stop() && !m_state->hurried && Clock::now() - first < longest && m_state->toldWithin(calm)) { }
        if (m_state->full()) {
            m_state->stopBeingTold();
        }
        return true;
    }
    return false;
}

} // namespace nanscope::platform
