// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/identify/captureindex.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include <fmt/format.h>

#include "core/model/verdict.h"

namespace nanscope::diagnose {

namespace {

bool sameCounts(const Scan& a, const Scan& b)
{
    return a.count == b.count && a.zero == b.zero && a.subnormal == b.subnormal && a.absmax == b.absmax
        && a.minNonzero == b.minNonzero && a.sumSquares == b.sumSquares && a.finite() && b.finite();
}

void mix(std::size_t& hash, std::size_t value)
{
    hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
}

// Equal for all that sameInputCounts() holds for.
std::size_t hashOfInput(const Capture& capture)
{
    std::size_t hash = std::hash<std::string> {}(shapeText(capture.input.shape));
    mix(hash, static_cast<std::size_t>(capture.input.dtype));
    for (const auto& scan : capture.input.batches) {
        mix(hash, static_cast<std::size_t>(scan.zero));
        mix(hash, std::hash<double> {}(scan.absmax));
        mix(hash, std::hash<double> {}(scan.sumSquares));
    }
    return hash;
}

std::string kindOf(const Capture& capture)
{
    return fmt::format("{} {} {}", shapeText(capture.input.shape), static_cast<int>(capture.input.dtype),
        capture.output ? static_cast<int>(capture.output->dtype) : -1);
}

std::string processOf(const Capture& capture)
{
    return capture.rank && capture.pid ? fmt::format("{} {}", *capture.rank, *capture.pid) : std::string();
}

// A capture of no known rank is held to be of the same one as others without, so the process alone is the key.
std::string byProcess(const Capture& capture)
{
    return capture.pid ? fmt::format("process {} {}", *capture.pid, kindOf(capture)) : std::string();
}

std::string byKind(const Capture& capture)
{
    return fmt::format("kind {}", kindOf(capture));
}

/// A dump that was named by hand tells no process.
std::string byKindOfNoProcess(const Capture& capture)
{
    return fmt::format("kind {}, no process", kindOf(capture));
}

std::string byVariant(const Capture& capture)
{
    return capture.variant ? fmt::format("variant {} {}", *capture.variant, kindOf(capture)) : std::string();
}

bool writtenBefore(const Capture& a, const Capture& b)
{
    return *a.timestampMs < *b.timestampMs;
}

/// Both sidecars have a hash of what was called, and it is not the same.
bool otherCode(const Scene& a, const Scene& b)
{
    return !a.sourceHash.empty() && !b.sourceHash.empty() && a.sourceHash != b.sourceHash;
}

} // namespace

bool sameInputCounts(const Capture& a, const Capture& b)
{
    const bool zero = std::ranges::all_of(a.input.batches, [](const Scan& scan) { return scan.allZero(); });
    return !zero && a.input.shape == b.input.shape && a.input.dtype == b.input.dtype
        && std::ranges::equal(a.input.batches, b.input.batches, sameCounts);
}

std::optional<std::int64_t> healthyElement(const Capture& capture, std::optional<std::int64_t> except)
{
    if (!capture.output) {
        return std::nullopt;
    }
    const auto count = std::min(capture.input.batches.size(), capture.output->batches.size());
    for (std::size_t i = 0; i < count; ++i) {
        const auto& in = capture.input.batches[i];
        const auto& out = capture.output->batches[i];
        const bool healthy = in.finite() && out.finite() && !in.allZero() && !out.allZero();
        if (healthy && except != static_cast<std::int64_t>(i)) {
            return static_cast<std::int64_t>(i);
        }
    }
    return std::nullopt;
}

namespace {

/// Healthy, and a call of the same kind.
bool isHealthyAndAlike(const Capture& healthy, const Capture& damaged)
{
    if (!healthy.output || !damaged.output || !healthy.holdsTheCall() || !healthy.part.empty()
        || healthy.path == damaged.path || otherCode(healthy.scene, damaged.scene)) {
        return false;
    }
    return healthy.input.shape == damaged.input.shape && healthy.input.dtype == damaged.input.dtype
        && healthy.output->dtype == damaged.output->dtype && healthy.epsilon == damaged.epsilon
        && healthy.output->total().finite() && healthyElement(healthy, {});
}

} // namespace

bool isControlOf(const Capture& healthy, const Capture& damaged)
{
    const bool sameRank = healthy.rank == damaged.rank;
    const bool sameProcess = healthy.pid && healthy.pid == damaged.pid;
    // Another rank may have loaded other code; only sidecars tell.
    const bool bothSay = healthy.variant && damaged.variant;
    const bool sameCode = bothSay ? healthy.variant == damaged.variant : sameRank;
    return sameCode && (sameRank ? sameProcess : healthy.rank && damaged.rank) && isHealthyAndAlike(healthy, damaged);
}

bool mayBeControlOf(const Capture& healthy, const Capture& damaged)
{
    const bool otherName = healthy.variant && damaged.variant && healthy.variant != damaged.variant;
    const bool unknown = !(healthy.pid && damaged.pid) && healthy.rank == damaged.rank;
    return unknown && !otherName && isHealthyAndAlike(healthy, damaged);
}

CaptureIndex::CaptureIndex(const RunData& run)
    : m_names(run)
{
    for (const auto& capture : run.captures) {
        m_byName.try_emplace(std::pair(capture.file, capture.id), &capture);
        if (!capture.holdsTheCall()) {
            continue;
        }
        addClean(capture);
        if (const auto process = processOf(capture); !process.empty() && capture.timestampFromName) {
            m_byProcess[process + " " + shapeText(capture.input.shape)].push_back(&capture);
        }
    }
    for (auto& [process, group] : m_byProcess) {
        std::ranges::stable_sort(group, [](const Capture* a, const Capture* b) { return writtenBefore(*a, *b); });
    }
}

void CaptureIndex::addClean(const Capture& capture)
{
    if (!capture.output || !capture.output->scanned() || !capture.output->total().finite()) {
        return;
    }
    m_cleanByInput[hashOfInput(capture)].push_back(&capture);
    const auto noProcess = capture.pid ? std::string() : byKindOfNoProcess(capture);
    for (const auto& key : {byProcess(capture), byVariant(capture), byKind(capture), noProcess}) {
        if (!key.empty() && healthyElement(capture, {})) {
            m_controls[key].push_back(&capture);
        }
    }
}

const Capture* CaptureIndex::of(const CaptureVerdict& verdict) const
{
    const auto found = m_byName.find(std::pair(verdict.capture, verdict.captureId));
    return found == m_byName.end() ? nullptr : found->second;
}

std::vector<const Capture*> CaptureIndex::cleanWithInputOf(const Capture& damaged) const
{
    std::vector<const Capture*> same;
    const auto found = m_cleanByInput.find(hashOfInput(damaged));
    if (found != m_cleanByInput.end()) {
        std::ranges::copy_if(found->second, std::back_inserter(same),
            [&](const Capture* other) { return other->path != damaged.path && sameInputCounts(damaged, *other); });
    }
    return same;
}

std::vector<const Capture*> CaptureIndex::controlsOf(const Capture& damaged, std::size_t most) const
{
    std::vector<const Capture*> chosen;
    for (const auto& key : {byProcess(damaged), byVariant(damaged)}) {
        const auto group = m_controls.find(key);
        if (group == m_controls.end()) {
            continue;
        }
        const auto before = chosen.size();
        for (const auto* other : group->second) {
            if (chosen.size() < before + most && isControlOf(*other, damaged)) {
                chosen.push_back(other);
            }
        }
    }
    // A run keeps its captures in one block, so that their order is that of their addresses.
    std::ranges::sort(chosen, std::less {});
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    chosen.resize(std::min(chosen.size(), most));
    return chosen;
}

std::vector<const Capture*> CaptureIndex::perhapsControlsOf(const Capture& damaged, std::size_t most) const
{
    std::vector<const Capture*> chosen;
    const auto key = damaged.pid ? byKindOfNoProcess(damaged) : byKind(damaged);
    if (const auto group = m_controls.find(key); group != m_controls.end()) {
        for (const auto* other : group->second) {
            if (chosen.size() < most && mayBeControlOf(*other, damaged)) {
                chosen.push_back(other);
            }
        }
    }
    return chosen;
}

std::vector<const Capture*> CaptureIndex::before(const Capture& capture, std::size_t most) const
{
    std::vector<const Capture*> nearest;
    const auto process = processOf(capture);
    const auto group = m_byProcess.find(process + " " + shapeText(capture.input.shape));
    if (process.empty() || !capture.timestampFromName || group == m_byProcess.end()) {
        return nearest;
    }
    const auto end = std::ranges::lower_bound(
        group->second, *capture.timestampMs, std::less {}, [](const Capture* other) { return *other->timestampMs; });
    for (auto one = std::make_reverse_iterator(end); one != group->second.rend() && nearest.size() < most; ++one) {
        nearest.push_back(*one);
    }
    return nearest;
}

Capture CaptureIndex::asSaid(const Capture& capture) const
{
    const auto* namedBy = m_names.namedBy(capture);
    return namedBy == nullptr ? capture : withWordsOf(capture, *namedBy);
}

} // namespace nanscope::diagnose
