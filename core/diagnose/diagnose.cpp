// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/diagnose/diagnose.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/diagnose/damage.h"
#include "core/diagnose/envelope.h"
#include "core/diagnose/evidence.h"
#include "core/diagnose/findings.h"
#include "core/diagnose/identify.h"
#include "core/diagnose/rules.h"
#include "core/diagnose/steplink.h"

namespace nanscope {

namespace {

Result<Member> parseRan(const std::string& text)
{
    const auto colon = text.find(':');
    const auto variant = findVariant(text.substr(0, colon));
    if (!variant) {
        return tl::make_unexpected(variant.error());
    }
    Member member {*variant, (*variant)->precision};
    if (colon != std::string::npos) {
        const auto precision = parsePrecision(text.substr(colon + 1));
        if (!precision) {
            return failure(ErrorKind::usage,
                fmt::format("there is no precision '{}'; use fp64, fp32, tf32, bf16 or fp16", text.substr(colon + 1)));
        }
        member.precision = *precision;
    }
    return member;
}

Result<std::vector<Member>> parseAllRan(const DiagnoseOptions& options)
{
    std::vector<Member> members;
    for (const auto& text : options.ran) {
        auto member = parseRan(text);
        if (!member) {
            return tl::make_unexpected(member.error());
        }
        members.push_back(*member);
    }
    return members;
}

std::vector<Member> membersNamed(const std::vector<std::string>& names)
{
    std::vector<Member> members;
    for (const auto& name : names) {
        if (const auto variant = findVariant(name)) {
            members.push_back({*variant, (*variant)->precision});
        }
    }
    return members;
}

std::vector<Member> allMembers()
{
    std::vector<Member> members;
    for (const auto& variant : variants()) {
        members.push_back({&variant, variant.precision});
    }
    return members;
}

std::vector<std::string> namesOf(const std::vector<Member>& members)
{
    std::vector<std::string> names;
    for (const auto& member : members) {
        names.emplace_back(member.variant->name);
    }
    return names;
}

/// Judges one capture; holds what stays the same over its matrices.
class Judge
{
public:
    Judge(const RunData& run, const std::vector<Member>& given, Device& device, const JobContext& job)
        : m_run(run)
        , m_given(given)
        , m_device(device)
        , m_job(job)
    { }

    /// `done`: how many captures were judged before, for the progress.
    Result<void> judge(CaptureVerdict& verdict, const Capture& stored, std::size_t done)
    {
        m_done = static_cast<std::int64_t>(done);
        auto file = openCapture(stored.path);
        if (!file) {
            return tl::make_unexpected(file.error());
        }
        auto patterns = damagePatterns(*file);
        if (!patterns) {
            return tl::make_unexpected(patterns.error());
        }
        bool settled = false;
        for (const auto batch : interesting(verdict.role, *patterns, stored)) {
            auto element = loadElement(*file, batch);
            if (!element) {
                return tl::make_unexpected(element.error());
            }
            auto pattern = (*patterns)[static_cast<std::size_t>(batch)];
            if (auto judged = judgeElement(verdict, stored, *element, std::move(pattern), settled); !judged) {
                return judged;
            }
        }
        return {};
    }

private:
    // The matrices of a batch worth replaying: damaged ones with a finite input, or all of a finite capture.
    static std::vector<std::int64_t> interesting(
        Role role, const std::vector<DamagePattern>& patterns, const Capture& capture)
    {
        constexpr std::size_t most = 4;
        std::vector<std::int64_t> chosen;
        for (std::size_t i = 0; i < patterns.size() && chosen.size() < most; ++i) {
            const auto& in = capture.input.batches[i];
            const bool zeroBroken = in.allZero() && !capture.output->batches[i].allZero();
            const bool wanted = role == Role::healthy || patterns[i].count > 0 || zeroBroken;
            if (wanted && in.finite()) {
                chosen.push_back(static_cast<std::int64_t>(i));
            }
        }
        return chosen;
    }

