// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/whatsthis.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <QAction>
#include <QCoreApplication>
#include <QDockWidget>

#include "ui/film/filmpane.h"
#include "ui/shell/actions.h"
#include "ui/shell/panearea.h"

namespace nanscope {

namespace {

struct WhatsThisWords
{
    Q_DECLARE_TR_FUNCTIONS(nanscope::WhatsThis)
};

constexpr std::pair<const char*, const char*> paneTexts[] = {
    {"captures",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "Every capture of the run: one dump of one Newton-Schulz call, with its rank, step, shape, role and "
            "verdict. A birth had a finite input and a non-finite output; what is downstream only inherited it. Begin "
            "with a birth: selecting it fills all other panes. The box above filters, for example role:birth rank:0.")},
    {"faults",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "The captures by step from left to right, with one lane per rank; lines lead from a birth to what follows "
            "from it. What stands furthest left broke first, and everything it leads to needs no explanation of its "
            "own. Click a mark to select its capture.")},
    {"frame",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "The selected frame of the film, large: the result of one op as a matrix, with NaN, ±Inf and zero in "
            "colours of their own outside the scale. Below it stand its formula, its counts, its largest and smallest "
            "magnitude and its Frobenius norm ‖X‖_F. Turn the wheel or Shift+drag a box to zoom; near enough, the "
            "exact elements are shown, and the one under the cursor is read out. Where a pixel has to do for several "
            "elements it has the colour of the largest, so a small picture is lighter than a large one of the same "
            "matrix.")},
    {"sweep",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "The selected capture replayed: a row per variant, a column per number format, and in each cell how the "
            "replay ends and at which op it first goes non-finite. Finite in fp64 and not in the format that ran "
            "speaks for the numbers; finite everywhere speaks against them. Sweep fills the table; a click on a cell "
            "shows its film, and one that is empty is replayed. Options… chooses variants, formats, lowering, epsilon "
            "and steps; rows that are not as usual say so below the variant. Slack is by how much ‖X‖₂ may still grow "
            "on the entry of the tightest step before the schedule diverges, as far as the bound guarantees it. The "
            "input is normalised first: a larger one has the same slack.")},
    {"gauges",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "Numbers of the shown cell per step: the spectral bound ‖XXᵀ‖_F^½ ≥ ‖X‖₂ with the limit beyond which the "
            "schedule diverges, the largest magnitude in Q, and the orthogonality ‖XXᵀ − I‖_F / √m. A bound below its "
            "limit proves slack, one above it proves nothing; about 1 is a normal orthogonality for a low-rank input. "
            "Click a step to see its frame; Deep gauges… measures the distance to fp64, λ_min of the Gram matrix, its "
            "asymmetry and the commutator.")},
    {"timeline",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "What the logs tell per step and rank: loss, gradient norm and any other series. NaN and ±Inf are no "
            "points of a curve but marks in the lane above, beside the captures and events of the run. Look left of "
            "the first mark for what was climbing; turn the wheel or draw a box to zoom (with Shift where zoomed in), "
            "drag to move, and click a mark to go to its capture. Click a step and Shift+click a second one to read by "
            "how much every curve changed between them; the menu of the plot and the keys A and B set the same two "
            "marks.")},
    {"verdict",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "Whose fault the selected capture is, as far as the data carries: upstream, numerics, implementation, "
            "machine, or undecided. Behind it stand the counts of what speaks for it, what speaks against it and what "
            "cannot be tested here; open them to see each line with its source. Untick the variants that did not run, "
            "answer the question where there is one, say how an experiment ended or how often the captured call failed "
            "when it was made again: each judges again. Slack is by how much ‖X‖₂ may still grow on the entry of the "
            "tightest step before the schedule diverges, not by how much the input may, which is normalised; below "
            "zero the bound is exceeded already.")},
    {"film",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "The replay of one cell, op by op from left to right, each frame one matrix. The frame in which values "
            "first went non-finite is framed: the op before it was the last that was well. Arrow keys move by step and "
            "op, B goes to the birth; the list at the top shows the difference to fp64, to the captured output or to "
            "another cell instead.")},
    {"tensors",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "Input and output as the capture holds them, nothing replayed. NaN, ±Inf and zero have colours of their "
            "own outside the scale, and the damage the verdict speaks of is framed: rows, a rectangle or a tile tell "
            "more about a kernel than their number. Both zoom together, by wheel or by a box (Shift+drag where zoomed "
            "in); the exact element under the cursor is read out below. Where a pixel has to do for several elements "
            "it has the colour of the largest.")},
    {"cliff",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "How far the cell is from divergence. The curve is theory: the odd polynomials p(σ) of the schedule, "
            "applied to one singular value, with the limit beyond which they send it to infinity; the dot is σ_max of "
            "the captured matrix, measured on the entry of the chosen step. Drag the scale or change the safety "
            "factor: each setting is replayed and stays as a mark, so that you see how much it takes to fail.")},
    {"instruments",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "One question about the selected capture, put to a replay or to a Python function of your own: how far its "
            "scale is from the next failure, what other epsilons do, whether the same input gives the same bits, also "
            "in a storm of poisoned memory, whether the input was changed, whether every singular value ends where the "
            "schedule takes it, and the smallest input that still fails. Scale and Spectrum are plots: look for the "
            "nearest edge beside 0, and for crosses. Your function runs in a process of its own, after you have seen "
            "the program that calls it.")},
    {"findings",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "What the logs tell besides the captures: spikes, skipped steps, a wrong precision, a full disk, and what "
            "a log hides. A card fired on the evidence that stands beside it, is clear, or could not be checked with "
            "this data; the buttons choose which are shown. Each names its rule with its threshold, and what to try. A "
            "finding that you silence is left out of reports; the box says whose published rule calls a loss a "
            "spike.")},
    {"rollback",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "Can I go on tonight? The first line says with which setting, from which checkpoint and at what cost. The "
            "table holds every checkpoint that lies in the folder or that a log names. Safe means that its weights "
            "gave a finite loss before anything went wrong; poisoned, that NaN came of them; unverified, that no log "
            "shows it: an update before it was damaged, or nothing was logged in between. Verify checkpoints reads "
            "their tensors, newest first, until one is finite: what they hold goes before what the log lets one "
            "expect.")},
    {"whatif",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "Two questions about a run that is over. What would a NaN detector have done: where it would have spoken, "
            "which updates it would have left out, where it would have stopped, and whether that was a false alarm. "
            "Which ranks would a guard behind the Newton-Schulz step have left out, for every layout that the captures "
            "allow: where some skip and others do not, replicated parameters drift apart and sharded ones are torn. "
            "Each changed setting is judged at once; a click on a row goes to its step in the timeline.")},
    {"report",
        QT_TRANSLATE_NOOP("nanscope::WhatsThis",
            "The report as it will leave the window, about the selected capture where that is a birth. Tick what goes "
            "into it: sections, texts to hide, pictures; an issue takes 65,536 characters. What is seen is what is "
            "copied and saved.")},
};

