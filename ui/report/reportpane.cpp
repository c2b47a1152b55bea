// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/reportpane.h"

#include <utility>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>

#include "core/base/text.h"
#include "core/report/render/markdown.h"
#include "ui/report/reportchoices.h"
#include "ui/report/reportview.h"
#include "ui/shared/followlink.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

ReportPane::ReportPane(QWidget* parent)
    : PaneFrame(tr("Report"), parent)
    , m_view(new ReportView(this))
    , m_choices(new ReportChoices(this))
    , m_looks(new QComboBox(this))
    , m_size(new ElidedLabel(this))
{
    m_looks->addItem(tr("As an issue"), rendered);
    m_looks->addItem(tr("As an issue, source"), source);
    m_looks->addItem(tr("As a file with pictures"), withPictures);
    m_looks->setAccessibleName(tr("What the preview shows"));
    m_looks->setToolTip(tr("The body of an issue cannot hold the pictures; files can"));
    header()->addWidget(m_looks);
    auto* split = new QSplitter(Qt::Horizontal);
    split->setChildrenCollapsible(false);
    split->setHandleWidth(grid(2));
    split->addWidget(m_view);
    split->addWidget(m_choices);
    split->setStretchFactor(0, 5);
    split->setStretchFactor(1, 3);
    body()->addWidget(split, 1);
    body()->addWidget(buildButtons());
    connect(m_looks, &QComboBox::currentIndexChanged, this, &ReportPane::showPreview);
    connect(m_view, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) { askToFollow(link, this); });
    connect(m_choices, &ReportChoices::optionsChanged, this, [this] { Q_EMIT optionsChanged(m_choices->options()); });
    showMessage({});
}

QWidget* ReportPane::buildButtons()
{
    auto* bar = new QWidget;
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(grid(3), grid(1), grid(3), grid(2));
    layout->setSpacing(grid(2));
    m_size->setObjectName(QStringLiteral("muted"));
    layout->addWidget(m_size, 1);
    const auto add = [&](const QString& text, const QString& tip, void (ReportPane::*requested)()) {
        auto* button = new QPushButton(text);
        button->setToolTip(tip);
        connect(button, &QPushButton::clicked, this, requested);
        layout->addWidget(button);
        m_buttons.push_back(button);
    };
    add(tr("Copy as issue text"), tr("Put what the preview shows into the clipboard"), &ReportPane::copyRequested);
    add(tr("Save…"), tr("Markdown with its pictures, one web page, or JSON"), &ReportPane::saveRequested);
    add(tr("Save bundle…"), tr("One zip of at most 25 MB that holds all of them"), &ReportPane::bundleRequested);
    m_cancel = new QPushButton(tr("Cancel saving"));
    m_cancel->setToolTip(tr("Write nothing; looking for the smallest capture takes up to a minute (Ctrl+.)"));
    m_cancel->hide();
    connect(m_cancel, &QPushButton::clicked, this, &ReportPane::cancelRequested);
    layout->addWidget(m_cancel);
    return bar;
}

// The way back stands where the way there was, and takes the focus with it.
void ReportPane::setSaving(bool saving)
{
    if (std::exchange(m_saving, saving) == saving) {
        return;
    }
    QPushButton* bundle = m_buttons.back();
    QPushButton* leaving = saving ? bundle : m_cancel;
    QPushButton* coming = saving ? m_cancel : bundle;
    const bool focus = leaving->hasFocus();
    coming->show();
    enableButtons();
    if (focus) {
        coming->setFocus();
    }
    leaving->hide();
}

void ReportPane::enableButtons()
{
    for (QPushButton* button : m_buttons) {
        button->setEnabled(m_preview != nullptr && (!m_saving || button == m_buttons.front()));
    }
}

void ReportPane::setOptions(const report::BundleOptions& options)
{
    m_choices->setOptions(options);
}

void ReportPane::setPreview(std::shared_ptr<const ReportPreview> preview)
{
    m_preview = std::move(preview);
    m_choices->setMade(m_preview->redactions);
    showPreview();
}

void ReportPane::showMessage(const QString& message)
{
    m_preview.reset();
    m_view->showSource(message.toStdString());
    showPreview();
}

void ReportPane::showPreview()
{
    enableButtons();
    setNote(m_preview && !m_preview->about.empty() ? tr("About %1").arg(qstr(m_preview->about)) : QString());
    m_size->setFullText(m_preview ? tr("%1 of %2 characters that an issue holds")
                                        .arg(countLabel(static_cast<std::int64_t>(textWidth(m_preview->issue))),
                                            countLabel(static_cast<std::int64_t>(report::maxReportCharacters)))
                                  : QString());
    if (!m_preview) {
        return;
    }
    switch (m_looks->currentData().toInt()) {
    case source:
        m_view->showSource(m_preview->issue);
        break;
    case withPictures:
        m_view->showRendered(m_preview->files);
        break;
    default:
        m_view->showRendered(std::vector<report::ReportFile> {{std::string(), m_preview->issue}});
    }
}

} // namespace nanscope
