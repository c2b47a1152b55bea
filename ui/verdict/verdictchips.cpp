// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/verdict/verdictchips.h"

#include <algorithm>

#include <QToolButton>

#include "core/model/verdict.h"
#include "core/model/words.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/theme.h"
#include "ui/verdict/verdictflow.h"

namespace nanscope {

namespace {

QColor rimOf(VerdictList list)
{
    switch (list) {
    case VerdictList::speaksFor:
        return theme().good;
    case VerdictList::speaksAgainst:
        return theme().warning;
    case VerdictList::next:
        return theme().accent;
    default:
        return theme().muted;
    }
}

} // namespace

std::vector<EvidenceLine> placeLines(const CaptureVerdict& verdict)
{
    std::vector<EvidenceLine> lines;
    const auto add = [&lines](const QString& source, const std::string& text) {
        if (!text.empty()) {
            lines.push_back({text, source.toStdString()});
        }
    };
    add(VerdictChips::tr("output"), verdict.facts.damage.text);
    add(VerdictChips::tr("layer"), verdict.layer);
    add(VerdictChips::tr("can begin"), originsText(verdict));
    return lines;
}

bool canBeCalledAgain(const CaptureVerdict& verdict)
{
    return verdict.facts.replayed && (verdict.role == Role::birth || verdict.role == Role::padding);
}

bool hasNext(const CaptureVerdict& verdict)
{
    return !verdict.next.empty() || canBeCalledAgain(verdict);
}

VerdictChips::VerdictChips(QWidget* parent)
    : QWidget(parent)
{
    auto* flow = new VerdictFlow(this);
    flow->setSpacing(grid(1) + 2);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    addChip(*flow, VerdictList::place, tr("What the damage looks like, which layer it is in and where it can begin"));
    addChip(*flow, VerdictList::speaksFor, tr("What speaks for this verdict"));
    addChip(*flow, VerdictList::speaksAgainst, tr("What speaks against it"));
    addChip(*flow, VerdictList::notTestable,
        tr("What speaks neither for it nor against it, and what this capture cannot show"));
    addChip(*flow, VerdictList::next, tr("Experiments that would tell most, and what came of those you tried"));
    style();
    onThemeChange(*this, [this] { style(); });
}

void VerdictChips::addChip(QLayout& layout, VerdictList list, const QString& toolTip)
{
    auto* button = makeToolButton(this, "chip", {}, toolTip);
    button->setCheckable(true);
    // Else a list that closes would hand the focus it has on to the tool bar.
    button->setFocusPolicy(Qt::StrongFocus);
    layout.addWidget(button);
    m_chips.push_back({list, button});
    connect(button, &QToolButton::clicked, this,
        [this, list](bool checked) { Q_EMIT opened(checked ? list : VerdictList::none); });
}

void VerdictChips::setChip(VerdictList list, const QString& text, bool enabled)
{
    const auto chip = std::ranges::find(m_chips, list, &Chip::list);
    chip->button->setText(text);
    chip->button->setAccessibleName(text);
    chip->button->setEnabled(enabled);
}

void VerdictChips::setCounts(const CaptureVerdict& verdict, int tried)
{
    const auto places = placeLines(verdict).size();
    setChip(VerdictList::place, tr("damage %1").arg(places), places > 0);
    setChip(VerdictList::speaksFor, tr("for %1").arg(verdict.speaksFor.size()), !verdict.speaksFor.empty());
    setChip(
        VerdictList::speaksAgainst, tr("against %1").arg(verdict.speaksAgainst.size()), !verdict.speaksAgainst.empty());
    setChip(VerdictList::notTestable, tr("neither %1").arg(verdict.notTestable.size()), !verdict.notTestable.empty());
    const QString next = tr("try next %1").arg(verdict.next.size());
    setChip(VerdictList::next, tried > 0 ? tr("%1, %2 tried").arg(next).arg(tried) : next, hasNext(verdict));
    setVisible(std::ranges::any_of(m_chips, [](const Chip& chip) { return chip.button->isEnabled(); }));
}

void VerdictChips::setOpen(VerdictList list)
{
    for (const Chip& chip : m_chips) {
        chip.button->setChecked(chip.list == list);
    }
}

void VerdictChips::takeFocus()
{
    const auto first = std::ranges::find_if(m_chips, [](const Chip& chip) { return chip.button->isEnabled(); });
    if (first != m_chips.end()) {
        first->button->setFocus();
    }
}

void VerdictChips::style()
{
    for (const auto& [list, button] : m_chips) {
        const QString sheet = QStringLiteral("QToolButton#chip:enabled { border-color: %1; } "
                                             "QToolButton#chip:focus { border: 2px solid %1; padding: 1px 7px; }")
                                  .arg(rimOf(list).name());
        if (button->styleSheet() != sheet) {
            button->setStyleSheet(sheet);
        }
    }
}

} // namespace nanscope