    Result<void> judgeElement(
        CaptureVerdict& verdict, const Capture& stored, const Element& element, DamagePattern pattern, bool& settled)
    {
        Case c;
        c.element = &element;
        c.damage = std::move(pattern);
        auto fit = identifyElement(element, stored.epsilon, m_device, m_job.cancel);
        if (!fit) {
            return tl::make_unexpected(fit.error());
        }
        c.identification = std::move(fit->identification);
        c.compared = fit->compared;
        c.localDamage = fit->localDamage;
        choosePlausible(c, stored);
        if (auto done = measure(c, stored); !done) {
            return done;
        }
        const bool finite = element.outputScan.finite();
        auto judgement = finite ? judgeFinite(c) : judgeDamage(c);
        if (settled && !outranks(judgement, verdict)) {
            return {};
        }
        settled = true;
        adopt(verdict, c, std::move(judgement));
        return {};
    }

    // Proof in one matrix of a batch outweighs an open question in another.
    static bool outranks(const Judgement& judgement, const CaptureVerdict& verdict)
    {
        return verdict.blame == Blame::undecided && judgement.blame != Blame::undecided;
    }

    void choosePlausible(Case& c, const Capture& stored) const
    {
        auto& id = c.identification;
        if (stored.variant && findVariant(*stored.variant)) {
            id.how = IdentifiedBy::sidecar;
            id.names = {*stored.variant};
            c.members = membersNamed(id.names);
        } else if (!m_given.empty()) {
            id.how = IdentifiedBy::given;
            id.names = namesOf(m_given);
            c.members = m_given;
        } else if (id.how == IdentifiedBy::fit) {
            c.members = membersNamed(id.names);
            keepPublished(id.names);
        } else {
            id.how = IdentifiedBy::unknown;
            c.members = allMembers();
            id.names = namesOf(c.members);
        }
        if (id.how == IdentifiedBy::sidecar || id.how == IdentifiedBy::given) {
            id.matchesNone = false;
            refit(id);
        }
    }

    // Fit and runner-up of what was said to have run, which need not be what fits best.
    static void refit(Identification& id)
    {
        id.fit.reset();
        id.runnerUp.reset();
        id.runnerUpName.clear();
        for (const auto& [variant, fit] : id.all) {
            const bool named = std::find(id.names.begin(), id.names.end(), variant) != id.names.end();
            auto& slot = named ? id.fit : id.runnerUp;
            if (!slot) {
                slot = fit;
                id.runnerUpName = named ? id.runnerUpName : variant;
            }
        }
    }

    // Forms that nobody recommends fit whenever their published sibling does. They are replayed all the same, and
    // count if they explain the dump.
    static void keepPublished(std::vector<std::string>& names)
    {
        const auto unpublished = [](const std::string& name) { return !(*findVariant(name))->published; };
        if (!std::all_of(names.begin(), names.end(), unpublished)) {
            std::erase_if(names, unpublished);
        }
    }

    // A zero matrix that ends all NaN is 0 / 0 where epsilon rounds to zero, which is a matter of the format the norm
    // was taken in; a dump does not tell that format.
    static void addHalfPrecision(std::vector<Member>& members, const Identification& id)
    {
        if (id.how == IdentifiedBy::given) {
            return;
        }
        const auto own = members;
        for (const auto& member : own) {
            if (member.precision != Precision::fp16) {
                members.push_back({member.variant, Precision::fp16});
            }
        }
    }

    static bool counts(const MemberResult& result, const Identification& id)
    {
        const bool named = std::find(id.names.begin(), id.names.end(), result.variant) != id.names.end();
        return named || result.reproducing > 0;
    }

