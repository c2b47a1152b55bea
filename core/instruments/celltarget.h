// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/instruments/target.h"
#include "core/replay/variants/catalogue.h"

namespace nanscope::instruments {

/// What of a variant an instrument replays.
struct CellChoice
{
    std::string variant;
    std::optional<Precision> precision; ///< none: the variant's own
    std::optional<Lowering> lowering; ///< none: the variant's own
    std::string device = "cpu";
    std::optional<int> steps;
    replay::Catalogue catalogue {}; ///< of the variant
};

/// A replay cell as a target. It is handed doubles without rounding them to any other type first.
class CellTarget : public Target
{
public:
    static Result<std::unique_ptr<CellTarget>> make(const CellChoice& choice, const replay::DeviceFactory& devices);

    TargetFacts facts() const override;
    Result<Reply> call(const Question& question, const CancelToken& cancel) override;
    Result<Burst> burst(const Question& question, const BurstOptions& options, const JobContext& job) override;

    /// Core's own CPU device from now on, where its own is lost or has not the memory, as `error` says of it.
    bool goToCpu(const Error& error);

    const replay::Variant& variant() const { return m_variant; }
    /// The first so many steps, or all; another rounding of the same arithmetic, or its own; another format, or its
    /// own.
    struct Detour
    {
        std::optional<int> steps;
        std::optional<replay::Rounding> rounding;
        std::optional<Precision> precision;
    };
    Result<replay::Replay> replayed(const Question& question, const Detour& detour, const CancelToken& cancel);
    Lowering lowering() const { return m_lowering; }
    std::optional<int> steps() const { return m_choice.steps; }

private:
    CellTarget(CellChoice choice, const replay::Variant& variant, std::unique_ptr<replay::Device> device);

    CellChoice m_choice;
    const replay::Variant& m_variant;
    Precision m_precision;
    Lowering m_lowering;
    std::unique_ptr<replay::Device> m_device;
};

/// As TargetFacts has it.
bool turnsDirections(const replay::Variant& variant);

/// Smallest and largest output of what is published.
std::array<double, 2> anyOutputRange();

} // namespace nanscope::instruments
