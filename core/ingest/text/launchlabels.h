// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// What launchers and loggers put before a line to tell whose it is: ranks, and the hosts of pdsh and DeepSpeed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanscope::ingest {

/// Whose line it is, as far as its labels say.
struct LineOrigin
{
    std::optional<int> rank;
    bool local = false; ///< the rank is one of a host: torchrun's tee
    std::string_view host {}; ///< or the number that srun has for it, where each runs a launcher of its own
};

/// Takes the labels off a line's front: "[default0]:", "[rank1]: ", "[rank 0] WARNING  ", "  3: " and the like. The
/// innermost one that names a rank is its rank.
std::string_view peelPrefixes(std::string_view text, LineOrigin& origin);

/// Whether a log has "worker-1: " before its lines: "node: text" alone may be anything, so the first lines decide.
class HostLabels
{
public:
    HostLabels() = default;
    explicit HostLabels(std::span<const std::string_view> head);

    /// Takes the host off a line's front.
    std::string_view peel(std::string_view text, LineOrigin& origin) const;
    /// The name of the process where its rank says too little: two hosts have a local rank 3 each. Empty for those of
    /// the first host, and where the rank says it all.
    std::string processOf(const LineOrigin& origin) const;

private:
    bool m_everywhere = false;
    std::string m_first;
};

} // namespace nanscope::ingest
