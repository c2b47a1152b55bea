// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "app/nanscope/shared/userfacts.h"

#include <algorithm>
#include <iterator>

#include "app/nanscope/shared/words.h"
#include "core/base/text.h"
#include "core/base/try.h"
#include "core/diagnose/verdict/experiments.h"
#include "core/workflow/judgement.h"

namespace nanscope {

namespace {

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
    TRY(oneOf("experiment", tried.id, diagnose::experimentIds()));
    const auto outcome = equals == std::string::npos ? std::string() : word.substr(equals + 1, colon - equals - 1);
    tried.seen = everySeen[TRY(oneOf("outcome", outcome, outcomeNames()))];
    const bool counts = tried.seen == Seen::gone || tried.seen == Seen::moves;
    const auto number = numberIn<double>(colon == std::string::npos ? std::string() : word.substr(colon + 1));
    if (counts ? !number : colon != std::string::npos) {
        return failure(ErrorKind::usage,
            "--tried ends with the clean hours of gone, such as kernels-off=gone:6, with the number of swaps of moves, "
            "such as swap-gpus=moves:2, and with nothing of other outcomes",
            word);
    }
    tried.hours = tried.seen == Seen::gone ? number.value_or(0) : 0;
    tried.times = tried.seen == Seen::moves ? static_cast<int>(number.value_or(0)) : 1;
    return tried;
}

/// "FILE=3/200", "FILE=0/200,kernels-off" or "FILE=0/200,other-gpu".
Result<CallsAgain> calledOf(const std::string& word)
{
    const auto equals = word.rfind('=');
    const auto slash = word.find('/', equals == std::string::npos ? word.size() : equals);
    if (equals == std::string::npos || slash == std::string::npos) {
        return failure(ErrorKind::usage, "--called takes a capture, failures and calls, such as FILE.pt=3/200", word);
    }
    const auto comma = word.find(',', slash);
    const auto end = comma == std::string::npos ? word.size() : comma;
    const auto failed = numberIn<std::int64_t>(word.substr(equals + 1, slash - equals - 1));
    const auto calls = numberIn<std::int64_t>(word.substr(slash + 1, end - slash - 1));
    if (!failed || !calls) {
        return failure(ErrorKind::usage, "--called takes a capture, failures and calls, such as FILE.pt=3/200", word);
    }
    CallsAgain called {word.substr(0, equals), *failed, *calls};
    const auto change = comma == std::string::npos ? std::string() : word.substr(comma + 1);
    called.sameGpu = change != "other-gpu";
    called.experiment = called.sameGpu ? change : std::string();
    return called;
}

bool sameSetting(const CallsAgain& a, const CallsAgain& b)
{
    return a.capture == b.capture && a.sameGpu == b.sameGpu && a.experiment == b.experiment;
}

void put(std::vector<CallsAgain>& list, const CallsAgain& called)
{
    std::erase_if(list, [&](const CallsAgain& other) { return sameSetting(other, called); });
    list.push_back(called);
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

/// Each call under the name that the run gives its capture.
Result<Observations> ofCaptures(const RunData& run, Observations said)
{
    std::vector<CallsAgain> called;
    for (auto& one : said.called) {
        one.capture = TRY(captureNamed(run, one.capture))->file;
        put(called, one);
    }
    said.called = std::move(called);
    return said;
}

} // namespace

void addObservedOptions(Options& options, ObservedWords& words)
{
    options.add("--failed", words.failed, "How often it fails, as FAILURES/HOURS, such as 3/4.2");
    options
        .add("--tried", words.tried,
            "An experiment and its outcome, such as kernels-off=gone:6 (clean hours) or swap-gpus=moves:2 (swaps); may "
            "be repeated")
        .oneEach();
    options
        .add("--called", words.called,
            "The captured function called again with the captured input, such as FILE.pt=3/200 (failures/calls); "
            "FILE.pt=0/200,other-gpu on another GPU; FILE.pt=0/200,kernels-off with what an experiment changes")
        .oneEach();
}

Result<Observations> parseObserved(const ObservedWords& words)
{
    Observations observed;
    if (!words.failed.empty()) {
        observed.rate = TRY(rateOf(words.failed));
    }
    for (const auto& word : words.tried) {
        put(observed.tried, TRY(triedOf(word)));
    }
    for (const auto& word : words.called) {
        put(observed.called, TRY(calledOf(word)));
    }
    TRY(diagnose::check(observed));
    return observed;
}

workflow::Access accessFor(const ObservedWords& words, const std::vector<std::string>& variantFiles)
{
    const bool said = !words.failed.empty() || !words.tried.empty() || !words.called.empty();
    return said || !variantFiles.empty() ? workflow::Access::store : workflow::Access::read;
}

Result<Observations> observedOf(Source& source, const Observations& words)
{
    auto said = TRY(ofCaptures(source.run, words));
    if (!source.session) {
        return said;
    }
    auto observed = TRY(workflow::storedObservations(*source.session));
    const bool news = said.rate || !said.tried.empty() || !said.called.empty();
    observed.rate = said.rate ? said.rate : observed.rate;
    for (const auto& tried : said.tried) {
        put(observed.tried, tried);
    }
    for (const auto& called : said.called) {
        put(observed.called, called);
    }
    if (news && source.writable) {
        TRY(workflow::storeObservations(*source.session, observed));
    }
    return observed;
}

void addUserFileOptions(Options& options, workflow::UserFiles& files)
{
    options.add("--env", files.environment,
        "What `nanscope env --json` wrote in the training environment, where it does not lie among the inputs");
    options
        .add("--advisories", files.advisories,
            "More published problems of packages to look for (docs/advisories.md); may be repeated")
        .oneEach();
    options.add("--params", files.parameters,
        "Names and shapes of the model's parameters: .safetensors, its index, JSON, or lines NAME [512, 1408]");
}

void addCardOptions(Options& options, diagnose::FindingChoices& given)
{
    options
        .add("--spike-rule", given.spikeRule,
            "Whose rule calls a loss a spike: llm-foundry (default), megatron, olmo, lightning, entrenar or zclip")
        .shownAs("NAME");
    options
        .add("--silence", given.silenced, "Cards you do not want to hear of, such as P13,log-interval; may be repeated")
        .shownAs("ID,...")
        .oneEach();
}

Result<diagnose::FindingChoices> chosen(const diagnose::FindingChoices& given)
{
    diagnose::FindingChoices choices {{}, given.spikeRule};
    for (const auto& word : given.silenced) {
        std::ranges::move(listOf(word), std::back_inserter(choices.silenced));
    }
    return diagnose::checked(std::move(choices));
}

} // namespace nanscope
