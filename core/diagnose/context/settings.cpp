// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/context/settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/diagnose/recovery/losshistory.h"

namespace nanscope::diagnose::cards {

namespace {

/// Without quotes and "torch.", in small letters.
std::string wordOf(const Setting& setting)
{
    auto word = lowered(setting.value);
    std::erase_if(word, [](char c) { return c == '\'' || c == '"' || c == ' '; });
    return word.starts_with("torch.") ? word.substr(6) : word;
}

bool isOneOf(std::string_view word, Names names)
{
    return std::find(names.begin(), names.end(), word) != names.end();
}

bool isFormatName(std::string_view key)
{
    return isOneOf(key,
        {"dtype", "torch_dtype", "param_dtype", "params_dtype", "compute_dtype", "amp_dtype", "autocast_dtype",
            "precision", "mixed_precision", "mixed_precision_param", "ptdtype"});
}

/// What the value of a name for formats says.
void readFormat(const Setting& setting, Formats& formats)
{
    const auto word = wordOf(setting);
    if (word.find("bf16") != std::string::npos || word.find("bfloat16") != std::string::npos) {
        formats.bf16 = &setting;
    } else if (word.find("fp8") != std::string::npos || word.find("float8") != std::string::npos) {
        formats.fp8 = &setting;
    } else if (word.find("fp16") != std::string::npos || word.find("float16") != std::string::npos
        || isOneOf(word, {"half", "16", "16_mixed"})) {
        formats.fp16 = &setting;
    } else if (word.find("fp32") != std::string::npos || word.find("float32") != std::string::npos
        || isOneOf(word, {"float", "32", "32_true", "no"})) {
        formats.fp32 = &setting;
    }
}

void readSwitch(const Setting& setting, const std::string& key, Formats& formats)
{
    const auto on = truthOf(setting);
    const auto word = wordOf(setting);
    if (key == "fp8" && on.value_or(!isOneOf(word, {"none", "null", ""}))) {
        formats.fp8 = &setting;
    } else if (on == true && isOneOf(key, {"bf16", "bfloat16", "bf16_enabled", "bfloat16_enabled"})) {
        formats.bf16 = &setting;
    } else if (on == true && isOneOf(key, {"fp16", "fp16_enabled"})) {
        formats.fp16 = &setting;
    }
}

} // namespace

std::string lowered(std::string_view text)
{
    auto out = nanscope::lowered(text);
    std::ranges::replace(out, '-', '_');
    return out;
}

std::string keyOf(const Setting& setting)
{
    auto name = lowered(setting.name);
    auto dot = name.rfind('.');
    if (dot != std::string::npos && name.substr(dot + 1) == "enabled") {
        name.resize(dot);
        dot = name.rfind('.');
    }
    name = dot == std::string::npos ? name : name.substr(dot + 1);
    return name.substr(std::min(name.find_first_not_of('_'), name.size()));
}

bool hasSettings(const RunData& run)
{
    return std::ranges::any_of(run.settings, [](const Setting& setting) { return setting.name != stepBaseName; });
}

std::string missingSetting(const RunData& run, std::string_view what)
{
    return !hasSettings(run) ? "no configuration is logged" : fmt::format("no {} in the configuration", what);
}

std::vector<const Setting*> settingsNamed(const RunData& run, Names names)
{
    std::vector<const Setting*> found;
    for (const auto& setting : run.settings) {
        if (isOneOf(keyOf(setting), names)) {
            found.push_back(&setting);
        }
    }
    return found;
}

const Setting* settingNamed(const RunData& run, Names names)
{
    const auto all = settingsNamed(run, names);
    const auto found = std::find_if(all.begin(), all.end(), [](const Setting* s) {
        return !isOneOf(wordOf(*s), {"", "none", "null"});
    });
    return found == all.end() ? nullptr : *found;
}

std::optional<bool> truthOf(const Setting& setting)
{
    const auto word = wordOf(setting);
    if (isOneOf(word, {"true", "1", "yes", "on"})) {
        return true;
    }
    return isOneOf(word, {"false", "0", "no", "off"}) ? std::optional(false) : std::nullopt;
}

std::optional<double> numberOf(const Setting& setting)
{
    // "3e-4" has to keep its sign.
    auto word = setting.value;
    std::erase_if(word, [](char c) { return c == '\'' || c == '"' || c == ' '; });
    return numberIn<double>(word);
}

Formats formatsOf(const RunData& run)
{
    Formats formats;
    for (const auto& setting : run.settings) {
        const auto key = keyOf(setting);
        if (isFormatName(key)) {
            readFormat(setting, formats);
        } else {
            readSwitch(setting, key, formats);
        }
    }
    return formats;
}

} // namespace nanscope::diagnose::cards
