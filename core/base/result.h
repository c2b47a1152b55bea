// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace nanscope {

enum class ErrorKind {
    io, ///< the system refused: not found, no permission, disk full
    format, ///< not a file of this kind
    truncated, ///< ends before its own headers say it does
    corrupt, ///< contradicts itself: checksum, bounds, duplicate names
    unsupported, ///< well formed, but a kind we do not read
    refused, ///< would need more memory, time or trust than its size justifies
    busy, ///< another program is at it; later it may be done
    usage, ///< the caller asked for something that does not exist
    cancelled,
    internal,
};

/// One problem, worth one sentence: `what` says what happened and what to do, without the path and without a
/// final stop; `path` is the file it concerns, or empty.
struct Error
{
    ErrorKind kind = ErrorKind::internal;
    std::string what;
    std::string path;
};

/// "What: path", the form every error takes on stderr and in the window. The rooms differ in how they begin; here a
/// plain word gets its capital, while a name ("cuda:0", "a.pt", "gns-gram") keeps its own letters.
inline std::string sentence(const Error& error)
{
    const auto words = error.what + ' ';
    const auto end = words.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
    auto text = error.path.empty() ? error.what : error.what + ": " + error.path;
    if (end > 0 && words.find_first_of(" ,;") == end) {
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    }
    return text;
}

/// `error` with the path filled in where it is not.
inline Error withPath(Error error, const std::filesystem::path& path)
{
    if (error.path.empty()) {
        error.path = path.string();
    }
    return error;
}

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> failure(ErrorKind kind, std::string what, std::string path = {})
{
    return tl::make_unexpected(Error {kind, std::move(what), std::move(path)});
}

} // namespace nanscope
