// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/reportchoices.h"

#include <algorithm>

#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "core/report/redact/redaction.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

constexpr int choicesVersion = 1;
constexpr int kindRole = Qt::UserRole;
constexpr int valueRole = Qt::UserRole + 1;
const char* const hiddenText = "<redacted>";

enum Kind { kindText, kindSection, kindPictures, kindCapture };

QTreeWidgetItem* group(QTreeWidget& tree)
{
    auto* item = new QTreeWidgetItem(&tree);
    item->setFlags(Qt::ItemIsEnabled);
    item->setFirstColumnSpanned(true);
    item->setExpanded(true);
    QFont bold = tree.font();
    bold.setBold(true);
    item->setFont(0, bold);
    return item;
}

/// The box alone is easily overlooked.
void shade(QTreeWidgetItem& item)
{
    const bool ticked = item.checkState(0) == Qt::Checked;
    item.setForeground(0, ticked ? theme().text : theme().muted);
}

QTreeWidgetItem* row(QTreeWidgetItem& parent, const QString& text, Kind kind, const QVariant& value, bool ticked)
{
    auto* item = new QTreeWidgetItem(&parent, {text});
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    item->setCheckState(0, ticked ? Qt::Checked : Qt::Unchecked);
    item->setData(0, kindRole, kind);
    item->setData(0, valueRole, value);
    item->setToolTip(0, text);
    shade(*item);
    return item;
}

bool kept(const report::Redaction& redaction)
{
    return redaction.text == redaction.replacement;
}

auto entryOf(std::vector<report::Redaction>& all, const std::string& text)
{
    return std::ranges::find(all, text, &report::Redaction::text);
}

/// The user's own first, each with what became of it; then what the rules found.
std::vector<report::Redaction> shownTexts(
    const std::vector<report::Redaction>& own, std::vector<report::Redaction> made)
{
    std::vector<report::Redaction> shown = own;
    for (report::Redaction& redaction : shown) {
        const auto found = entryOf(made, redaction.text);
        redaction.count = found == made.end() ? 0 : found->count;
        if (found != made.end()) {
            made.erase(found);
        }
    }
    shown.insert(shown.end(), made.begin(), made.end());
    return shown;
}

} // namespace

QByteArray saveReportOptions(const report::BundleOptions& options)
{
    QJsonArray without;
    for (const report::ReportSection section : report::allReportSections()) {
        if (!options.report.sections.contains(section)) {
            without.append(qstr(report::name(section)));
        }
    }
    QJsonArray texts;
    for (const report::Redaction& redaction : options.report.redactions) {
        texts.append(QJsonObject {{QStringLiteral("text"), exactText(redaction.text)},
            {QStringLiteral("with"), exactText(redaction.replacement)}});
    }
    return QJsonDocument(QJsonObject {{QStringLiteral("version"), choicesVersion}, {QStringLiteral("without"), without},
                             {QStringLiteral("pictures"), options.report.figures}, {QStringLiteral("texts"), texts}})
        .toJson(QJsonDocument::Compact);
}

report::BundleOptions restoreReportOptions(const QByteArray& state)
{
    const QJsonObject saved = QJsonDocument::fromJson(state).object();
    report::BundleOptions options;
    if (saved[QStringLiteral("version")].toInt() != choicesVersion) {
        return options;
    }
    for (const QJsonValue value : saved[QStringLiteral("without")].toArray()) {
        if (const auto section = report::parseReportSection(value.toString().toStdString())) {
            options.report.sections.erase(*section);
        }
    }
    for (const QJsonValue value : saved[QStringLiteral("texts")].toArray()) {
        options.report.redactions.push_back({value[QStringLiteral("text")].toString().toStdString(),
            value[QStringLiteral("with")].toString().toStdString(), 0});
    }
    options.report.figures = saved[QStringLiteral("pictures")].toBool(true);
    return options;
}

ReportChoices::ReportChoices(QWidget* parent)
    : QWidget(parent)
    , m_tree(new QTreeWidget(this))
    , m_texts(group(*m_tree))
    , m_sections(group(*m_tree))
    , m_files(group(*m_tree))
    , m_field(new QLineEdit(this))
{
    m_tree->setColumnCount(2);
    m_tree->setHeaderHidden(true);
    m_tree->setIndentation(grid(3));
    m_tree->setRootIsDecorated(false);
    m_tree->setUniformRowHeights(true);
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_tree->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    m_tree->setAccessibleName(tr("What goes into the report"));
    m_field->setPlaceholderText(tr("Hide another text…"));
    m_field->setAccessibleName(tr("Text to hide"));
    m_field->setClearButtonEnabled(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, grid(2), 0);
    layout->setSpacing(grid(1));
    layout->addWidget(m_tree, 1);
    layout->addWidget(m_field);
    connect(m_tree, &QTreeWidget::itemChanged, this, &ReportChoices::onTicked);
    connect(m_field, &QLineEdit::returnPressed, this, [this] { hideText(m_field->text()); });
    fill();
    onThemeChange(*this, [this] { fill(); });
}

