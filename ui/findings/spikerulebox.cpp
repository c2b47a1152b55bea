// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/findings/spikerulebox.h"

#include <algorithm>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>

#include "core/diagnose/findings/spikerules.h"
#include "ui/shared/text.h"
#include "ui/shared/theme.h"

namespace nanscope {

namespace {

QString sourceOf(const diagnose::cards::SpikeRule& rule)
{
    return plainTip(sentenceCase(qstr(rule.text)));
}

} // namespace

SpikeRuleBox::SpikeRuleBox(QWidget* parent)
    : QWidget(parent)
    , m_box(new QComboBox(this))
{
    auto* label = new QLabel(tr("Loss spikes by"), this);
    label->setBuddy(m_box);
    for (const diagnose::cards::SpikeRule& rule : diagnose::cards::spikeRules()) {
        const bool byDefault = &rule == &diagnose::cards::defaultSpikeRule();
        m_box->addItem(qstr(rule.name), byDefault ? QString() : qstr(rule.name));
        m_box->setItemData(m_box->count() - 1, sourceOf(rule), Qt::ToolTipRole);
    }
    m_box->setAccessibleName(label->text());
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid(1) + 2);
    layout->addWidget(label);
    layout->addWidget(m_box);
    connect(m_box, &QComboBox::currentIndexChanged, this, [this] {
        showSource();
        Q_EMIT ruleChosen();
    });
    showSource();
}

void SpikeRuleBox::setRule(const std::string& name)
{
    const QSignalBlocker quiet(m_box);
    m_box->setCurrentIndex(std::max(0, m_box->findData(qstr(name))));
    showSource();
}

std::string SpikeRuleBox::rule() const
{
    return m_box->currentData().toString().toStdString();
}

void SpikeRuleBox::showSource()
{
    m_box->setToolTip(m_box->currentData(Qt::ToolTipRole).toString());
}

} // namespace nanscope
