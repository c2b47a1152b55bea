// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/findingspane.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QTableView>
#include <QTextBrowser>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/models/findingmodel.h"
#include "ui/panes/advisorylines.h"
#include "ui/panes/newestlabel.h"
#include "ui/panes/rowtable.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

QString html(const std::string& text)
{
    return qstr(text).toHtmlEscaped();
}

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
            line.line > 0 ? QStringLiteral("%1:%2").arg(html(line.file)).arg(line.line) : html(line.file);
        lines += QStringLiteral("<p style='margin:4px 0'><a style='color:%1' href='%2'>%3</a><br>%4</p>")
                     .arg(theme().accent.name())
                     .arg(i)
                     .arg(place, html(line.text));
    }
    return lines;
}

QString adviceHtml(const Finding& finding)
{
    QString items;
    for (const std::string& advice : finding.advice) {
        items += QStringLiteral("<li>%1</li>").arg(html(advice));
    }
    return items.isEmpty() ? items : QStringLiteral("<ul style='margin:4px 0 4px 16px'>%1</ul>").arg(items);
}

QString detailHtml(const Finding& finding)
{
    QString text = QStringLiteral("<p style='margin:0 0 4px 0'><b>%1</b></p>").arg(html(finding.title));
    if (!finding.reason.empty()) {
        text += QStringLiteral("<p style='margin:4px 0'>%1</p>").arg(sentenceCase(html(finding.reason)));
    }
    text += evidenceHtml(finding) + adviceHtml(finding);
    if (!finding.threshold.empty()) {
        text += QStringLiteral("<p style='margin:4px 0'>%1</p>")
                    .arg(muted(FindingsPane::tr("Rule: %1").arg(html(finding.threshold))));
    }
    return text;
}

} // namespace

FindingsPane::FindingsPane(QWidget* parent)
    : PaneFrame(tr("Findings"), parent)
    , m_model(new FindingModel(this))
    , m_view(makeRowTable(this, m_model, tr("Findings")))
    , m_detail(new QTextBrowser(this))
    , m_newest(makeNewestLabel(this))
    , m_advisories(new AdvisoryLines(this))
{
    buildView();
    m_detail->setAccessibleName(tr("Evidence and advice of the selected finding"));
    m_detail->setOpenLinks(false);
    m_detail->setFrameShape(QFrame::NoFrame);
    header()->addWidget(buildChips());
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_view);
    splitter->addWidget(m_detail);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    body()->addWidget(m_newest);
    body()->addWidget(m_advisories);
    body()->addWidget(splitter, 1);
    connect(m_detail, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
        const Finding* finding = m_model->findingAt(m_view->currentIndex().row());
        const auto number = link.toString().toUInt();
        if (finding && number < finding->evidence.size()) {
            Q_EMIT evidenceActivated(qstr(finding->evidence[number].file), finding->evidence[number].line);
        }
    });
    setFindings({});
}

void FindingsPane::buildView()
{
    m_view->horizontalHeader()->setSectionResizeMode(FindingModel::title, QHeaderView::Stretch);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FindingsPane::showDetail);
}

QWidget* FindingsPane::buildChips()
{
    auto* chips = new QWidget(this);
    auto* layout = new QHBoxLayout(chips);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(2));
    for (const auto& [state, tip] : {std::pair(FindingState::fired, tr("Show what the logs give evidence of")),
             std::pair(FindingState::notCheckable, tr("Show what this data cannot show, and what is missing for it")),
             std::pair(FindingState::clear, tr("Show what was looked for and is not there")),
             std::pair(FindingState::silenced, tr("Show what you did not want to hear of"))}) {
        auto* button = new QToolButton(chips);
        button->setObjectName(QStringLiteral("chip"));
        button->setCheckable(true);
        button->setChecked(state == FindingState::fired);
        button->setToolTip(tip);
        layout->addWidget(button);
        m_chips.push_back({state, button});
        connect(button, &QToolButton::toggled, this, &FindingsPane::showChosenStates);
    }
    return chips;
}

QToolButton* FindingsPane::chip(FindingState state)
{
    return std::ranges::find(m_chips, state, &Chip::state)->button;
}

void FindingsPane::setFindings(const std::vector<Finding>& findings, const std::optional<std::int64_t>& newest)
{
    showNewest(*m_newest, newest);
    const Finding* shown = m_model->findingAt(m_view->currentIndex().row());
    const QString id = shown ? qstr(shown->id) : QString();
    m_model->setFindings(findings);
    updateCounts();
    const int row = m_model->rowOf(id);
    row >= 0 ? m_view->selectRow(row) : selectFirst();
}

void FindingsPane::updateCounts()
{
    for (const Chip& chip : m_chips) {
        const int count = m_model->count(chip.state);
        chip.button->setText(QStringLiteral("%1 %2").arg(count).arg(findingStateWord(chip.state)));
        chip.button->setAccessibleName(chip.button->text());
        chip.button->setVisible(count > 0 || chip.state != FindingState::silenced);
        chip.button->setEnabled(count > 0);
    }
}

void FindingsPane::showChosenStates()
{
    std::set<FindingState> states;
    for (const Chip& chip : m_chips) {
        if (chip.button->isChecked()) {
            states.insert(chip.state);
        }
    }
    m_model->setShown(std::move(states));
    selectFirst();
}

void FindingsPane::selectFirst()
{
    if (m_model->rowCount() > 0) {
        m_view->selectRow(0);
    }
    showDetail();
}

void FindingsPane::showDetail()
{
    const Finding* finding = m_model->findingAt(m_view->currentIndex().row());
    if (finding) {
        m_detail->setHtml(detailHtml(*finding));
        return;
    }
    const bool judged = m_model->count(FindingState::clear) + m_model->count(FindingState::notCheckable) > 0;
    m_detail->setHtml(muted(judged ? tr("Nothing fired. The buttons above show what was looked for.")
                                   : tr("What the logs tell besides the captures stands here once they are judged.")));
}

void FindingsPane::changeEvent(QEvent* event)
{
    if (isThemeChange(event)) {
        showDetail();
    }
    PaneFrame::changeEvent(event);
}

} // namespace nanscope
