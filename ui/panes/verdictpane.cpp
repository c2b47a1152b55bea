// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panes/verdictpane.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/panes/elidedlabel.h"
#include "ui/panes/marklabel.h"
#include "ui/text.h"
#include "ui/theme.h"

namespace nanscope {

namespace {

QString rowHtml(const QString& text, const QString& source)
{
    return QStringLiteral("<tr><td style='padding:1px 16px 1px 0; color:%1; white-space:nowrap'>%2</td><td "
                          "style='padding:1px 0'>%3</td></tr>")
        .arg(theme().muted.name(), source.toHtmlEscaped(), text.toHtmlEscaped());
}

QString evidenceHtml(const std::vector<EvidenceLine>& lines)
{
    QString rows;
    for (const EvidenceLine& line : lines) {
        rows += rowHtml(qstr(line.text), qstr(line.source));
    }
    return QStringLiteral("<table cellspacing='0'>%1</table>").arg(rows);
}

QString nextHtml(const std::vector<std::string>& lines)
{
    QString rows;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        rows += QStringLiteral(
            "<tr><td style='padding:1px 8px 1px 0; color:%1'>%2</td><td style='padding:1px 0'>%3</td></tr>")
                    .arg(theme().muted.name(), QString::number(i + 1), qstr(lines[i]).toHtmlEscaped());
    }
    return QStringLiteral("<table cellspacing='0'>%1</table>").arg(rows);
}

QLabel* wrappedLabel(QWidget* parent, const char* objectName)
{
    auto* label = new QLabel(parent);
    label->setObjectName(QLatin1String(objectName));
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    return label;
}

} // namespace

VerdictPane::VerdictPane(QWidget* parent)
    : QFrame(parent)
{
    setObjectName(QStringLiteral("pane"));
    setAccessibleName(tr("Verdict"));
    m_summary = wrappedLabel(this, "summary");
    m_question = wrappedLabel(this, "question");
    m_list = new QTextBrowser(this);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setAccessibleName(tr("Evidence"));
    m_list->setOpenLinks(false);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->document()->setDocumentMargin(2);
    m_list->viewport()->setAutoFillBackground(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(grid(3), grid(3), grid(3), grid(2));
    layout->setSpacing(grid(1) + 2);
    m_place = new ElidedLabel(this);
    m_place->setObjectName(QStringLiteral("muted"));
    layout->addWidget(buildHeader());
    layout->addWidget(m_place);
    layout->addWidget(m_summary);
    layout->addWidget(m_question);
    layout->addWidget(buildChips());
    layout->addWidget(m_list);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    styleChips();
    showMessage(QString(), QString());
}

QWidget* VerdictPane::buildHeader()
{
    auto* row = new QWidget(this);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(2));
    m_mark = new MarkLabel(row);
    m_headline = new QLabel(row);
    m_headline->setObjectName(QStringLiteral("headline"));
    m_headline->setTextFormat(Qt::PlainText);
    m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.35);
    large.setBold(true);
    m_headline->setFont(large);
    m_cause = new QPushButton(tr("Show the birth"), row);
    m_cause->setToolTip(tr("Select the capture this one descends from"));
    layout->addWidget(m_mark, 0, Qt::AlignVCenter);
    layout->addWidget(m_headline, 1);
    layout->addWidget(m_cause);
    connect(m_cause, &QPushButton::clicked, this, &VerdictPane::causeRequested);
    return row;
}

QWidget* VerdictPane::buildChips()
{
    m_chipRow = new QWidget(this);
    auto* layout = new QHBoxLayout(m_chipRow);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(2));
    addChip(layout, List::speaksFor, tr("What speaks for this verdict"));
    addChip(layout, List::speaksAgainst, tr("What speaks against it"));
    addChip(layout, List::notTestable, tr("What this capture cannot show"));
    addChip(layout, List::next, tr("Experiments that would tell most"));
    layout->addStretch(1);
    m_ran = new QToolButton(m_chipRow);
    m_ran->setObjectName(QStringLiteral("quiet"));
    m_ran->setText(tr("What ran? ▾"));
    m_ran->setToolTip(tr("Say which variant your training ran; the verdict is judged again at once"));
    m_ran->setPopupMode(QToolButton::InstantPopup);
    m_ranMenu = new QMenu(m_ran);
    m_ran->setMenu(m_ranMenu);
    layout->addWidget(m_ran);
    m_copy = new QPushButton(tr("Copy as issue text"), m_chipRow);
    m_copy->setToolTip(tr("Put the report into the clipboard, ready for an issue (Ctrl+Shift+C)"));
    layout->addWidget(m_copy);
    connect(m_copy, &QPushButton::clicked, this, &VerdictPane::copyRequested);
    return m_chipRow;
}

void VerdictPane::addChip(QLayout* layout, List list, const QString& toolTip)
{
    auto* button = new QToolButton(m_chipRow);
    button->setObjectName(QStringLiteral("chip"));
    button->setCheckable(true);
    button->setToolTip(toolTip);
    layout->addWidget(button);
    m_chips.push_back({list, button});
    connect(
        button, &QToolButton::clicked, this, [this, list](bool checked) { setOpenList(checked ? list : List::none); });
}

void VerdictPane::setChip(List list, const QString& text, bool enabled)
{
    const auto chip = std::ranges::find(m_chips, list, &ChipInfo::list);
    chip->button->setText(text);
    chip->button->setAccessibleName(text);
    chip->button->setEnabled(enabled);
}

