// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/parts/devicemenu.h"

#include <QAction>
#include <QMenu>

#include "ui/jobs/replayservice.h"
#include "ui/shared/text.h"

namespace nanscope {

DeviceMenu::DeviceMenu(const ReplayService& service, QWidget* parent)
    : QToolButton(parent)
    , m_service(service)
    , m_menu(new QMenu(this))
{
    connect(m_menu, &QMenu::aboutToShow, this, &DeviceMenu::fill);
    setObjectName(QStringLiteral("devices"));
    setPopupMode(QToolButton::InstantPopup);
    setToolButtonStyle(Qt::ToolButtonTextOnly);
    setFocusPolicy(Qt::StrongFocus);
    setMenu(m_menu);
    setToolTip(tr("What everything is replayed on"));
    setWhatsThis(tr("What everything is replayed on: every GPU that the worker finds, or the CPU. With several "
                    "ticked, a sweep replays every cell on each of them, and the table has a row for each. Films, "
                    "verdicts and instruments use the first. A run that is judged before the worker has answered is "
                    "judged on the CPU; Rescan judges it again."));
}

void DeviceMenu::showChosen()
{
    const QStringList chosen = m_service.chosenDevices();
    const QString names = chosen.size() > 2 ? tr("%1 devices").arg(chosen.size()) : chosen.join(tr(" and "));
    setText(tr("Device: %1").arg(names));
    setAccessibleName(text());
}

void DeviceMenu::fill()
{
    m_menu->clear();
    const QStringList chosen = m_service.chosenDevices();
    for (const ReplayDevice& device : m_service.devices()) {
        QAction* action = m_menu->addAction(
            device.hardware.isEmpty() ? device.name : tr("%1 · %2").arg(device.name, device.hardware));
        action->setData(device.name);
        action->setCheckable(true);
        action->setChecked(chosen.contains(device.name));
        action->setToolTip(tr("Replay on %1").arg(device.name));
        connect(action, &QAction::toggled, this, &DeviceMenu::onTicked);
    }
    if (m_service.devices().empty()) {
        addNote(m_service.description());
    }
    for (const QString& note : m_service.notes()) {
        addNote(note);
    }
}

void DeviceMenu::addNote(const QString& note)
{
    QAction* said = m_menu->addAction(sentenceCase(note));
    said->setEnabled(false);
}

void DeviceMenu::onTicked()
{
    QStringList ticked;
    for (const QAction* action : m_menu->actions()) {
        if (action->isChecked()) {
            ticked << action->data().toString();
        }
    }
    Q_EMIT devicesChosen(ticked);
}

} // namespace nanscope
