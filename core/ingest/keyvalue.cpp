// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
// Lines of a home-made training loop: "step:10, loss:5.45", "Step 10 | loss=2.31 grad_norm=0.4". Taken only where a
// number stands behind a step's name at the start of the line and another behind a name that is known, so that prose,
// source code and configuration are left alone.
#include <algorithm>
#include <array>

#include "core/ingest/aliases.h"
#include "core/ingest/lineformat.h"

namespace nanscope {

namespace {

constexpr std::size_t mostFields = 32;

struct Field
{
    std::string_view key;
    std::string_view value;
};

bool isKeyCharacter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/';
}

/// The word that ends here.
std::string_view keyBefore(std::string_view text)
{
    text = trimmed(text);
    auto begin = text.size();
    while (begin > 0 && isKeyCharacter(text[begin - 1])) {
        --begin;
    }
    return text.substr(begin);
}

std::optional<Field> takeField(std::string_view& text)
{
    const auto at = text.find_first_of("=:");
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    Field field;
    field.key = keyBefore(text.substr(0, at));
    text.remove_prefix(at + 1);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    field.value = text.substr(0, std::min(text.find_first_of(" ,;|\t"), text.size()));
    text.remove_prefix(field.value.size());
    return field;
}

/// "Step 10: ..", "step=10 ..", "step:10, ..": the step, which has to come first.
std::optional<std::int64_t> takeStep(std::string_view& text)
{
    text = trimmed(text);
    takePrefix(text, "[");
    const auto* const end = std::find_if_not(text.begin(), text.end(), isKeyCharacter);
    const auto key = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    if (!stepPriority(key)) {
        return std::nullopt;
    }
    text.remove_prefix(key.size());
    text.remove_prefix(std::min(text.find_first_not_of(" =:"), text.size()));
    const auto step = takeInteger(text);
    if (step && takePrefix(text, "/")) {
        takeInteger(text);
    }
    const bool ends = text.empty() || std::string_view(" ,;|:]").find(text.front()) != std::string_view::npos;
    text.remove_prefix(step && ends && !text.empty() ? 1 : 0);
    return ends ? step : std::nullopt;
}

bool parse(const LogLine& line, LogBuilder& builder)
{
    auto text = line.text;
    const auto step = takeStep(text);
    if (!step) {
        return false;
    }
    std::array<std::pair<std::string_view, double>, mostFields> found;
    std::size_t count = 0;
    bool known = false;
    while (const auto field = takeField(text)) {
        const auto value = parseQuantity(field->value);
        if (value && !field->key.empty() && count < mostFields) {
            known = known || isCanonical(canonicalName(field->key));
            found[count++] = {field->key, *value};
        }
    }
    if (!known) {
        return false;
    }
    builder.startRow(line.rank, *step, line.number);
    for (std::size_t i = 0; i < count; ++i) {
        builder.value(found[i].first, found[i].second);
    }
    return true;
}

} // namespace

std::unique_ptr<LogFormat> makeKeyValue()
{
    return std::make_unique<LineFormat>("key-value", "", parse);
}

} // namespace nanscope