void VerdictPane::styleChips()
{
    const std::pair<List, QColor> rims[] = {{List::speaksFor, theme().good}, {List::speaksAgainst, theme().warning},
        {List::notTestable, theme().muted}, {List::next, theme().accent}};
    for (const auto& [list, color] : rims) {
        const auto chip = std::ranges::find(m_chips, list, &ChipInfo::list);
        const QString sheet = QStringLiteral("QToolButton#chip:enabled { border-color: %1; }").arg(color.name());
        if (chip->button->styleSheet() != sheet) {
            chip->button->setStyleSheet(sheet);
        }
    }
}

void VerdictPane::showVerdict(const Capture& capture, const CaptureVerdict& verdict)
{
    m_verdict = verdict;
    m_mark->setRole(static_cast<int>(verdict.role));
    m_headline->setText(blameHeadline(verdict));
    const bool follows = verdict.role == Role::downstream;
    const QString place = placeSentence(capture, verdict);
    m_place->setFullText(
        follows ? place : QStringLiteral("%1 · %2").arg(place, identificationSentence(verdict.variant)));
    m_place->show();
    m_summary->setText(sentenceCase(qstr(verdict.summary)));
    m_summary->setVisible(!verdict.summary.empty());
    m_question->setText(sentenceCase(qstr(verdict.question)));
    m_question->setVisible(!verdict.question.empty());
    m_ran->setVisible(!follows);
    m_cause->setVisible(!verdict.causedBy.empty());
    setChip(List::speaksFor, tr("for %1").arg(verdict.speaksFor.size()), !verdict.speaksFor.empty());
    setChip(List::speaksAgainst, tr("against %1").arg(verdict.speaksAgainst.size()), !verdict.speaksAgainst.empty());
    setChip(List::notTestable, tr("not testable %1").arg(verdict.notTestable.size()), !verdict.notTestable.empty());
    setChip(List::next, tr("what to try next %1").arg(verdict.next.size()), !verdict.next.empty());
    m_chipRow->setVisible(std::ranges::any_of(m_chips, [](const ChipInfo& chip) { return chip.button->isEnabled(); }));
    fillList();
}

void VerdictPane::showMessage(const QString& headline, const QString& text)
{
    m_verdict.reset();
    m_mark->setRole(-1);
    m_headline->setText(headline);
    m_place->hide();
    m_summary->setText(text);
    m_summary->setVisible(!text.isEmpty());
    m_question->hide();
    m_chipRow->hide();
    m_cause->hide();
    fillList();
}

void VerdictPane::setOpenList(List list)
{
    m_open = list;
    fillList();
}

void VerdictPane::fillList()
{
    QString html;
    if (m_verdict) {
        const std::pair<List, QString> lists[] = {
            {List::speaksFor, m_verdict->speaksFor.empty() ? QString() : evidenceHtml(m_verdict->speaksFor)},
            {List::speaksAgainst,
                m_verdict->speaksAgainst.empty() ? QString() : evidenceHtml(m_verdict->speaksAgainst)},
            {List::notTestable, m_verdict->notTestable.empty() ? QString() : evidenceHtml(m_verdict->notTestable)},
            {List::next, m_verdict->next.empty() ? QString() : nextHtml(m_verdict->next)}};
        const auto shown = std::ranges::find(lists, m_open, &std::pair<List, QString>::first);
        html = shown == std::end(lists) ? QString() : shown->second;
    }
    for (const ChipInfo& chip : m_chips) {
        chip.button->setChecked(chip.list == m_open && !html.isEmpty());
    }
    m_list->setHtml(html);
    m_list->setVisible(!html.isEmpty());
    fitList();
}

void VerdictPane::fitList()
{
    if (!m_list->isVisibleTo(this)) {
        return;
    }
    // Whole lines, and fewer in a low window: the matrices below need the height more.
    const int line = fontMetrics().height() + 2;
    const int mostLines = std::clamp((window()->height() - 620) / 36, 3, 8);
    m_list->document()->setTextWidth(width() - grid(6) - 4);
    m_list->setFixedHeight(std::min(mostLines * line + 4, static_cast<int>(m_list->document()->size().height()) + 2));
}

void VerdictPane::setRan(const QStringList& variants, const QStringList& ticked)
{
    m_ranMenu->clear();
    for (const QString& variant : variants) {
        QAction* action = m_ranMenu->addAction(variant);
        action->setCheckable(true);
        action->setChecked(ticked.contains(variant));
        connect(action, &QAction::triggered, this, &VerdictPane::collectRan);
    }
    m_ranMenu->addSeparator();
    connect(m_ranMenu->addAction(tr("I do not know")), &QAction::triggered, this, [this] { Q_EMIT ranChanged({}); });
}

void VerdictPane::collectRan()
{
    QStringList ticked;
    for (const QAction* action : m_ranMenu->actions()) {
        if (action->isChecked()) {
            ticked << action->text();
        }
    }
    Q_EMIT ranChanged(ticked);
}

QString VerdictPane::headline() const
{
    return m_headline->text();
}

QString VerdictPane::listText() const
{
    return m_list->toPlainText();
}

void VerdictPane::changeEvent(QEvent* event)
{
    if (isThemeChange(event) && m_list) {
        styleChips();
        fillList();
    }
    QFrame::changeEvent(event);
}

void VerdictPane::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    fitList();
}

} // namespace nanscope