void explain(QAction* action, const QString& text)
{
    action->setWhatsThis(text);
}

} // namespace

void explainPanes(const PaneArea& area)
{
    for (const NamedPane& named : area.named()) {
        const auto* text = std::ranges::find(
            paneTexts, named.name, [](const auto& known) { return QString::fromLatin1(known.first); });
        if (text != std::end(paneTexts)) {
            named.pane->setWhatsThis(WhatsThisWords::tr(text->second));
        }
    }
    area.answer()->setWhatsThis(WhatsThisWords::tr(
        "The answer: on the left what was captured, the output large with its damage framed and the first "
        "element that is not finite ringed, the input beside it; on the right what went wrong first, whose "
        "fault it is and what to do now. It stays in sight whatever tab is open."));
    area.panes().beside->setWhatsThis(WhatsThisWords::tr(
        "The film of a second cell of the same capture, frame by frame below the first. Both move together: "
        "look for the first step at which they part. The list above it chooses the cell, X swaps the two."));
}

void explainCommands(const Actions& a)
{
    explain(a.openFolder,
        WhatsThisWords::tr(
            "Opens a folder with dumps, logs or both. Nothing in it is changed or executed; what was found is "
            "remembered in a session of your own. A run that is still writing may be opened, and is followed."));
    explain(a.rescan,
        WhatsThisWords::tr(
            "Looks for files that are new and judges every birth again. Use it after copying more ranks or logs "
            "into the folder: each can turn a question into a verdict."));
    explain(a.sweep,
        WhatsThisWords::tr(
            "Replays the selected capture with every variant in five number formats. The table of the sweep pane "
            "fills while it runs, and every cell has a film afterwards."));
    explain(a.cancel,
        WhatsThisWords::tr(
            "Stops what the status line names: the saving of a report, a sweep, a replay, a judgement or an import. "
            "Where more is running, pressing it again stops the next. Cells that are replayed and captures that are "
            "judged stay; a capture that is judged by half starts anew, and of a report nothing is written."));
    explain(a.showKnown,
        WhatsThisWords::tr(
            "What you know of this run beside the files it left: variants of your own, names of parameters, the "
            "environment it was trained in, published problems of packages. The run is judged again with each, "
            "they are remembered with it, and each can be taken back."));
    explain(a.compare,
        WhatsThisWords::tr(
            "Shows a second cell below the first: another variant or another number format of the same capture. "
            "Frames, cursor and zoom move together, so that you see the step at which the two part."));
    explain(a.exportReport,
        WhatsThisWords::tr(
            "Writes what is known as Markdown, web page or JSON, with names of people, hosts and folders "
            "replaced. The report tab shows it before."));
}

} // namespace nanscope