    Result<void> measure(Case& c, const Capture& stored)
    {
        const auto& element = *c.element;
        if (element.outputScan.finite() && !element.inputScan.allZero()) {
            return measureWorstTile(c, stored);
        }
        if (element.inputScan.allZero() && c.damage.name == "whole element") {
            addHalfPrecision(c.members, c.identification);
        }
        std::vector<Member> kept;
        for (const auto& member : c.members) {
            reportMember(member, stored);
            auto result = replayMember(member, element, stored.epsilon, m_device, m_job.cancel);
            if (!result) {
                return tl::make_unexpected(result.error());
            }
            if (counts(*result, c.identification)) {
                kept.push_back(member);
                c.results.push_back(std::move(*result));
            }
        }
        c.members = std::move(kept);
        return {};
    }

    void reportMember(const Member& member, const Capture& stored) const
    {
        Progress progress;
        progress.job = "diagnose";
        progress.phase = "judge";
        progress.done = m_done;
        progress.total = static_cast<std::int64_t>(m_run.captures.size());
        progress.unit = "captures";
        progress.message = fmt::format("{} in {}, {}", member.variant->name, name(member.precision), stored.file);
        m_job.progress(progress);
    }

    Result<void> measureWorstTile(Case& c, const Capture& stored)
    {
        if (c.members.empty() || !c.localDamage) {
            return {};
        }
        const auto& member = c.members.front();
        ReplayOptions options;
        options.precision = member.precision;
        options.rounding.lowering = member.variant->lowering;
        options.epsilon = stored.epsilon;
        options.keepOutput = true;
        const auto replayed =
            replay(*member.variant, c.element->shape, c.element->input, m_device, options, m_job.cancel);
        if (!replayed) {
            return tl::make_unexpected(replayed.error());
        }
        c.worstTileError = worstTile(*c.element, replayed->outputs[0], c.worstRow, c.worstCol);
        return {};
    }

    void adopt(CaptureVerdict& verdict, const Case& c, Judgement judgement) const
    {
        const auto old = std::move(verdict);
        verdict = {};
        verdict.captureId = old.captureId;
        verdict.capture = old.capture;
        verdict.role = old.role;
        verdict.rank = old.rank;
        verdict.step = old.step;
        verdict.stepSource = old.stepSource;
        verdict.blame = judgement.blame;
        verdict.marginal = judgement.marginal;
        verdict.kind = std::move(judgement.kind);
        verdict.summary = std::move(judgement.summary);
        verdict.question = std::move(judgement.question);
        verdict.variant = c.identification;
        verdict.members = c.results;
        verdict.damage = c.damage;
        const bool healthy = verdict.role == Role::healthy && verdict.blame == Blame::undecided;
        if (!healthy) {
            argue(verdict, c, m_run);
            verdict.next = nextExperiments(verdict);
        }
        if (verdict.role == Role::healthy && verdict.blame == Blame::implementation) {
            verdict.role = Role::birth;
        }
    }

