// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/whatif/guardview.h"

#include <algorithm>
#include <utility>

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTableView>

#include "core/diagnose/whatif/whatifwords.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/factsview.h"
#include "ui/shared/table/texttable.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"
#include "ui/whatif/turningsplitter.h"

namespace nanscope {

namespace {

constexpr int notChosen = -1;

template <class Enum>
std::optional<Enum> chosen(const QComboBox& box)
{
    const int value = box.currentData().toInt();
    return value == notChosen ? std::nullopt : std::optional(static_cast<Enum>(value));
}

template <class Enum>
void choose(QComboBox& box, const std::optional<Enum>& value)
{
    const QSignalBlocker blocker(box);
    box.setCurrentIndex(box.findData(value ? static_cast<int>(*value) : notChosen));
}

QString titleOf(const diagnose::GuardStep& step)
{
    return QStringLiteral("%1: %2").arg(sentenceCase(roleWord(step.role)), qstr(diagnose::guardStepTitle(step)));
}

const QString nothing = QStringLiteral("–");

StatusMark markOf(const diagnose::GuardOutcome& outcome)
{
    switch (outcome.consequence) {
    case diagnose::Consequence::none:
        return StatusMark::good;
    case diagnose::Consequence::drift:
    case diagnose::Consequence::torn:
        return StatusMark::bad;
    case diagnose::Consequence::unknown:
        break;
    }
    return StatusMark::unknown;
}

QString updateText(const GuardRow& row)
{
    return qstr(diagnose::guardStepTitle(*row.step));
}

QString layoutText(const GuardRow& row)
{
    return row.layout ? qstr(probe::name(*row.layout)) : GuardView::tr("ruled out");
}

QString stackText(const GuardRow& row)
{
    const auto any = std::ranges::find_if(row.outcomes, [](const auto* outcome) { return outcome; });
    return any == row.outcomes.end() ? nothing : qstr((*any)->stack);
}

RowColumn<GuardRow> scopeColumn(const QString& title, std::size_t scope)
{
    const auto scopes = diagnose::guardScopes();
    return {.title = title,
        .text =
            [scope](const GuardRow& row) {
                const diagnose::GuardOutcome* outcome = row.outcomes[scope];
                return outcome ? qstr(diagnose::guardOutcome(*row.step, *outcome)) : nothing;
            },
        .headingTip = scope < scopes.size() ? sentenceCase(qstr(scopes[scope].text)) : QString(),
        .mark =
            [scope](const GuardRow& row) {
                const diagnose::GuardOutcome* outcome = row.outcomes[scope];
                return outcome ? std::optional(markOf(*outcome)) : std::nullopt;
            }};
}

} // namespace

GuardView::GuardView(QWidget* parent)
    : QWidget(parent)
    , m_model(new RowModel(columns(), this))
    , m_view(makeAnswerTable(this, m_model, tr("Guard"), [this](int row) { activate(row); }))
    , m_facts(new FactsView(tr("What comes of the update, and what that rests on"), this))
    , m_headline(makeAnswerLabel(this))
    , m_layout(new QComboBox(this))
    , m_scope(new QComboBox(this))
    , m_ranks(new QSpinBox(this))
    , m_below(new TurningSplitter(m_view, m_facts, this))
{
    buildTable();
    layOutAnswer(*this, *buildSettings(), *m_headline, *m_below);
    connect(m_facts, &FactsView::factActivated, this, &GuardView::factActivated);
    setQuestion({});
}

std::vector<RowColumn<GuardRow>> GuardView::columns() const
{
    return {
        {.title = tr("Update"), .text = updateText},
        {.title = tr("Layout"), .text = layoutText, .tip = [this](const GuardRow& row) { return layoutTip(row); }},
        {.title = tr("Guard sees"),
            .text = stackText,
            .tip = [](const GuardRow&) { return tr("The stack of results that the guard looks at"); }},
        scopeColumn(tr("Local guard"), 0),
        scopeColumn(tr("Group guard"), 1),
        scopeColumn(tr("Full guard"), 2),
    };
}

QString GuardView::layoutTip(const GuardRow& row) const
{
    if (!row.layout) {
        return layoutText(row);
    }
    const auto found = std::ranges::find(m_whatIf.layouts, *row.layout, &diagnose::GuardLayout::layout);
    return found == m_whatIf.layouts.end()
        ? QString()
        : tr("%1. The guard sees %2").arg(sentenceCase(qstr(found->why)), stackText(row));
}

QWidget* GuardView::buildSettings()
{
    auto [bar, row] = makeSettingsBar(this);
    m_layout->addItem(tr("not known"), notChosen);
    for (const probe::Layout layout : {probe::Layout::gathered, probe::Layout::single, probe::Layout::headSplit,
             probe::Layout::matrixSharded, probe::Layout::batchSharded}) {
        m_layout->addItem(qstr(probe::name(layout)), static_cast<int>(layout));
    }
    m_scope->addItem(tr("all three"), notChosen);
    for (const probe::GuardScope scope :
        {probe::GuardScope::local, probe::GuardScope::group, probe::GuardScope::full}) {
        m_scope->addItem(qstr(probe::name(scope)), static_cast<int>(scope));
    }
    m_ranks->setRange(0, 4096);
    m_ranks->setSpecialValueText(tr("as found"));
    m_ranks->setKeyboardTracking(false);
    addSetting(*row, tr("&Layout"), *m_layout,
        tr("How the matrices of a shape reach the ranks, where you know it; no capture says so"));
    addSetting(*row, tr("G&uard"), *m_scope, tr("With whom the guard shares its flag before it leaves an update out"));
    addSetting(*row, tr("&Ranks"), *m_ranks,
        tr("How many ranks the optimizer's group has; else those that logs and captures name"));
    row->addStretch();
    connect(m_layout, &QComboBox::currentIndexChanged, this, &GuardView::readSettings);
    connect(m_scope, &QComboBox::currentIndexChanged, this, &GuardView::readSettings);
    connect(m_ranks, &QSpinBox::valueChanged, this, &GuardView::readSettings);
    return bar;
}

void GuardView::buildTable()
{
    m_view->setToolTip(tr("Click a row, or press Enter, to go to its step in the timeline"));
    auto* heading = m_view->horizontalHeader();
    heading->setSectionResizeMode(local, QHeaderView::Stretch);
    heading->setSectionResizeMode(group, QHeaderView::Stretch);
    m_view->installEventFilter(this);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &GuardView::showDetail);
}

