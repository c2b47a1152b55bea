// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/platform/platform.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>
#include <unistd.h>

#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>

namespace nanscope::platform {

namespace {

// Magic numbers of statfs(2); not all of them are in <linux/magic.h>.
constexpr std::array<std::uint32_t, 14> networkFileSystems {
    0x6969, // NFS
    0x517B, // SMB
    0xFF534D42, // CIFS
    0xFE534D42, // SMB2
    0x0BD00BD0, // Lustre
    0x65735546, // FUSE
    0x00C36400, // Ceph
    0x47504653, // GPFS
    0x19830326, // BeeGFS
    0xAAD7AAEA, // PanFS
    0x5346414F, // AFS
    0x6B414653, // kAFS
    0x01021997, // 9P
    0x7461636F, // OCFS2
};

std::filesystem::path homeFolder()
{
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
        return home;
    }
    if (const auto* entry = ::getpwuid(::getuid()); entry != nullptr && entry->pw_dir != nullptr) {
        return entry->pw_dir;
    }
    return std::filesystem::temp_directory_path();
}

std::filesystem::path nearestExisting(const std::filesystem::path& path)
{
    std::error_code ignored;
    auto place = std::filesystem::absolute(path, ignored);
    while (!std::filesystem::exists(place, ignored) && place.has_relative_path()) {
        place = place.parent_path();
    }
    return place;
}

std::string cpuName()
{
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (const auto colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos) {
            return line.substr(colon + 2);
        }
    }
    return "unknown CPU";
}

const char* instructionSet()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) {
        return "avx512";
    }
    if (__builtin_cpu_supports("avx2")) {
        return "avx2";
    }
    return "sse2";
#elif defined(__aarch64__)
    return "neon";
#else
    return "generic";
#endif
}

} // namespace

std::filesystem::path userDataFolder()
{
    // The XDG rules say that a relative path in the variable is to be ignored.
    if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/') {
        return std::filesystem::path(data) / "nanscope";
    }
    return homeFolder() / ".local" / "share" / "nanscope";
}

std::filesystem::path userConfigFolder()
{
    if (const char* config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config == '/') {
        return std::filesystem::path(config) / "nanscope";
    }
    return homeFolder() / ".config" / "nanscope";
}

bool isNetworkFileSystem(const std::filesystem::path& path)
{
    struct statfs info
    { };
    if (::statfs(nearestExisting(path).c_str(), &info) != 0) {
        return false;
    }
    const auto magic = static_cast<std::uint32_t>(info.f_type);
    return std::find(networkFileSystems.begin(), networkFileSystems.end(), magic) != networkFileSystems.end();
}

bool errorsAreWatched()
{
    return ::isatty(STDERR_FILENO) == 1;
}

namespace {

volatile std::sig_atomic_t statusAtTheEnd = 0;

extern "C" void endNow(int)
{
    ::_exit(statusAtTheEnd);
}

} // namespace

void endProgramAfter(unsigned seconds, int status)
{
    statusAtTheEnd = status;
    std::signal(SIGALRM, endNow);
    ::alarm(seconds);
}

void ignoreBrokenPipes()
{
    std::signal(SIGPIPE, SIG_IGN);
}

std::filesystem::path programFolder()
{
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::filesystem::current_path() : program.parent_path();
}

std::string cpuDescription()
{
    return cpuName() + " (" + instructionSet() + ")";
}

std::int64_t physicalMemory()
{
    const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES);
    const std::int64_t pageSize = ::sysconf(_SC_PAGESIZE);
    auto bytes = pages * pageSize;
    struct rlimit limit = {};
    if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        bytes = std::min(bytes, static_cast<std::int64_t>(limit.rlim_cur));
    }
    return bytes;
}

std::string systemReason(int code)
{
    switch (code) {
    case ENOENT:
        return "there is no such file";
    case EACCES:
    case EPERM:
        return "permission is denied; check the owner and mode of the file and its folders";
    case ELOOP:
        return "its symbolic links form a loop";
    case EISDIR:
        return "it is a folder, not a file";
    case ENOSPC:
    case EDQUOT:
        return "the disk is full; free some space and try again";
    case EMFILE:
    case ENFILE:
        return "too many files are open; raise the limit with ulimit -n";
    case EFBIG:
        return "it would be larger than files may become here; raise the limit with ulimit -f";
    case EROFS:
        return "the file system is read-only";
    default:
        return "the system says: " + std::generic_category().message(code);
    }
}

tl::unexpected<Error> systemFailure(const char* doing, int code, const std::filesystem::path& path)
{
    return failure(ErrorKind::io, std::string(doing) + ", " + systemReason(code), path.string());
}

void failAtFileSizeLimit()
{
    std::signal(SIGXFSZ, SIG_IGN);
}

void leaveProcessorsToOthers()
{
    // A third of the time of those who do not step back: enough that no busy machine starves it.
    constexpr int back = 5;
    // On Linux this is the priority of the thread of that number alone. Where it is refused, all is as before.
    const auto thread = static_cast<id_t>(::gettid());
    (void)::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + back);
}

int processId()
{
    return ::getpid();
}

std::int64_t nowMs()
{
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::optional<std::string> environmentVariable(const std::string& name)
{
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string shellQuoted(const std::string& word)
{
    const auto* safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+=";
    if (!word.empty() && word.find_first_not_of(safe) == std::string::npos) {
        return word;
    }
    std::string quoted = "'";
    for (const auto byte : word) {
        quoted += byte == '\'' ? "'\\''" : std::string(1, byte);
    }
    return quoted + "'";
}

} // namespace nanscope::platform
