// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
#include "core/ingest/events/checkpointlines.h"

#include <array>

namespace nanscope::ingest {

namespace {

using enum CheckpointWord;
using enum CheckpointStep;

constexpr std::array table {
    // KempnerForge commits at the next save or at the end, so this line may stand far behind the step it names.
    CheckpointLine {saved, R"(Checkpoint committed: (?P<path>.+) \(step=(?P<step>\d+)\))"},
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
};

} // namespace

std::span<const CheckpointLine> checkpointLines()
{
    return table;
}

} // namespace nanscope::ingest
