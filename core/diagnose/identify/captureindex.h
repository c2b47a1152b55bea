// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Finds captures of a run by what judging one of them asks for. Made once, it keeps a run of thousands of dumps from
// being gone through for each of them; a few bytes are kept per capture, of the tensors nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/diagnose/identify/controlnames.h"
#include "core/model/fwd.h"
#include "core/model/model.h"

namespace nanscope::diagnose {

/// Could these two have been given the same bits? By formats and the counts of their scans alone.
bool sameInputCounts(const Capture& a, const Capture& b);

/// Could the healthy one have run the same function as the other?
bool isControlOf(const Capture& healthy, const Capture& damaged);

/// Nothing says that the two are not of one process, and nothing that they are.
bool mayBeControlOf(const Capture& healthy, const Capture& damaged);

/// The first matrix that is finite in and out, and not zero; none where there is none but `except`.
std::optional<std::int64_t> healthyElement(const Capture& capture, std::optional<std::int64_t> except);

class CaptureIndex
{
public:
    /// `run` has to outlive it.
    explicit CaptureIndex(const RunData& run);

    /// What a verdict is about; nullptr where the run has no such capture.
    const Capture* of(const CaptureVerdict& verdict) const;

    /// Captures with a finite output whose inputs have the same counts, in the order of the run. The bits may differ.
    std::vector<const Capture*> cleanWithInputOf(const Capture& damaged) const;

    /// The first that went well and may have run the same function, in the order of the run; isControlOf() says which.
    std::vector<const Capture*> controlsOf(const Capture& damaged, std::size_t most) const;

    /// The same of mayBeControlOf().
    std::vector<const Capture*> perhapsControlsOf(const Capture& damaged, std::size_t most) const;

    /// Dumps of the same process and shape that were written before, the nearest first. Only times out of file names
    /// count: those of the files change when they are copied.
    std::vector<const Capture*> before(const Capture& capture, std::size_t most) const;

    /// As its sidecar has it, or for a healthy call that a helper wrote, that of the bad call beside it.
    Capture asSaid(const Capture& capture) const;

private:
    using Group = std::vector<const Capture*>;

    void addClean(const Capture& capture);

    ControlNames m_names;
    std::map<std::pair<std::string, std::int64_t>, const Capture*> m_byName;
    std::unordered_map<std::size_t, Group> m_cleanByInput; ///< by a hash of the counts
    std::map<std::string, Group> m_controls; ///< by kind, and by kind with process or variant
    std::map<std::string, Group> m_byProcess; ///< by rank, process and shape, in the order of their times
};

} // namespace nanscope::diagnose