// What happens tells more than what the guard looks at, which the tip of the layout says, too.
bool GuardView::eventFilter(QObject* object, QEvent* event)
{
    constexpr int roomForStack = grid(160);
    if (object == m_view && event->type() == QEvent::Resize) {
        m_view->setColumnHidden(stack, m_view->width() < roomForStack);
    }
    return QWidget::eventFilter(object, event);
}

void GuardView::setQuestion(const diagnose::GuardQuestion& question)
{
    m_question = question;
    choose(*m_layout, question.layout);
    choose(*m_scope, question.scope);
    const QSignalBlocker blocker(m_ranks);
    m_ranks->setValue(question.ranks.value_or(0));
}

void GuardView::readSettings()
{
    m_question.layout = chosen<probe::Layout>(*m_layout);
    m_question.scope = chosen<probe::GuardScope>(*m_scope);
    m_question.ranks = m_ranks->value() > 0 ? std::optional(m_ranks->value()) : std::nullopt;
    Q_EMIT questionChanged();
}

void GuardView::setAnswer(const WhatIfAnswer& answer)
{
    const int row = std::max(0, m_view->currentIndex().row());
    const int rows = m_model->rowCount();
    setWhatIf(answer.guard);
    const bool any = m_model->rowCount() > 0;
    m_below->setVisible(any);
    const auto& scope = answer.question.guard.scope;
    for (int column = local; column <= full; ++column) {
        m_view->setColumnHidden(column, scope && static_cast<int>(*scope) != column - local);
    }
    m_view->setColumnHidden(cause, std::ranges::count_if(m_whatIf.steps, diagnose::isCause) < 2);
    if (!answer.noGuard.empty()) {
        m_headline->setText(
            tr("%1: open a folder that holds those of all ranks").arg(sentenceCase(qstr(answer.noGuard))));
    } else {
        m_headline->setText(sentenceCase(qstr(diagnose::guardHeadline(answer.guard))));
    }
    if (any) {
        m_view->selectRow(std::min(row, m_model->rowCount() - 1));
        if (rows != m_model->rowCount()) {
            m_below->shareAgain();
        }
    }
    showDetail();
}

