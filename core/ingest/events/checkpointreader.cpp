// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/events/checkpointreader.h"

#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/ingest/text/consoletext.h"

namespace nanscope::ingest {

namespace {

using enum CheckpointWord;
using enum CheckpointStep;

constexpr std::array checkpointTable {
    // KempnerForge commits at the next save or at the end, so this line may stand far behind the step it names.
    CheckpointLine {saved, R"(Checkpoint committed: (?P<path>.+) \(step=(?P<step>\d+)\))"},
    CheckpointLine {saved, R"(^Sync checkpoint saved: (?P<path>.+))"},
    CheckpointLine {removed, R"(^Removed old checkpoint: (?P<path>.+))"},
    CheckpointLine {loads, R"(^Loading checkpoint: (?P<path>.+))"},
    CheckpointLine {loaded, R"(^Resumed from step (?P<step>\d+), [\d,]+ tokens seen)"},

    // torchtitan. Where saving is asynchronous it says "staging", and earlier versions said "saving (or staging ..)".
    CheckpointLine {begins, R"(Saving the checkpoint\.$)", ofInterval},
    CheckpointLine {begins, R"(Saving a full checkpoint at last step, step (?P<step>\d+)\.)"},
    CheckpointLine {completes, R"(Finished saving the checkpoint in [\d.]+ seconds)"},
    CheckpointLine {completes, R"(Last step checkpoint completed in|- Training completed$)"},
    CheckpointLine {removed, R"(Checkpointer deleted (?P<path>.+) in [\d.]+ seconds)"},
    CheckpointLine {loads, R"(Loading the checkpoint from (?P<path>.+)\.$)"},
    CheckpointLine {loads, R"(Loading the checkpoint at step (?P<step>\d+)\.$)"},
    CheckpointLine {startsAt, R"(Training starts at step (?P<step>\d+))"},

    // Hugging Face Trainer
    CheckpointLine {saves, R"(Saving model checkpoint to (?P<path>.+))"},
    CheckpointLine {removed, R"(Deleting older checkpoint \[(?P<path>.+)\] due to)"},
    CheckpointLine {loads, R"(Loading model from (?P<path>.+)\.$)"},
    CheckpointLine {loaded, R"(Continuing training from global step (?P<step>\d+))"},

    // Megatron-LM, whose paths are those of the folder that holds all of them
    CheckpointLine {
        saved, R"(successfully saved checkpoint (?:at|from) iteration +(?P<step>\d+) to (?P<path>.+?)(?: \[ t .*)?$)"},
    CheckpointLine {removed, R"(successfully deleted checkpoint from iteration +(?P<step>\d+) at (?P<path>.+))"},
    CheckpointLine {
        loaded, R"(successfully loaded checkpoint from (?P<path>.+?)(?: \[ t .*\])? at iteration (?P<step>[1-9]\d*)$)"},

    // DeepSpeed
    CheckpointLine {saves, R"(\[Torch\] Checkpoint (?P<path>global_step\d+) is (?:about to be saved|begin to save)!)"},
    CheckpointLine {saved, R"(\[Torch\] Checkpoint (?P<path>global_step\d+) is ready now!)"},
    CheckpointLine {loaded, R"(\[Torch\] (?:End Load|Loaded) checkpoint from (?P<path>.+))"},

    // nanoGPT
    CheckpointLine {saves, R"(^saving checkpoint to (?P<path>.+))", ofRowAbove},

    // nanochat: every rank has a part of its own to save behind this line
    CheckpointLine {saves, R"(Saved model (?:parameters|file) to: (?P<path>.+))"},
    CheckpointLine {loaded, R"(^Resuming optimization from step (?P<step>\d+))"},

    // OLMo, OLMo-core
    CheckpointLine {saved, R"([Cc]heckpoint saved to (?P<path>.*/step\d+(?:-unsharded)?)$)"},
    CheckpointLine {begins, R"(Saving checkpoint for step (?P<step>\d+) to '(?P<path>[^']+)')"},
    CheckpointLine {completes, R"(\bCheckpoint saved$)"},
    CheckpointLine {saved, R"(Checkpoint for step (?P<step>\d+) saved successfully)"},
    CheckpointLine {removed, R"(Removing old checkpoint at '(?P<path>[^']+)')"},
    CheckpointLine {loads, R"(Loading checkpoint from '?(?P<path>[^']+)'?\.\.\.$)"},
    CheckpointLine {loaded, R"(Checkpoint successfully loaded$)"},

    // Lightning, Composer, fairseq, MaxText
    CheckpointLine {loaded, R"(Restored all states from the checkpoint at (?P<path>.+))"},
    CheckpointLine {loaded, R"(Trainer checkpoint loaded from (?P<path>.+))"},
    CheckpointLine {saved, R"(Saved checkpoint (?P<path>.+) \(epoch \d+ @ (?P<step>\d+) updates)"},
    CheckpointLine {loaded, R"(Loaded checkpoint (?P<path>.+) \(epoch \d+ @ (?P<step>\d+) updates)"},
    CheckpointLine {saved, R"(Saved a checkpoint at step (?P<step>\d+)\.)"},

    // lingua
    CheckpointLine {begins, R"(\bSaving to: (?P<path>.+))"},
    CheckpointLine {completes, R"(\bTrain state saved !$)"},
    CheckpointLine {removed, R"(\bRemoving folders: \{(?P<path>.+)\})"},
    CheckpointLine {loads, R"(\bLoading from: (?P<path>.+))"},
    CheckpointLine {loaded, R"(\bModel and optim reloaded$)"},

    // dion's train.py. Saving it only announces, and under one name for all steps.
    CheckpointLine {loads, R"(^Loading checkpoint from (?P<path>.+))"},
    CheckpointLine {loaded, R"(^Resuming from step (?P<step>\d+))"},

    // Scripts of one's own
    CheckpointLine {saved,
        R"((?:^|[\]:>|-] )[Ss]aved checkpoint (?:at |for )?\(?step[ =:]+(?P<step>\d+)\)?(?: (?:to|as) (?P<path>\S+))?)"
        R"((?: ?\(?(?:in )?[\d.]+ ?(?:s|sec|seconds)\)?)?[.!]?$)"},
    CheckpointLine {saves,
        R"((?:^|[\]:>|-] )[Ss]aving checkpoint (?:at |for )?\(?step[ =:]+(?P<step>\d+)\)?(?: (?:to|as) (?P<path>[^\s']+))?)"
        R"((?: ?\.+)?$)"},
    CheckpointLine {loaded,
        R"((?:^|[\]:>|-] )(?:[Rr]esum(?:ed|ing)|[Ll]oaded)(?: training| checkpoint| weights)? from (?P<path>[^\s']+\.(?:pt|pth|ckpt|safetensors)))"
        R"(,? (?:at |from |\()?step[ =:]*(?P<step>\d+)\)?[.!]?$)"},
};

} // namespace

std::span<const CheckpointLine> checkpointLines()
{
    return checkpointTable;
}

namespace {

constexpr std::size_t longestPath = 1000;
constexpr std::size_t mostPending = 4096;

std::string_view withoutEnd(std::string_view path)
{
    path = trimmed(path);
    while (path.ends_with('.') || (path.size() > 1 && path.ends_with('/'))) {
        path.remove_suffix(1);
    }
    return path;
}

template <class T>
void keep(std::map<int, T>& all, int key, T value)
{
    if (all.size() < mostPending || all.contains(key)) {
        all[key] = std::move(value);
    }
}

template <class T>
std::optional<T> takeOut(std::map<int, T>& all, int key)
{
    const auto found = all.find(key);
    if (found == all.end()) {
        return std::nullopt;
    }
    auto value = std::move(found->second);
    all.erase(found);
    return value;
}

} // namespace

std::optional<std::int64_t> stepOfPath(std::string_view path)
{
    static const RE2 inName(R"((?:.*[_.=-])?(?:global_step|step[-_=]?|checkpoint[-_]|iter_|ba|model_)(\d+))"
                            R"((?:-unsharded)?(?:-rank\d+)?(?:-v\d+)?(?:\.[a-z]+)*)",
        RE2::Latin1);
    static const RE2 inFolder(R"((?:.*/)?global_step(\d+)/[^/]*)", RE2::Latin1);
    static const RE2 onlyDigits(R"((\d{10}))", RE2::Latin1);
    path = withoutEnd(path);
    const auto slash = path.find_last_of('/');
    const auto name = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
    const re2::StringPiece namePiece(name.data(), name.size());
    re2::StringPiece digits;
    if (RE2::FullMatch(namePiece, inName, &digits) || RE2::FullMatch(namePiece, onlyDigits, &digits)
        || RE2::FullMatch(re2::StringPiece(path.data(), path.size()), inFolder, &digits)) {
        return parseInteger({digits.data(), digits.size()});
    }
    return std::nullopt;
}

void CheckpointReader::take(const CheckpointLine& what, const Groups& groups, const LogLine& line, LogBuilder& builder)
{
    Pending said {groups.step, readable(withoutEnd(groups.path), longestPath), line.number, false};
    if (!said.step) {
        said.step = stepOfPath(said.path);
    }
    // A line that names no path may end what one before it began.
    const auto complete = [&](ByRank& from, CheckpointFact fact) {
        if (const auto begun = takeOut(from, line.process())) {
            const bool same = !said.step || !begun->step || said.step == begun->step;
            said.path = said.path.empty() && same ? begun->path : said.path;
            said.step = said.step ? said.step : begun->step;
        }
        give(fact, said, builder);
    };
    switch (what.word) {
    case CheckpointWord::begins:
    case CheckpointWord::saves:
        return begin(what, std::move(said), line, builder);
    case CheckpointWord::completes:
    case CheckpointWord::saved:
        return complete(m_saving, CheckpointFact::saved);
    case CheckpointWord::removed:
        return removeAll(said, builder);
    case CheckpointWord::loads:
        processBegan(builder);
        return keep(m_loading, line.process(), std::move(said));
    case CheckpointWord::loaded:
        processBegan(builder);
        return complete(m_loading, CheckpointFact::loaded);
    case CheckpointWord::startsAt:
        if (const auto begun = takeOut(m_loading, line.process()); begun && said.step == begun->step.value_or(-2) + 1) {
            said.step = begun->step;
            said.path = begun->path;
            give(CheckpointFact::loaded, said, builder);
        }
    }
}

void CheckpointReader::begin(const CheckpointLine& what, Pending pending, const LogLine& line, LogBuilder& builder)
{
    pending.waitedFor = what.word == CheckpointWord::saves;
    pending.rank = line.rank ? line.rank : builder.fileRank();
    if (const auto row = builder.lastRow(line.rank)) {
        pending.rowBefore = row->step;
    }
    if (what.step != CheckpointStep::inLine) {
        pending.step = stepOfRow(what.step, line, builder);
    }
    if (what.step == CheckpointStep::ofRowAbove && pending.step) {
        overwrite(pending, builder);
    }
    keep(m_saving, line.process(), std::move(pending));
}

std::optional<std::int64_t> CheckpointReader::stepOfRow(
    CheckpointStep from, const LogLine& line, const LogBuilder& builder)
{
    const auto row = builder.lastRow(line.rank);
    if (!row || row->inferred) {
        return std::nullopt;
    }
    if (from == CheckpointStep::ofRowAbove) {
        return row->line + 1 == line.number ? std::optional(row->step) : std::nullopt;
    }
    // Between two rows there may be more steps than one, and more saves, unless every step has a row.
    const auto interval = builder.saveInterval();
    const bool everyStep = row->stepBefore && row->step == *row->stepBefore + 1;
    const bool due = interval > 0 ? row->step % interval == 0 : everyStep;
    const bool first = !m_rowsUsed.contains(line.process()) || m_rowsUsed[line.process()] != row->line;
    keep(m_rowsUsed, line.process(), row->line);
    return first && due ? std::optional(row->step) : std::nullopt;
}

void CheckpointReader::overwrite(const Pending& pending, LogBuilder& builder)
{
    const auto before = m_inPlace.find(pending.path);
    if (before != m_inPlace.end() && before->second != *pending.step) {
        Pending gone = pending;
        gone.step = before->second;
        give(CheckpointFact::removed, gone, builder);
    }
    if (m_inPlace.size() < mostPending) {
        m_inPlace[pending.path] = *pending.step;
    }
}

/// "{PosixPath('/ckpt/0000000500'), PosixPath('/ckpt/0000001000')}" of lingua are several.
void CheckpointReader::removeAll(const Pending& pending, LogBuilder& builder)
{
    static const RE2 each(R"(PosixPath\('([^']+)'\))", RE2::Latin1);
    re2::StringPiece rest(pending.path);
    std::string path;
    bool any = false;
    while (RE2::FindAndConsume(&rest, each, &path)) {
        any = true;
        give(CheckpointFact::removed, {stepOfPath(path), path, pending.line, false}, builder);
    }
    if (!any) {
        give(CheckpointFact::removed, pending, builder);
    }
}

void CheckpointReader::give(CheckpointFact fact, const Pending& pending, LogBuilder& builder)
{
    if (!pending.step || m_given == std::pair(*pending.step, fact)) {
        return;
    }
    m_given = {*pending.step, fact};
    builder.checkpoint({*pending.step, fact, pending.path, {}, {}, pending.line});
}

void CheckpointReader::sayUnfinished(const Pending& pending, LogBuilder& builder)
{
    Event event;
    event.rank = pending.rank;
    event.step = pending.step;
    event.line = pending.line;
    event.text = "save begun, not seen to end: "
        + (!pending.path.empty() ? pending.path
                : pending.step   ? fmt::format("step {}", *pending.step)
                                 : "no name");
    builder.event(std::move(event));
}

void CheckpointReader::processFailed(const LogLine& line, LogBuilder& builder)
{
    const auto begun = m_saving.empty() ? m_saving.end() : m_saving.find(line.process());
    if (begun != m_saving.end() && begun->second.waitedFor) {
        sayUnfinished(begun->second, builder);
        m_saving.erase(begun);
    }
}

void CheckpointReader::processBegan(LogBuilder& builder)
{
    for (const auto& [process, pending] : m_saving) {
        sayUnfinished(pending, builder);
    }
    m_saving.clear();
}

void CheckpointReader::trainingWentOn(const LogLine& line, LogBuilder& builder)
{
    const auto begun = m_saving.empty() ? m_saving.end() : m_saving.find(line.process());
    if (begun == m_saving.end() || !begun->second.waitedFor) {
        return;
    }
    // Steps that fall back are those of another process, whose start the log does not show.
    const auto row = builder.lastRow(line.rank);
    const bool anew = row && begun->second.rowBefore && row->step < *begun->second.rowBefore;
    anew ? sayUnfinished(begun->second, builder) : give(CheckpointFact::saved, begun->second, builder);
    m_saving.erase(begun);
}

} // namespace nanscope::ingest
