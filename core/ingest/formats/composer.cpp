// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Composer and LLM-foundry: "[batch=1/100]:" or "[epoch=1][batch=3/10]:", below it "\t Train loss/train/total: 10.9"
// and, under "[Eval batch=5/5] Eval on c4 data:", "\t Eval metrics/eval/LanguageCrossEntropy: 3.2".
#include "core/ingest/formats/formats.h"
#include "core/ingest/log/blockformat.h"

namespace nanscope::ingest {

namespace {

struct Progress
{
    std::string_view unit;
    std::int64_t done = 0;
    std::int64_t total = 0; ///< 0 where it is not said
};

/// "[batch=3/10]" off the front.
std::optional<Progress> takeProgress(std::string_view& text)
{
    Progress progress;
    if (!takePrefix(text, "[") || text.find('=') == std::string_view::npos) {
        return std::nullopt;
    }
    progress.unit = takeUntil(text, "=");
    const auto done = takeInteger(text);
    const auto total = takePrefix(text, "/") ? takeInteger(text) : std::optional<std::int64_t>(0);
    if (!done || !total || !takePrefix(text, "]")) {
        return std::nullopt;
    }
    progress.done = *done;
    progress.total = *total;
    return progress;
}

class Composer : public BlockFormat
{
public:
    std::string_view name() const override { return "composer"; }

protected:
    std::optional<Head> headOf(std::string_view text) override
    {
        if (!text.starts_with('[') || !(text.ends_with("]:") || text.ends_with(']'))) {
            return std::nullopt;
        }
        auto progress = takeProgress(text);
        std::int64_t epoch = 1;
        if (progress && progress->unit == "epoch" && progress->total == 0) {
            epoch = progress->done;
            progress = takeProgress(text);
        }
        const bool ended = text.empty() || text == ":";
        return progress && ended && epoch > 0 ? headAt(epoch, *progress) : std::nullopt;
    }

    std::optional<Value> valueOf(std::string_view text) const override
    {
        if (!text.starts_with('\t') && !text.starts_with(' ')) {
            return std::nullopt;
        }
        text = trimmed(text);
        if (!takePrefix(text, "Train ") && !takePrefix(text, "Eval ")) {
            return std::nullopt;
        }
        const auto colon = text.rfind(": ");
        const auto number = colon != std::string_view::npos ? parseNumber(text.substr(colon + 2)) : std::nullopt;
        return number ? std::optional(Value {nameOf(text.substr(0, colon)), *number}) : std::nullopt;
    }

private:
    /// Durations in epochs count batches anew in each; those in tokens or samples name no batch at all.
    static std::optional<Head> headAt(std::int64_t epoch, const Progress& progress)
    {
        constexpr std::int64_t largest = std::int64_t {1} << 31;
        if (progress.unit == "batch" && epoch < largest && progress.total < largest) {
            return Head {(epoch - 1) * progress.total + progress.done, epoch > 1 && progress.total == 0};
        }
        const bool other = progress.unit == "token" || progress.unit == "sample";
        return other ? std::optional(Head {progress.done, true}) : std::nullopt;
    }

    static std::string_view nameOf(std::string_view key)
    {
        return key.starts_with("lr-") && key.ends_with("/group0") ? "lr" : key;
    }
};

} // namespace

FormatFile composerFormat()
{
    return formatFile<Composer>(140);
}

} // namespace nanscope::ingest
