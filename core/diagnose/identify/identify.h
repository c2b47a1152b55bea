// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "core/diagnose/identify/element.h"
#include "core/diagnose/identify/envelope.h"
#include "core/model/model.h"
#include "core/replay/engine/replay.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::diagnose {

/// What a variant gives in its own format, by its own rounding.
struct OwnOutput
{
    const replay::Variant* variant = nullptr;
    Values values {}; ///< row-major
};

/// An output that is what a variant gives but for one factor.
struct MultipleOf
{
    std::string variant;
    double factor = 1;
    double fit = 0; ///< relative Frobenius distance that is left
};

struct ElementFit
{
    Identification identification;
    bool compared = false; ///< false: too little of the output is finite, or the input is zero or damaged
    bool localDamage = false; ///< most tiles fit, some do not
    std::vector<std::string> exact {}; ///< variants whose own format gives nearly every finite value bit for bit
    std::vector<MultipleOf> multiples {}; ///< best first, where nothing fits as it is
    bool signalOnly = false; ///< only the directions that carry signal fit: a low-rank input
    std::map<const replay::Variant*, MemberResult>
        own {}; ///< those that were replayed in their own format, of one rounding
    OwnOutput nearest {}; ///< of what was replayed in its own format, that which comes closest
    /// May have run as far as what was compared tells, and the operations did not suffice to replay them: they are
    /// among the names, or where nothing else fits, all that is known.
    std::vector<std::string> leftOut {};
    double operationsLeft = 0; ///< of those that replays could take
};

/// The comparison that is made now, counted from 1: each variant exactly, and then in its own format.
struct ReplayPlace
{
    std::size_t done = 0;
    std::size_t all = 0;
};

/// Called before every replay.
using ReplayWatch = std::function<void(const replay::Variant& variant, Precision precision, ReplayPlace place)>;

/// Elements whose smaller side has so many rows are compared with exact outputs in a sample of tiles. The lab's are
/// smaller.
constexpr std::int64_t sampledFromRows = 384;

constexpr double withoutLimit = std::numeric_limits<double>::infinity();

/// Compares the finite part of the output with what every variant gives: once per schedule in fp64, then in the
/// variant's own format where that can still matter. `sampledFrom` as of sampledFromRows. Replays take at most
/// `operations`, those first that are nearest: what is left out then stays possible. What one decomposition of the
/// input tells is told in any case.
Result<ElementFit> identifyElement(const Element& element, const replay::Catalogue& catalogue,
    std::optional<double> epsilon, replay::Device& device, const CancelToken& cancel, const ReplayWatch& watch = {},
    std::int64_t sampledFrom = sampledFromRows, double operations = withoutLimit);

/// What may have made a capture.
struct IdentifiedCapture
{
    Identification identification;
    std::vector<std::string> leftOut {}; ///< as of ElementFit
};

/// As identifyElement(), of the first matrix that tells anything.
Result<IdentifiedCapture> identify(const tensorfile::CaptureFile& capture, const replay::Catalogue& catalogue,
    replay::Device& device, const CancelToken& cancel = {}, const ReplayWatch& watch = {},
    double operations = withoutLimit);

} // namespace nanscope::diagnose
