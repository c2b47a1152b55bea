// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/observed.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/nanscope/words.h"
#include "core/diagnose/experiments.h"
#include "core/report/report.h"

namespace nanscope {

namespace {

template <class Number>
std::optional<Number> numberIn(std::string_view text)
{
    Number number {};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Result<FailureRate> rateOf(const std::string& word)
{
    const auto slash = word.find('/');
    if (slash != std::string::npos) {
        const auto failures = numberIn<int>(word.substr(0, slash));
        const auto hours = numberIn<double>(word.substr(slash + 1));
        if (failures && hours) {
            return FailureRate {*failures, *hours};
        }
    }
    return failure(ErrorKind::usage, "--failed takes failures and hours, such as 3/4.2", word);
}

std::vector<std::string_view> outcomeNames()
{
    std::vector<std::string_view> names;
    std::transform(
        std::begin(everySeen), std::end(everySeen), std::back_inserter(names), [](Seen s) { return name(s); });
    return names;
}

Result<TriedExperiment> triedOf(const std::string& word)
{
    const auto equals = word.find('=');
    const auto colon = word.find(':', equals == std::string::npos ? word.size() : equals);
    TriedExperiment tried;
    tried.id = word.substr(0, equals);
    if (auto known = oneOf("experiment", tried.id, experimentIds()); !known) {
        return tl::make_unexpected(known.error());
    }
    const auto outcome = equals == std::string::npos ? std::string() : word.substr(equals + 1, colon - equals - 1);
    const auto place = oneOf("outcome", outcome, outcomeNames());
    if (!place) {
        return tl::make_unexpected(place.error());
    }
    tried.seen = everySeen[*place];
    if (colon == std::string::npos) {
        return tried;
    }
    const auto number = numberIn<double>(word.substr(colon + 1));
    if (!number) {
        return failure(ErrorKind::usage, "an outcome ends with hours or a count, such as kernels-off=gone:6", word);
    }
    tried.hours = tried.seen == Seen::gone ? *number : 0;
    tried.times = tried.seen == Seen::moves ? static_cast<int>(*number) : 1;
    return tried;
}

void put(std::vector<TriedExperiment>& list, const TriedExperiment& tried)
{
    const auto same =
        std::find_if(list.begin(), list.end(), [&](const TriedExperiment& other) { return other.id == tried.id; });
    if (same == list.end()) {
        list.push_back(tried);
    } else {
        *same = tried;
    }
}

} // namespace

void addObservedOptions(CLI::App& options, ObservedWords& words)
{
    options.add_option("--failed", words.failed, "How often it fails, as FAILURES/HOURS, such as 3/4.2");
    options
        .add_option("--tried", words.tried,
            "An experiment and its outcome, such as kernels-off=gone:6 (clean hours) or swap-gpus=moves:2 (swaps); may "
            "be "
            "repeated")
        ->allow_extra_args(false);
}

Result<Observations> parseObserved(const ObservedWords& words)
{
    Observations observed;
    if (!words.failed.empty()) {
        auto rate = rateOf(words.failed);
        if (!rate) {
            return tl::make_unexpected(rate.error());
        }
        observed.rate = *rate;
    }
    for (const auto& word : words.tried) {
        auto tried = triedOf(word);
        if (!tried) {
            return tl::make_unexpected(tried.error());
        }
        put(observed.tried, *tried);
    }
    if (auto can = check(observed); !can) {
        return tl::make_unexpected(can.error());
    }
    return observed;
}

Result<Observations> observedOf(Source& source, const Observations& said)
{
    if (!source.session) {
        return said;
    }
    const auto stored = source.session->observations();
    if (!stored) {
        return tl::make_unexpected(stored.error());
    }
    auto observed = observationsFromJson(*stored);
    if (!check(observed)) {
        observed = {};
    }
    const bool news = said.rate || !said.tried.empty();
    observed.rate = said.rate ? said.rate : observed.rate;
    for (const auto& tried : said.tried) {
        put(observed.tried, tried);
    }
    if (news && source.writable) {
        if (auto kept = source.session->setObservations(jsonText(toJson(observed))); !kept) {
            return tl::make_unexpected(kept.error());
        }
    }
    return observed;
}

} // namespace nanscope