    const RunData& m_run;
    const std::vector<Member>& m_given;
    Device& m_device;
    const JobContext& m_job;
    std::int64_t m_done = 0;
};

// Xid, ECC or SDC lines meet the bar for naming the machine; nothing in a single capture does.
void letMachineSpeak(CaptureVerdict& verdict, const RunData& run)
{
    if (verdict.blame != Blame::implementation) {
        return;
    }
    const auto event =
        std::find_if(run.events.begin(), run.events.end(), [](const Event& e) { return e.kind == EventKind::machine; });
    if (event == run.events.end()) {
        return;
    }
    verdict.blame = Blame::machine;
    verdict.kind = "hardware error in the log";
    verdict.speaksFor.insert(
        verdict.speaksFor.begin(), {event->text, fmt::format("{}:{}", event->source, event->line)});
}

Triage count(const std::vector<CaptureVerdict>& verdicts)
{
    Triage triage;
    triage.captures = static_cast<int>(verdicts.size());
    for (const auto& v : verdicts) {
        triage.births += v.role == Role::birth ? 1 : 0;
        triage.upstream += v.role == Role::upstream ? 1 : 0;
        triage.downstream += v.role == Role::downstream ? 1 : 0;
        triage.padding += v.role == Role::padding ? 1 : 0;
    }
    return triage;
}

std::string countText(int count, std::string_view noun)
{
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string place(const CaptureVerdict& v)
{
    return v.rank ? fmt::format("rank {}, {}", *v.rank, stepText(v.step)) : stepText(v.step);
}

std::string headlineOf(const Diagnosis& d)
{
    const auto& t = d.triage;
    if (t.captures == 0) {
        return "no captures";
    }
    auto text = countText(t.captures, "capture") + ", " + countText(t.births, "birth");
    const auto first = std::find_if(d.captures.begin(), d.captures.end(),
        [](const CaptureVerdict& v) { return v.role == Role::birth || v.role == Role::upstream; });
    if (t.births == 0 && t.upstream > 0) {
        text += fmt::format(", {} upstream", t.upstream);
    }
    if (first != d.captures.end()) {
        text += ": " + place(*first);
    }
    if (t.births > 1) {
        text += fmt::format(" and {} more", t.births - 1);
    }
    return text;
}

const Capture* captureNamed(const RunData& run, const CaptureVerdict& verdict)
{
    const auto found = std::find_if(run.captures.begin(), run.captures.end(),
        [&](const Capture& c) { return c.file == verdict.capture && c.id == verdict.captureId; });
    return found == run.captures.end() ? nullptr : &*found;
}

bool needsReplay(const CaptureVerdict& verdict, const Capture& capture)
{
    const bool judged = verdict.role == Role::birth || verdict.role == Role::padding || verdict.role == Role::healthy;
    return judged && capture.output && capture.output->scanned();
}

void reportProgress(const JobContext& job, std::size_t done, std::size_t total, const std::string& capture)
{
    Progress progress;
    progress.job = "diagnose";
    progress.phase = "judge";
    progress.done = static_cast<std::int64_t>(done);
    progress.total = static_cast<std::int64_t>(total);
    progress.unit = "captures";
    progress.message = capture;
    job.progress(progress);
}

void fillDamage(CaptureVerdict& verdict, const Capture& capture)
{
    if (auto file = openCapture(capture.path)) {
        if (auto patterns = damagePatterns(*file)) {
            const auto damaged =
                std::find_if(patterns->begin(), patterns->end(), [](const DamagePattern& p) { return p.count > 0; });
            if (damaged != patterns->end()) {
                verdict.damage = std::move(*damaged);
            }
        }
    }
}

} // namespace

Result<Diagnosis> diagnose(const RunData& run, const DiagnoseOptions& options, const JobContext& job)
{
    const auto given = parseAllRan(options);
    if (!given) {
        return tl::make_unexpected(given.error());
    }
    Diagnosis diagnosis;
    diagnosis.run = run.name;
    diagnosis.captures = triage(run);
    const auto device = makeEigenDevice();
    Judge judge(run, *given, *device, job);
    for (std::size_t i = 0; i < diagnosis.captures.size(); ++i) {
        auto& verdict = diagnosis.captures[i];
        reportProgress(job, i, diagnosis.captures.size(), verdict.capture);
        if (job.cancel.cancelled()) {
            return failure(ErrorKind::cancelled, "the diagnosis was cancelled");
        }
        const auto* capture = captureNamed(run, verdict);
        if (capture == nullptr) {
            continue;
        }
        if (!needsReplay(verdict, *capture)) {
            fillDamage(verdict, *capture);
            verdict.next = verdict.role == Role::upstream ? nextExperiments(verdict) : verdict.next;
            continue;
        }
        if (auto done = judge.judge(verdict, *capture, i); !done) {
            if (done.error().kind == ErrorKind::cancelled) {
                return tl::make_unexpected(done.error());
            }
            verdict.summary = "could not be judged: " + sentence(done.error());
            continue;
        }
        letMachineSpeak(verdict, run);
    }
    diagnosis.triage = count(diagnosis.captures);
    diagnosis.headline = headlineOf(diagnosis);
    diagnosis.findings = findingsOf(run);
    return diagnosis;
}

} // namespace nanscope
