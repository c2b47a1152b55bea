// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The few things that differ between systems; POSIX calls are allowed here and nowhere else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace nanscope::platform {

/// Distinguishes one state of a file from another: equal stamps mean that it was not replaced, cut or rewritten.
struct FileStamp
{
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t modifiedNs = 0; ///< Unix time
    bool operator==(const FileStamp&) const = default;
};

/// A stretch of a file that is a file of its own kind, as each tensor in a shard of a distributed checkpoint is.
struct FilePart
{
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> size; ///< up to the end of the file where there is none
};

/// Reads parts of a regular file by copying them. Unlike a mapping it never faults when the file shrinks: the
/// read comes back as an error. Folders, pipes and devices are refused without blocking.
class FileReader
{
public:
    static Result<FileReader> open(const std::filesystem::path& path);
    FileReader(FileReader&& other) noexcept;
    FileReader& operator=(FileReader&& other) noexcept;
    ~FileReader();

    const FileStamp& stamp() const { return m_stamp; }
    FilePart part() const { return {m_begin, m_size}; }
    std::uint64_t size() const { return m_size; }

    /// The first place from `offset` on that was ever written to; the end of the file where only a hole follows.
    std::uint64_t dataFrom(std::uint64_t offset) const;

    /// Fills all of `out` or fails.
    Result<void> readAt(std::uint64_t offset, std::span<std::byte> out) const;

    /// From now on offsets and size() are those of `part`; the stamp stays that of the file.
    Result<void> narrowTo(const FilePart& part);

    /// Reads the first and the last `size` bytes now; readAt() then takes them from memory. For formats whose
    /// headers are many small pieces at both ends.
    Result<void> keepEdges(std::uint64_t size);

private:
    struct Edge
    {
        std::uint64_t offset = 0;
        std::vector<std::byte> bytes;
    };

    FileReader(std::filesystem::path path, int descriptor)
        : m_path(std::move(path))
        , m_descriptor(descriptor)
    { }

    bool readEdge(std::uint64_t offset, std::span<std::byte> out) const;

    std::filesystem::path m_path;
    int m_descriptor = -1;
    FileStamp m_stamp;
    std::uint64_t m_begin = 0;
    std::uint64_t m_size = 0;
    std::array<Edge, 2> m_edges;
};

/// Writes a file under a temporary name beside its target; commit() flushes it to disk and renames it. Without
/// commit() nothing is left behind.
class AtomicFile
{
public:
    static Result<AtomicFile> create(const std::filesystem::path& target);
    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile& operator=(AtomicFile&& other) noexcept;
    ~AtomicFile();

    Result<void> write(std::span<const std::byte> bytes);
    Result<void> commit();

private:
    AtomicFile() = default;
    void discard() noexcept;

    std::filesystem::path m_target;
    std::filesystem::path m_temporary;
    int m_descriptor = -1;
};

/// $XDG_DATA_HOME/nanscope, else ~/.local/share/nanscope.
std::filesystem::path userDataFolder();

/// $XDG_CONFIG_HOME/nanscope, else ~/.config/nanscope: where a user keeps what adds to the program.
std::filesystem::path userConfigFolder();

/// True for file systems on which SQLite's WAL is unsafe (NFS, SMB, Lustre, FUSE, ...).
bool isNetworkFileSystem(const std::filesystem::path& path);

/// Writes beside the target, flushes to disk, renames over it.
Result<void> writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Gives a finished file the name `path` in the same folder instead of its temporary one unless that is taken, whoever
/// else asks for it at the same time; false where it is. File systems without links are not safe from a second writer
/// of the same name.
Result<bool> giveNewName(const std::filesystem::path& temporary, const std::filesystem::path& path);

/// True where a person looks at what goes to standard error.
bool errorsAreWatched();

/// For a handler of signals: what does not hear that it is cancelled, because it waits for a disk or for a reader, ends
/// with this status after so many seconds.
void endProgramAfter(unsigned seconds, int status);

/// From now on a reader that went away shows as a failed write rather than as a signal that ends the program.
void ignoreBrokenPipes();

/// Bytes of memory this machine has, or that this process may use where a limit is set.
std::int64_t physicalMemory();

/// Folder of the running program.
std::filesystem::path programFolder();

/// "AMD EPYC 9654 (avx512)" or the like; never a host name.
std::string cpuDescription();

/// What errno value `code` stands for, with what can be done about it.
std::string systemReason(int code);

/// The failure that errno value `code` stands for, as a sentence beginning with `doing`.
tl::unexpected<Error> systemFailure(const char* doing, int code, const std::filesystem::path& path);

/// From now on a write beyond the limit on the size of files fails with EFBIG rather than ends the program by a signal.
void failAtFileSizeLimit();

/// From now on this thread, and those that it starts, come after others where processors are few.
void leaveProcessorsToOthers();

int processId();

/// Milliseconds since 1970, as the system's clock has them.
std::int64_t nowMs();

/// The value of a variable of the environment; none where it is not set.
std::optional<std::string> environmentVariable(const std::string& name);

/// As a shell takes it for one word, for lines to copy.
std::string shellQuoted(const std::string& word);

} // namespace nanscope::platform
