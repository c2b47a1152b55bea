// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/findings/findingspane.h"

#include <algorithm>
#include <iterator>

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTableView>
#include <QTextBrowser>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include "core/diagnose/findings/spikerules.h"
#include "ui/findings/advisorylines.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/copying.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/verdict/verdictflow.h"

namespace nanscope {

namespace {

QString muted(const QString& text)
{
    return QStringLiteral("<span style='color:%1'>%2</span>").arg(theme().muted.name(), text);
}

/// A link by its number: what a file says never becomes an address.
QString evidenceHtml(const Finding& finding)
{
    QString lines;
    for (std::size_t i = 0; i < finding.evidence.size(); ++i) {
        const auto& line = finding.evidence[i];
        const QString place =
            line.line > 0 ? QStringLiteral("%1:%2").arg(htmlText(line.file)).arg(line.line) : htmlText(line.file);
        lines += QStringLiteral("<p style='margin:4px 0'><a style='color:%1' href='%2'>%3</a><br>%4</p>")
                     .arg(theme().accent.name())
                     .arg(i)
                     .arg(place, htmlText(line.text));
    }
    return lines;
}

QString adviceHtml(const Finding& finding)
{
    QString items;
    for (const std::string& advice : finding.advice) {
        items += QStringLiteral("<li>%1</li>").arg(windowText(advice).toHtmlEscaped());
    }
    return items.isEmpty() ? items : QStringLiteral("<ul style='margin:4px 0 4px 16px'>%1</ul>").arg(items);
}

QString detailHtml(const Finding& finding)
{
    QString text = QStringLiteral("<p style='margin:0 0 4px 0'><b>%1</b></p>").arg(htmlText(finding.title));
    if (!finding.reason.empty()) {
        text += QStringLiteral("<p style='margin:4px 0'>%1</p>").arg(sentenceCase(htmlText(finding.reason)));
    }
    text += evidenceHtml(finding) + adviceHtml(finding);
    if (finding.state == FindingState::silenced) {
        text += QStringLiteral("<p style='margin:4px 0'>%1</p>")
                    .arg(muted(FindingsPane::tr("You silenced this finding: reports leave it out.")));
    }
    if (!finding.threshold.empty()) {
        text += QStringLiteral("<p style='margin:4px 0'>%1</p>")
                    .arg(muted(FindingsPane::tr("Rule: %1").arg(htmlText(finding.threshold))));
    }
    return text;
}

int weightOf(const Finding& finding)
{
    const int severity = finding.severity == "error" ? 0 : finding.severity == "warning" ? 1 : 2;
    return static_cast<int>(finding.state) * 3 + severity;
}

StatusMark markOf(const Finding& finding)
{
    switch (finding.state) {
    case FindingState::fired:
        return finding.severity == "error"  ? StatusMark::bad
            : finding.severity == "warning" ? StatusMark::caution
                                            : StatusMark::none;
    case FindingState::clear:
        return StatusMark::good;
    case FindingState::notCheckable:
        return StatusMark::unknown;
    default:
        return StatusMark::none;
    }
}

template <class T>
QString orDash(const std::optional<T>& value)
{
    return value ? QString::number(*value) : QStringLiteral("–");
}

/// Another program takes a missing number for one, not a dash.
template <class T>
QString orNothing(const std::optional<T>& value)
{
    return value ? QString::number(*value) : QString();
}

QString titleOf(const Finding& finding)
{
    return qstr(finding.title);
}

QString idOf(const Finding& finding)
{
    return qstr(finding.id);
}

QString findingStateWord(FindingState state)
{
    switch (state) {
    case FindingState::fired:
        return FindingsPane::tr("fired");
    case FindingState::clear:
        return FindingsPane::tr("clear");
    case FindingState::notCheckable:
        return FindingsPane::tr("not checkable");
    default:
        return FindingsPane::tr("silenced");
    }
}

QString confidenceOf(const Finding& finding)
{
    return finding.state == FindingState::fired ? qstr(finding.confidence) : findingStateWord(finding.state);
}

QString reasonOf(const Finding& finding)
{
    return qstr(finding.reason.empty() ? finding.title : finding.reason);
}

QString spokenTitle(const Finding& finding)
{
    return FindingsPane::tr("%1, %2: %3")
        .arg(findingStateWord(finding.state), qstr(finding.severity), titleOf(finding));
}

std::vector<RowColumn<Finding>> findingColumns()
{
    return {
        {.title = FindingsPane::tr("Finding"), .text = titleOf, .tip = reasonOf, .mark = markOf, .spoken = spokenTitle},
        {.title = FindingsPane::tr("Pattern"), .text = idOf, .tip = reasonOf},
        {.title = FindingsPane::tr("Step"),
            .text = [](const Finding& finding) { return orDash(finding.step); },
            .tip = reasonOf,
            .copied = [](const Finding& finding) { return orNothing(finding.step); }},
        {.title = FindingsPane::tr("Rank"),
            .text = [](const Finding& finding) { return orDash(finding.rank); },
            .tip = reasonOf,
            .copied = [](const Finding& finding) { return orNothing(finding.rank); }},
        {.title = FindingsPane::tr("Confidence"), .text = confidenceOf, .tip = reasonOf},
    };
}

} // namespace

FindingsPane::FindingsPane(QWidget* parent)
    : PaneFrame(tr("Findings"), parent)
    , m_model(new RowModel(findingColumns(), this))
    , m_view(makeRowTable(this, m_model, tr("Findings")))
    , m_detail(new QTextBrowser(this))
    , m_newest(makeNewestLabel(this))
    , m_advisories(new AdvisoryLines(this))
    , m_spikeRules(new QComboBox(this))
    , m_waiting(new QLabel(this))
    , m_silence(new QPushButton(this))
{
    buildView();
    buildSilence();
    m_detail->setAccessibleName(tr("Evidence and advice of the selected finding"));
    m_detail->setOpenLinks(false);
    m_detail->setFrameShape(QFrame::NoFrame);
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_view);
    splitter->addWidget(buildDetail());
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    body()->addWidget(buildChoices());
    body()->addWidget(m_newest);
    body()->addWidget(m_advisories);
    body()->addWidget(splitter, 1);
    connect(m_detail, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
        const Finding* finding = selected();
        const auto number = link.toString().toUInt();
        if (finding && number < finding->evidence.size()) {
            Q_EMIT evidenceActivated(qstr(finding->evidence[number].file), finding->evidence[number].line);
        }
    });
    setFindings({});
    onThemeChange(*this, [this] { showDetail(); });
}