void ReportChoices::setOptions(const report::BundleOptions& options)
{
    m_options = options;
    fill();
}

void ReportChoices::setMade(std::vector<report::Redaction> made)
{
    m_made = std::move(made);
    const QSignalBlocker quietly(m_tree);
    fillTexts();
}

void ReportChoices::fill()
{
    const QSignalBlocker quietly(m_tree);
    fillTexts();
    fillSections();
    qDeleteAll(m_files->takeChildren());
    m_files->setText(0, tr("Files"));
    row(*m_files, tr("Pictures"), kindPictures, {}, m_options.report.figures);
    row(*m_files, tr("Capture in the bundle"), kindCapture, {}, m_options.capture)
        ->setToolTip(0, tr("Its tensors may be private: momentum is made from data. They cannot be redacted"));
}

void ReportChoices::fillTexts()
{
    qDeleteAll(m_texts->takeChildren());
    for (const report::Redaction& redaction : shownTexts(m_options.report.redactions, m_made)) {
        const QString text = qstr(redaction.text);
        auto* item = row(*m_texts, text, kindText, text, !kept(redaction));
        item->setText(1,
            kept(redaction) ? tr("kept")
                            : QStringLiteral("%1 ×%2").arg(qstr(redaction.replacement)).arg(redaction.count));
        item->setForeground(1, theme().muted);
        item->setToolTip(0,
            redaction.replacement == report::suspicionText
                ? tr("%1: looks like a key; untick it if it is none").arg(text)
                : tr("%1: untick to leave it in").arg(text));
    }
    m_texts->setText(0, m_texts->childCount() > 0 ? tr("Hidden texts") : tr("Hidden texts: none found"));
}

void ReportChoices::fillSections()
{
    qDeleteAll(m_sections->takeChildren());
    m_sections->setText(0, tr("Sections"));
    for (const report::ReportSection section : report::allReportSections()) {
        row(*m_sections, qstr(report::title(section)), kindSection, static_cast<int>(section),
            m_options.report.sections.contains(section))
            ->setFirstColumnSpanned(true);
    }
}

void ReportChoices::hideText(const QString& text)
{
    const QString trimmed = text.trimmed();
    if (!trimmed.isEmpty()) {
        m_field->clear();
        setHidden(trimmed, true);
    }
}

void ReportChoices::setHidden(const QString& text, bool hidden)
{
    auto& own = m_options.report.redactions;
    const std::string words = text.toStdString();
    const auto found = entryOf(own, words);
    const bool byRule = found == own.end() && entryOf(m_made, words) != m_made.end();
    if (found != own.end()) {
        if (!kept(*found)) {
            std::erase_if(m_made, [&](const report::Redaction& redaction) { return redaction.text == words; });
        }
        own.erase(found);
    }
    if (hidden ? entryOf(m_made, words) == m_made.end() : byRule) {
        own.push_back({words, hidden ? hiddenText : words, 0});
    }
    fill();
    Q_EMIT optionsChanged();
}

void ReportChoices::onTicked(QTreeWidgetItem* item)
{
    const bool ticked = item->checkState(0) == Qt::Checked;
    {
        const QSignalBlocker quietly(m_tree);
        shade(*item);
    }
    switch (item->data(0, kindRole).toInt()) {
    case kindText:
        // The row itself goes with the old list, which must outlive the tick.
        QMetaObject::invokeMethod(
            this, [this, text = item->data(0, valueRole).toString(), ticked] { setHidden(text, ticked); },
            Qt::QueuedConnection);
        return;
    case kindSection: {
        const auto section = static_cast<report::ReportSection>(item->data(0, valueRole).toInt());
        if (ticked) {
            m_options.report.sections.insert(section);
        } else {
            m_options.report.sections.erase(section);
        }
        break;
    }
    case kindPictures:
        m_options.report.figures = ticked;
        break;
    case kindCapture:
        m_options.capture = ticked;
        break;
    }
    Q_EMIT optionsChanged();
}

} // namespace nanscope
