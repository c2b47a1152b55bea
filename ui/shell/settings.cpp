// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/settings.h"

#include <QSettings>

#include "ui/shared/text.h"

namespace nanscope {

namespace {

QStringList listOf(const std::vector<std::string>& strings)
{
    QStringList list;
    for (const std::string& text : strings) {
        list << exactText(text);
    }
    return list;
}

} // namespace

QString WindowSettings::keyIn(const char* group, const QString& name)
{
    return QStringLiteral("%1/%2").arg(QLatin1String(group), QString::fromLatin1(name.toUtf8().toHex()));
}

QString WindowSettings::layoutKey(const char* name)
{
    return QStringLiteral("%1/%2").arg(QLatin1String(windowLayout), QLatin1String(name));
}

QVariant WindowSettings::value(const QString& key) const
{
    return m_enabled ? QSettings().value(key) : QVariant();
}

void WindowSettings::setValue(const QString& key, const QVariant& value)
{
    if (value.toString().isEmpty() && value.toStringList().isEmpty()) {
        remove(key);
    } else if (m_enabled && this->value(key) != value) {
        QSettings().setValue(key, value);
    }
}

void WindowSettings::remove(const QString& key)
{
    if (m_enabled) {
        QSettings().remove(key);
    }
}

ThemeChoice WindowSettings::theme() const
{
    return parseThemeChoice(value(QStringLiteral("theme")).toString()).value_or(ThemeChoice::system);
}

void WindowSettings::addRecent(const QString& path)
{
    constexpr qsizetype most = 10;
    QStringList paths = recent();
    paths.removeAll(path);
    paths.prepend(path);
    setValue(QStringLiteral("recent"), QStringList(paths.first(std::min(paths.size(), most))));
}

void WindowSettings::removeRecent(const QString& path)
{
    QStringList paths = recent();
    paths.removeAll(path);
    setValue(QStringLiteral("recent"), paths);
}

void WindowSettings::setPinned(const QString& path, bool pinned)
{
    QStringList paths = this->pinned();
    paths.removeAll(path);
    if (pinned) {
        paths << path;
    }
    setValue(QStringLiteral("pinned"), paths);
}

QStringList WindowSettings::layoutNames() const
{
    QStringList names;
    if (m_enabled) {
        QSettings settings;
        settings.beginGroup(QLatin1String(namedLayouts));
        for (const QString& key : settings.childKeys()) {
            names << QString::fromUtf8(QByteArray::fromHex(key.toLatin1()));
        }
    }
    names.sort(Qt::CaseInsensitive);
    return names;
}

void WindowSettings::renameLayout(const QString& from, const QString& to)
{
    const QByteArray state = layout(from);
    if (from != to && !state.isEmpty()) {
        setLayout(to, state);
        removeLayout(from);
    }
}

workflow::UserFiles WindowSettings::known(const QString& session) const
{
    workflow::UserFiles files;
    if (m_enabled) {
        QSettings settings;
        settings.beginGroup(keyIn("known", session));
        files.environment = settings.value(QStringLiteral("environment")).toString().toStdString();
        files.advisories = stringsOf(settings.value(QStringLiteral("advisories")).toStringList());
        files.parameters = settings.value(QStringLiteral("parameters")).toString().toStdString();
        files.variants = stringsOf(settings.value(QStringLiteral("variants")).toStringList());
    }
    return files;
}

void WindowSettings::setKnown(const QString& session, const workflow::UserFiles& files)
{
    if (!m_enabled || known(session) == files) {
        return;
    }
    QSettings settings;
    settings.remove(keyIn("known", session));
    if (!files.empty()) {
        settings.beginGroup(keyIn("known", session));
        settings.setValue(QStringLiteral("environment"), exactText(files.environment));
        settings.setValue(QStringLiteral("advisories"), listOf(files.advisories));
        settings.setValue(QStringLiteral("parameters"), exactText(files.parameters));
        settings.setValue(QStringLiteral("variants"), listOf(files.variants));
    }
}

std::vector<std::string> WindowSettings::ran(const QString& session) const
{
    return stringsOf(value(keyIn("ran", session)).toStringList());
}

void WindowSettings::setRan(const QString& session, const std::vector<std::string>& ran)
{
    setValue(keyIn("ran", session), listOf(ran));
}

diagnose::FindingChoices WindowSettings::findingChoices(const QString& session) const
{
    diagnose::FindingChoices choices;
    if (m_enabled) {
        QSettings settings;
        settings.beginGroup(keyIn("findings", session));
        choices.silenced = stringsOf(settings.value(QStringLiteral("silenced")).toStringList());
        choices.spikeRule = settings.value(QStringLiteral("spikeRule")).toString().toStdString();
    }
    return diagnose::withoutUnknown(choices);
}

void WindowSettings::setFindingChoices(const QString& session, const diagnose::FindingChoices& choices)
{
    if (!m_enabled || findingChoices(session) == choices) {
        return;
    }
    QSettings settings;
    settings.remove(keyIn("findings", session));
    if (choices != diagnose::FindingChoices()) {
        settings.beginGroup(keyIn("findings", session));
        settings.setValue(QStringLiteral("silenced"), listOf(choices.silenced));
        settings.setValue(QStringLiteral("spikeRule"), exactText(choices.spikeRule));
    }
}

} // namespace nanscope