void FindingsPane::buildView()
{
    m_view->horizontalHeader()->setSectionResizeMode(title, QHeaderView::Stretch);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FindingsPane::showDetail);
}

/// In rows: one line of it would be wider than the pane may be where the captures need room beside it.
QWidget* FindingsPane::buildChoices()
{
    auto* choices = new QWidget(this);
    auto* inner = new QWidget(choices);
    auto* margins = new QHBoxLayout(choices);
    margins->setContentsMargins(grid(2), 0, grid(1), grid(1));
    margins->addWidget(inner);
    auto* flow = new VerdictFlow(inner);
    flow->setSpacing(grid(2));
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    inner->setSizePolicy(policy);
    choices->setSizePolicy(policy);
    flow->addWidget(buildChips());
    flow->addWidget(buildSpikeRules());
    flow->addWidget(m_waiting);
    m_waiting->setObjectName(QStringLiteral("muted"));
    m_waiting->setTextFormat(Qt::PlainText);
    m_waiting->hide();
    return choices;
}

QWidget* FindingsPane::buildSpikeRules()
{
    auto* row = new QWidget(this);
    auto* label = new QLabel(tr("Loss spikes by"), row);
    label->setBuddy(m_spikeRules);
    for (const diagnose::cards::SpikeRule& rule : diagnose::cards::spikeRules()) {
        const bool byDefault = &rule == &diagnose::cards::defaultSpikeRule();
        m_spikeRules->addItem(qstr(rule.name), byDefault ? QString() : qstr(rule.name));
        m_spikeRules->setItemData(m_spikeRules->count() - 1, plainTip(sentenceCase(qstr(rule.text))), Qt::ToolTipRole);
    }
    m_spikeRules->setAccessibleName(label->text());
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(1) + 2);
    layout->addWidget(label);
    layout->addWidget(m_spikeRules);
    connect(m_spikeRules, &QComboBox::currentIndexChanged, this, [this] {
        showRuleSource();
        auto choices = m_choices;
        choices.spikeRule = m_spikeRules->currentData().toString().toStdString();
        choose(std::move(choices));
    });
    showRuleSource();
    return row;
}

