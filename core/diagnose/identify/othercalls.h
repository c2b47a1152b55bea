// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Calls that went well tell which function ran where the damaged output cannot: other matrices of the same call, and
// healthy captures of the same kind.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/diagnose/identify/captureindex.h"
#include "core/diagnose/identify/identify.h"
#include "core/model/fwd.h"
#include "core/model/model.h"
#include "core/replay/variants/catalogue.h"
#include "core/tensorfile/capture/capturefile.h"

namespace nanscope::diagnose {

/// Finds the control of a capture and identifies it, once for all that ask for it.
class Controls
{
public:
    Controls(const CaptureIndex& captures, const replay::Catalogue& catalogue, replay::Device& device,
        const CancelToken& cancel)
        : m_captures(captures)
        , m_catalogue(catalogue)
        , m_device(device)
        , m_cancel(cancel)
    { }

    /// Another matrix of the same call that is finite in and out.
    Result<std::optional<ControlCall>> inSameCall(
        const tensorfile::CaptureFile& file, const Capture& stored, std::int64_t damaged);

    /// A healthy capture of the same shape, formats and epsilon: of the same process, or of another rank. The same
    /// rank in another process is another attempt, which may have run something else.
    Result<std::optional<ControlCall>> inSameRun(const Capture& stored);

    /// A healthy capture of which nothing says whether it is of the same process. Where one of them is what one of
    /// `names` gives, it is that.
    Result<std::optional<ControlCall>> perhapsOfRun(const Capture& stored, const std::vector<std::string>& names);

    /// The variants that a clean capture fits; none where it fits nothing, or cannot be read.
    Result<std::vector<std::string>> variantsOf(const Capture& clean);

private:
    using Key = std::pair<std::string, std::int64_t>; ///< path and element

    Result<const ElementFit*> fitOf(const tensorfile::CaptureFile& file, const Capture& stored, std::int64_t batch);
    Result<std::vector<ControlCall>> identifiedOf(const std::vector<const Capture*>& others);
    Result<std::optional<ControlCall>> identified(
        const tensorfile::CaptureFile& file, const Capture& stored, std::int64_t batch);

    const CaptureIndex& m_captures;
    const replay::Catalogue& m_catalogue;
    replay::Device& m_device;
    const CancelToken& m_cancel;
    std::map<Key, ElementFit> m_known;
};

// Calls that were given the same bits. Where one of them came out finite, the numbers did not do the other.

/// Could the two be one call with the same bits, made by the same code? By formats and the counts of their scans alone.
bool mayShareInput(const Capture& damaged, const Capture& clean);

/// A call with the very input of a damaged one that came out finite; null where there is none. Compares the bits of
/// those that could be one. A capture of the same rank and another process is none: that attempt may have run something
/// else. Where the verdict is on a finite output, one that is the same where this one is wrong is none either: it ended
/// no better.
const Capture* cleanCallOf(const CaptureVerdict& verdict, const Capture& damaged, const CaptureIndex& captures);

/// `fits` are the variants that the output of the clean call fits, none where it fits nothing.
DuplicateInput describeDuplicate(const Capture& damaged, const Capture& clean, std::vector<std::string> fits,
    const std::vector<MemberResult>& members, const replay::Catalogue& catalogue);

/// Counts for each rank how often it was damaged where another was right on the same bits, and judges again those of
/// the only rank that was so more than once.
void countWrongRanks(std::vector<CaptureVerdict>& verdicts, const CaptureIndex& captures);

} // namespace nanscope::diagnose
