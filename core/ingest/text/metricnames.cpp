// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/text/metricnames.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"

namespace nanscope::ingest {

namespace {

using Alias = std::pair<std::string_view, std::string_view>;

constexpr std::array aliases {
    Alias {"loss", "loss"},
    Alias {"train_loss", "loss"},
    Alias {"train/loss", "loss"},
    Alias {"train loss", "loss"},
    Alias {"training loss", "loss"},
    Alias {"training_loss", "loss"},
    Alias {"train/total_loss", "loss"},
    Alias {"loss/train/total", "loss"},
    Alias {"lm loss", "loss"},
    Alias {"lm-loss", "loss"},
    Alias {"lm_loss", "loss"},
    Alias {"loss/out", "loss"},
    Alias {"loss_metrics/global_avg_loss", "loss"},
    Alias {"train/crossentropyloss", "loss"},
    Alias {"train/ce loss", "loss"},
    Alias {"train_loss_step", "loss"},
    Alias {"val_loss", "val_loss"},
    Alias {"val/loss", "val_loss"},
    Alias {"val loss", "val_loss"},
    Alias {"eval loss", "val_loss"},
    Alias {"validation loss", "val_loss"},
    Alias {"eval_loss", "val_loss"},
    Alias {"eval/loss", "val_loss"},
    Alias {"valid_loss", "val_loss"},
    Alias {"validation_loss", "val_loss"},
    Alias {"validation/loss", "val_loss"},
    Alias {"metrics/eval/languagecrossentropy", "val_loss"},
    Alias {"grad_norm", "grad_norm"},
    Alias {"grad norm", "grad_norm"},
    Alias {"gnorm", "grad_norm"},
    Alias {"grad", "grad_norm"},
    Alias {"norm", "grad_norm"},
    Alias {"gradient_norm", "grad_norm"},
    Alias {"optim/total_grad_norm", "grad_norm"},
    Alias {"optim/total grad norm", "grad_norm"},
    Alias {"optim/grad_norm", "grad_norm"},
    Alias {"l2_norm/grad/global", "grad_norm"},
    Alias {"train/grad_norm", "grad_norm"},
    Alias {"lr", "lr"},
    Alias {"learning_rate", "lr"},
    Alias {"learning rate", "lr"},
    Alias {"optim/lr", "lr"},
    Alias {"train/lr", "lr"},
    Alias {"train/learning_rate", "lr"},
    Alias {"loss_scale", "loss_scale"},
    Alias {"loss scale", "loss_scale"},
    Alias {"amp_scale", "loss_scale"},
    Alias {"skipped", "skipped_steps"},
    Alias {"skipped_steps", "skipped_steps"},
    Alias {"train/skipped_steps", "skipped_steps"},
    Alias {"train/skipped", "skipped_steps"},
    Alias {"num_skipped", "skipped_steps"},
    Alias {"tok/s", "tokens_per_second"},
    Alias {"tps", "tokens_per_second"},
    Alias {"tok/sec", "tokens_per_second"},
    Alias {"tokens_per_sec", "tokens_per_second"},
    Alias {"tokens_per_second", "tokens_per_second"},
    Alias {"train/tokens_per_sec", "tokens_per_second"},
    Alias {"wps", "tokens_per_second"},
    Alias {"speed/wps", "tokens_per_second"},
    Alias {"throughput(tps)", "tokens_per_second"},
    Alias {"throughput/device/tokens_per_sec", "tokens_per_second"},
    Alias {"throughput/device/tokens_per_second", "tokens_per_second"},
    Alias {"throughput/device/tps", "tokens_per_second"},
    Alias {"step_time", "step_time_s"},
    Alias {"step_time_s", "step_time_s"},
    Alias {"step_time_sec", "step_time_s"},
    Alias {"train/step_time_sec", "step_time_s"},
    Alias {"speed/curr_iter_time", "step_time_s"},
};

constexpr std::array<std::string_view, 15> steps {"step", "global_step", "trainer/global_step", "train/global_step",
    "iter", "iteration", "current_steps", "it", "_step", "update", "updates", "batch", "batches", "num_updates", "n"};

} // namespace

std::string canonicalName(std::string_view raw)
{
    const auto key = lowered(raw);
    const auto* found = std::find_if(aliases.begin(), aliases.end(), [&](const Alias& a) { return a.first == key; });
    return std::string(found != aliases.end() ? found->second : raw);
}

/// A table with a column of things that were skipped is no log for that alone.
bool isCanonical(std::string_view name)
{
    return name != "skipped_steps"
        && std::any_of(aliases.begin(), aliases.end(), [&](const Alias& a) { return a.second == name; });
}

std::optional<int> stepPriority(std::string_view raw)
{
    const auto key = lowered(raw);
    const auto* found = std::find(steps.begin(), steps.end(), key);
    return found != steps.end() ? std::optional(static_cast<int>(found - steps.begin()) + 1) : std::nullopt;
}

bool isRankName(std::string_view raw)
{
    const auto key = lowered(raw);
    return key == "rank" || key == "global_rank";
}

} // namespace nanscope::ingest