void GuardView::setWhatIf(diagnose::GuardWhatIf whatIf)
{
    m_model->setRows({}); // they point into the answer before
    m_whatIf = std::move(whatIf);
    std::vector<GuardRow> rows;
    for (const diagnose::GuardStep& step : m_whatIf.steps) {
        if (!diagnose::isCause(step)) {
            continue;
        }
        const std::size_t begin = rows.size();
        for (const diagnose::GuardOutcome& outcome : step.outcomes) {
            if (rows.size() == begin || rows.back().layout != outcome.layout) {
                rows.push_back({&step, outcome.layout});
            }
            rows.back().outcomes[static_cast<std::size_t>(outcome.scope)] = &outcome;
        }
        if (rows.size() == begin) {
            rows.push_back({&step});
        }
    }
    m_model->setRows(std::move(rows));
}

const diagnose::GuardStep* GuardView::stepAt(int row) const
{
    const GuardRow* found = m_model->rowAt(row);
    return found ? found->step : nullptr;
}

std::vector<FactSection> GuardView::sectionsOf(const diagnose::GuardStep* step) const
{
    std::vector<FactSection> sections;
    if (step) {
        sections.push_back({QString(), diagnose::guardRanks(*step)});
        sections.push_back({tr("What comes of it"), diagnose::guardAfter(*step)});
        std::ranges::move(diagnose::guardContaminated(m_whatIf), std::back_inserter(sections.back().facts));
    }
    sections.push_back({tr("Which layout"), diagnose::guardLayouts(m_whatIf)});
    if (diagnose::asksForLayout(m_whatIf)) {
        sections.back().facts.push_back({"hint", tr("neither captures nor logs tell; say it above").toStdString()});
    }
    sections.push_back({tr("Which guard"), diagnose::guardScopes()});
    sections.push_back({tr("Know that"), diagnose::guardNoteFacts(m_whatIf)});
    for (diagnose::AnswerFact& note : sections.back().facts) {
        note.label.clear();
    }
    return sections;
}

void GuardView::showDetail()
{
    const diagnose::GuardStep* step = stepAt(m_view->currentIndex().row());
    m_facts->setFacts(step ? titleOf(*step) : QString(), sectionsOf(step));
}

void GuardView::activate(int row)
{
    const diagnose::GuardStep* step = stepAt(row);
    if (step && step->step) {
        Q_EMIT factActivated({{}, diagnose::guardStepTitle(*step),
            step->captures.empty() ? std::string() : step->captures.front(), {}, step->step->first});
    }
}

QString GuardView::text() const
{
    QString text = m_headline->text() + QLatin1Char('\n');
    std::vector<int> rows(static_cast<std::size_t>(m_model->rowCount()));
    std::generate(rows.begin(), rows.end(), [row = 0]() mutable { return row++; });
    text += rows.empty() ? QString() : QLatin1Char('\n') + asTsv(tableOf(*m_model, rows));
    const diagnose::GuardStep* step = stepAt(m_view->currentIndex().row());
    return text + QLatin1Char('\n') + factsText(step ? titleOf(*step) : QString(), sectionsOf(step));
}

} // namespace nanscope