void FindingsPane::showRuleSource()
{
    m_spikeRules->setToolTip(m_spikeRules->currentData(Qt::ToolTipRole).toString());
}

void FindingsPane::setWaiting(const QString& text)
{
    m_waiting->setText(text);
    m_waiting->setVisible(!text.isEmpty());
}

QWidget* FindingsPane::buildDetail()
{
    auto* side = new QWidget(this);
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(grid(1), grid(1), grid(3), grid(2));
    buttons->addWidget(m_silence);
    buttons->addStretch(1);
    auto* layout = new QVBoxLayout(side);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_detail, 1);
    layout->addLayout(buttons);
    return side;
}

void FindingsPane::buildSilence()
{
    const QList<QAction*> copying = m_view->actions();
    m_silenceAction = addCommand(*m_view, {}, {}, {}, [this] { toggleSilence(); });
    auto* line = new QAction(m_view);
    line->setSeparator(true);
    m_view->insertActions(copying.value(0), {m_silenceAction, line});
    connect(m_silence, &QPushButton::clicked, this, &FindingsPane::toggleSilence);
}

void FindingsPane::setChoices(const diagnose::FindingChoices& choices)
{
    m_choices = choices;
    const QSignalBlocker quiet(m_spikeRules);
    m_spikeRules->setCurrentIndex(std::max(0, m_spikeRules->findData(qstr(choices.spikeRule))));
    showRuleSource();
}

void FindingsPane::choose(diagnose::FindingChoices choices)
{
    if (const auto known = diagnose::checked(std::move(choices))) {
        m_choices = *known;
        Q_EMIT choicesChanged(m_choices);
    }
}

void FindingsPane::toggleSilence()
{
    const Finding* finding = selected();
    if (!finding) {
        return;
    }
    auto choices = m_choices;
    if (finding->state == FindingState::silenced) {
        std::erase(choices.silenced, finding->id);
    } else {
        choices.silenced.push_back(finding->id);
    }
    m_leftRow = m_view->currentIndex().row();
    choose(std::move(choices));
    m_leftRow = 0;
}

const Finding* FindingsPane::selected() const
{
    return m_model->rowAt(m_view->currentIndex().row());
}

QWidget* FindingsPane::buildChips()
{
    auto* chips = new QWidget(this);
    auto* layout = new QHBoxLayout(chips);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(1) + 2);
    for (const auto& [state, tip] : {std::pair(FindingState::fired, tr("Show what the logs give evidence of")),
             std::pair(FindingState::notCheckable, tr("Show what this data cannot show, and what is missing for it")),
             std::pair(FindingState::clear, tr("Show what was looked for and is not there")),
             std::pair(FindingState::silenced, tr("Show what you did not want to hear of"))}) {
        auto* button = makeToolButton(chips, "chip", {}, tip);
        button->setCheckable(true);
        button->setChecked(state == FindingState::fired);
        layout->addWidget(button);
        m_chips.push_back({state, button});
        connect(button, &QToolButton::toggled, this, [this] {
            listChosen();
            selectRow(0);
        });
    }
    return chips;
}

QToolButton* FindingsPane::chip(FindingState state) const
{
    return std::ranges::find(m_chips, state, &Chip::state)->button;
}

