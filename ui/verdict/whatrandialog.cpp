// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/verdict/whatrandialog.h"

#include <optional>

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "core/diagnose/rejudge.h"
#include "core/model/dtype.h"
#include "core/replay/variants/variantname.h"
#include "ui/shared/answerparts.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

/// A list of numbers to type into, which begins with what leaves the variant's own.
QComboBox* makeNumberChoice(const QString& hint, const QString& tip, QWidget* parent)
{
    auto* choice = new QComboBox(parent);
    choice->addItem(WhatRanDialog::tr("As published"));
    choice->setEditable(true);
    choice->setInsertPolicy(QComboBox::NoInsert);
    choice->lineEdit()->setPlaceholderText(hint);
    choice->setToolTip(tip);
    return choice;
}

/// None where an item without a number is chosen.
std::optional<QString> numberOf(const QComboBox& choice)
{
    const int item = choice.findText(choice.currentText());
    const QString text = item < 0 ? choice.currentText().trimmed() : choice.itemData(item).toString();
    return item < 0 || !text.isEmpty() ? std::optional(text) : std::nullopt;
}

} // namespace

WhatRanDialog::WhatRanDialog(
    const replay::Catalogue& catalogue, const QStringList& plausible, const QStringList& said, QWidget* parent)
    : QDialog(parent)
    , m_catalogue(catalogue)
    , m_said(said)
    , m_variant(new QComboBox(this))
    , m_format(new QComboBox(this))
    , m_steps(makeNumberChoice(tr("A number, as 6"),
          tr("How many steps the function makes: as published, or a number that you type. With other coefficients: "
             "5xdion-ns5 for those of dion-ns5, 5x2_-1.5_0.5 for these three in every step, which + joins"),
          this))
    , m_epsilon(makeNumberChoice(tr("A number, as 1e-7"),
          tr("What the function adds to the norm, or divides by at least: as published, none, or a number that you "
             "type"),
          this))
    , m_besides(new QCheckBox(tr("%1 may have run, &too").arg(said.join(tr(" or "))), this))
    , m_note(makeWrappedLabel(this, "muted"))
{
    setWindowTitle(tr("What ran?"));
    setAttribute(Qt::WA_DeleteOnClose);
    fillVariants(plausible);
    m_format->addItem(tr("As published, or not known"));
    for (const Precision precision : allPrecisions()) {
        m_format->addItem(qstr(name(precision)), qstr(name(precision)));
    }
    m_epsilon->addItem(tr("None"), QStringLiteral("0"));
    m_format->setToolTip(tr("The format that the iteration computes in"));
    m_besides->setVisible(!said.isEmpty());
    auto* form = new QFormLayout;
    form->setSpacing(grid(2));
    form->addRow(tr("&Function"), m_variant);
    form->addRow(tr("For&mat"), m_format);
    form->addRow(tr("&Steps"), m_steps);
    form->addRow(tr("&Epsilon"), m_epsilon);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_judge = buttons->addButton(tr("&Judge again"), QDialogButtonBox::AcceptRole);
    auto* unknown = buttons->addButton(tr("I &do not know"), QDialogButtonBox::ResetRole);
    unknown->setToolTip(tr("Takes back what was said to have run"));
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(grid(2));
    layout->addLayout(form);
    layout->addWidget(m_besides);
    layout->addWidget(m_note);
    layout->addStretch(1);
    layout->addWidget(buttons);
    for (QComboBox* choice : {m_variant, m_format, m_steps, m_epsilon}) {
        connect(choice, &QComboBox::currentTextChanged, this, &WhatRanDialog::showChoice);
    }
    connect(m_besides, &QCheckBox::toggled, this, &WhatRanDialog::showChoice);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, this, [this] {
        Q_EMIT answered(answer());
        accept();
    });
    connect(unknown, &QPushButton::clicked, this, [this] {
        Q_EMIT answered({});
        accept();
    });
    showChoice();
    resize(grid(110), sizeHint().height());
}

void WhatRanDialog::fillVariants(const QStringList& plausible)
{
    QStringList names;
    for (const QString& variant : plausible) {
        names << qstr(std::string(replay::withoutEpsilon(variant.toStdString())));
    }
    for (const replay::Variant* variant : m_catalogue.all()) {
        names << qstr(variant->name);
    }
    names.removeDuplicates();
    m_variant->addItems(names);
    m_variant->setEditable(true);
    m_variant->setInsertPolicy(QComboBox::NoInsert);
    m_variant->completer()->setFilterMode(Qt::MatchContains);
    m_variant->completer()->setCompletionMode(QCompleter::PopupCompletion);
    m_variant->setToolTip(tr("The plausible ones come first; type a part of a name to find it"));
}

void WhatRanDialog::askEpsilon()
{
    m_epsilon->setFocus();
    m_epsilon->clearEditText();
}

QString WhatRanDialog::wordsOfChoice() const
{
    QString words = m_variant->currentText().trimmed();
    if (const auto steps = numberOf(*m_steps)) {
        words += (steps->contains(QLatin1Char('x')) ? QStringLiteral("@%1") : QStringLiteral("@%1x")).arg(*steps);
    }
    if (const auto epsilon = numberOf(*m_epsilon)) {
        words += QLatin1Char('@') + *epsilon;
    }
    const QString format = m_format->currentData().toString();
    return format.isEmpty() ? words : QStringLiteral("%1:%2").arg(words, format);
}

QStringList WhatRanDialog::answer() const
{
    const QString words = wordsOfChoice();
    if (!diagnose::checkRan(words.toStdString(), m_catalogue)) {
        return {};
    }
    QStringList said = m_besides->isChecked() ? m_said : QStringList();
    said.removeAll(words);
    return said << words;
}

void WhatRanDialog::showChoice()
{
    const auto usable = diagnose::checkRan(wordsOfChoice().toStdString(), m_catalogue);
    m_judge->setEnabled(usable.has_value());
    m_note->setText(usable
            ? tr("Replays %1 and judges every capture of this run again. A sidecar that names its function is believed "
                 "first. A function of your own that is none of these: File ▸ Add to this run ▸ Own variants…")
                  .arg(answer().join(tr(" or ")))
            : sentenceCase(qstr(usable.error().what)));
}

} // namespace nanscope