void FindingsPane::setFindings(
    const std::vector<Finding>& findings, const std::optional<std::int64_t>& newest, bool complete)
{
    m_complete = complete;
    showNewest(*m_newest, newest);
    const Finding* shown = selected();
    const QString id = shown ? qstr(shown->id) : QString();
    m_all = findings;
    std::ranges::stable_sort(m_all, {}, weightOf);
    listChosen();
    updateCounts();
    const int row = rowOf(id);
    row >= 0 ? selectRow(row) : selectRow(std::min(m_leftRow, m_model->rowCount() - 1));
}

void FindingsPane::updateCounts()
{
    for (const Chip& chip : m_chips) {
        const int count = countOf(chip.state);
        chip.button->setText(QStringLiteral("%1 %2").arg(count).arg(findingStateWord(chip.state)));
        chip.button->setAccessibleName(chip.button->text());
        chip.button->setVisible(count > 0 || chip.state != FindingState::silenced);
        chip.button->setEnabled(count > 0);
    }
}

int FindingsPane::countOf(FindingState state) const
{
    return static_cast<int>(std::ranges::count(m_all, state, &Finding::state));
}

int FindingsPane::rowOf(const QString& id) const
{
    const auto found = std::ranges::find(m_model->rows(), id, idOf);
    return found == m_model->rows().end() ? -1 : static_cast<int>(found - m_model->rows().begin());
}

/// Those of the states whose chips are checked.
void FindingsPane::listChosen()
{
    std::vector<Finding> chosen;
    std::ranges::copy_if(
        m_all, std::back_inserter(chosen), [this](const Finding& finding) { return chip(finding.state)->isChecked(); });
    m_model->setRows(std::move(chosen));
    hideEmptyColumns();
}

/// The names need the room of columns in which nothing stands.
void FindingsPane::hideEmptyColumns()
{
    for (const int column : {int {step}, int {rank}}) {
        bool filled = false;
        for (int row = 0; row < m_model->rowCount() && !filled; ++row) {
            filled = !m_model->index(row, column).data(CopyRole).toString().isEmpty();
        }
        m_view->setColumnHidden(column, !filled);
    }
}

void FindingsPane::selectRow(int row)
{
    if (row >= 0 && row < m_model->rowCount()) {
        m_view->selectRow(row);
    }
    showDetail();
}

void FindingsPane::showSilence(const Finding* finding)
{
    const bool silenced = finding && finding->state == FindingState::silenced;
    const bool possible = finding && (silenced || finding->state == FindingState::fired);
    m_silenceAction->setText(silenced ? tr("Show this finding again") : tr("Silence this finding"));
    m_silenceAction->setToolTip(silenced ? tr("Lists it among what fired, and in reports")
                                         : tr("Lists it among what is silenced, and leaves it out of reports"));
    m_silenceAction->setEnabled(possible);
    m_silence->setText(m_silenceAction->text());
    m_silence->setToolTip(m_silenceAction->toolTip());
    if (!possible && m_silence->hasFocus()) {
        m_view->setFocus();
    }
    m_silence->setVisible(possible);
}

void FindingsPane::showDetail()
{
    const Finding* finding = selected();
    showSilence(finding);
    if (finding) {
        m_detail->setHtml(detailHtml(*finding));
        return;
    }
    m_detail->setHtml(muted(emptyText()));
}

/// What stands there where no finding is selected.
QString FindingsPane::emptyText() const
{
    const int clear = countOf(FindingState::clear);
    const int notCheckable = countOf(FindingState::notCheckable);
    const int found = countOf(FindingState::fired) + countOf(FindingState::silenced);
    if (clear + notCheckable + found == 0) {
        return tr("What the logs tell besides the captures stands here once they are judged.");
    }
    const QString unfinished =
        m_complete ? QString() : tr(" Judging is not finished, and most patterns are looked for at its end.");
    if (found > 0) {
        return tr("Select a finding to read about it. The buttons above choose what is listed.") + unfinished;
    }
    const QString counts =
        tr("%1 are ruled out, %2 could not be checked. The buttons above list them.").arg(clear).arg(notCheckable);
    return (m_complete ? tr("No known pattern was found: %1") : tr("No known pattern was found so far: %1")).arg(counts)
        + unfinished;
}

} // namespace nanscope
