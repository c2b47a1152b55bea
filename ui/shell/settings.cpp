// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/settings.h"

#include <QSettings>

#include "ui/shared/text.h"

namespace nanscope {

namespace {

const QString themeKey = QStringLiteral("theme");
const QString reportKey = QStringLiteral("report");
const QString whatIfKey = QStringLiteral("whatIf");
const QString recentKey = QStringLiteral("recent");
const QString pinnedKey = QStringLiteral("pinned");
const QString saveFolderKey = QStringLiteral("saveFolder");

// Sizes of an older arrangement of the panes would only confuse a newer one.
QString layoutKey(const char* name)
{
    return QStringLiteral("layout2/") + QLatin1String(name);
}

// The number is of this way of keeping them; what a state is worth, the window that reads it decides.
const QString namedLayoutsKey = QStringLiteral("layouts1");

// A name may hold what a key of the settings may not.
QString namedLayoutKey(const QString& name)
{
    return QStringLiteral("%1/%2").arg(namedLayoutsKey, QString::fromLatin1(name.toUtf8().toHex()));
}

QString knownGroup(const QString& session)
{
    return QStringLiteral("known/%1").arg(QString::fromLatin1(session.toUtf8().toHex()));
}

QString findingsGroup(const QString& session)
{
    return QStringLiteral("findings/%1").arg(QString::fromLatin1(session.toUtf8().toHex()));
}

QString ranKey(const QString& session)
{
    return QStringLiteral("ran/%1").arg(QString::fromLatin1(session.toUtf8().toHex()));
}

QString frontKey(const QString& session)
{
    return QStringLiteral("front/%1").arg(QString::fromLatin1(session.toUtf8().toHex()));
}

QString timelinePlaceKey(const QString& session)
{
    return QStringLiteral("timelinePlace/%1").arg(QString::fromLatin1(session.toUtf8().toHex()));
}

std::vector<std::string> stringsOf(const QVariant& value)
{
    std::vector<std::string> strings;
    for (const QString& text : value.toStringList()) {
        strings.push_back(text.toStdString());
    }
    return strings;
}

QStringList listOf(const std::vector<std::string>& strings)
{
    QStringList list;
    for (const std::string& text : strings) {
        list << exactText(text);
    }
    return list;
}

} // namespace

ThemeChoice WindowSettings::theme() const
{
    const QString name = m_enabled ? QSettings().value(themeKey).toString() : QString();
    return parseThemeChoice(name).value_or(ThemeChoice::system);
}

void WindowSettings::setTheme(ThemeChoice choice)
{
    if (m_enabled) {
        QSettings().setValue(themeKey, themeName(choice));
    }
}

QByteArray WindowSettings::report() const
{
    return m_enabled ? QSettings().value(reportKey).toByteArray() : QByteArray();
}

void WindowSettings::setReport(const QByteArray& state)
{
    if (m_enabled) {
        QSettings().setValue(reportKey, state);
    }
}

QByteArray WindowSettings::whatIf() const
{
    return m_enabled ? QSettings().value(whatIfKey).toByteArray() : QByteArray();
}

void WindowSettings::setWhatIf(const QByteArray& state)
{
    if (m_enabled) {
        QSettings().setValue(whatIfKey, state);
    }
}

QStringList WindowSettings::recent() const
{
    return m_enabled ? QSettings().value(recentKey).toStringList() : QStringList();
}

void WindowSettings::addRecent(const QString& path)
{
    if (!m_enabled) {
        return;
    }
    constexpr qsizetype most = 10;
    QStringList paths = recent();
    paths.removeAll(path);
    paths.prepend(path);
    QSettings().setValue(recentKey, QStringList(paths.first(std::min(paths.size(), most))));
}

void WindowSettings::removeRecent(const QString& path)
{
    if (m_enabled) {
        QStringList paths = recent();
        paths.removeAll(path);
        QSettings().setValue(recentKey, paths);
    }
}

QStringList WindowSettings::pinned() const
{
    return m_enabled ? QSettings().value(pinnedKey).toStringList() : QStringList();
}

void WindowSettings::setPinned(const QString& path, bool pinned)
{
    if (m_enabled) {
        QStringList paths = this->pinned();
        paths.removeAll(path);
        if (pinned) {
            paths << path;
        }
        QSettings().setValue(pinnedKey, paths);
    }
}

void WindowSettings::clearRecent()
{
    if (m_enabled) {
        QSettings().remove(recentKey);
    }
}

QStringList WindowSettings::layoutNames() const
{
    QStringList names;
    if (m_enabled) {
        QSettings settings;
        settings.beginGroup(namedLayoutsKey);
        for (const QString& key : settings.childKeys()) {
            names << QString::fromUtf8(QByteArray::fromHex(key.toLatin1()));
        }
    }
    names.sort(Qt::CaseInsensitive);
    return names;
}

QByteArray WindowSettings::layout(const QString& name) const
{
    return m_enabled ? QSettings().value(namedLayoutKey(name)).toByteArray() : QByteArray();
}

void WindowSettings::setLayout(const QString& name, const QByteArray& state)
{
    if (m_enabled) {
        QSettings().setValue(namedLayoutKey(name), state);
    }
}

void WindowSettings::renameLayout(const QString& from, const QString& to)
{
    const QByteArray state = layout(from);
    if (from != to && !state.isEmpty()) {
        setLayout(to, state);
        removeLayout(from);
    }
}

void WindowSettings::removeLayout(const QString& name)
{
    if (m_enabled) {
        QSettings().remove(namedLayoutKey(name));
    }
}

workflow::UserFiles WindowSettings::known(const QString& session) const
{
    workflow::UserFiles files;
    if (m_enabled) {
        QSettings settings;
        settings.beginGroup(knownGroup(session));
        files.environment = settings.value(QStringLiteral("environment")).toString().toStdString();
        files.advisories = stringsOf(settings.value(QStringLiteral("advisories")));
        files.parameters = settings.value(QStringLiteral("parameters")).toString().toStdString();
        files.variants = stringsOf(settings.value(QStringLiteral("variants")));
    }
    return files;
}

void WindowSettings::setKnown(const QString& session, const workflow::UserFiles& files)
{
    if (!m_enabled || known(session) == files) {
        return;
    }
    QSettings settings;
    settings.remove(knownGroup(session));
    if (!files.empty()) {
        settings.beginGroup(knownGroup(session));
        settings.setValue(QStringLiteral("environment"), exactText(files.environment));
        settings.setValue(QStringLiteral("advisories"), listOf(files.advisories));
        settings.setValue(QStringLiteral("parameters"), exactText(files.parameters));
        settings.setValue(QStringLiteral("variants"), listOf(files.variants));
    }
}

std::vector<std::string> WindowSettings::ran(const QString& session) const
{
    return m_enabled ? stringsOf(QSettings().value(ranKey(session))) : std::vector<std::string> {};
}

void WindowSettings::setRan(const QString& session, const std::vector<std::string>& ran)
{
    if (!m_enabled || this->ran(session) == ran) {
        return;
    }
    if (ran.empty()) {
        QSettings().remove(ranKey(session));
    } else {
        QSettings().setValue(ranKey(session), listOf(ran));
    }
}

QString WindowSettings::front(const QString& session) const
{
    return m_enabled ? QSettings().value(frontKey(session)).toString() : QString();
}

void WindowSettings::setFront(const QString& session, const QString& pane)
{
    if (m_enabled && front(session) != pane) {
        QSettings().setValue(frontKey(session), pane);
    }
}

QByteArray WindowSettings::timelinePlace(const QString& session) const
{
    return m_enabled ? QSettings().value(timelinePlaceKey(session)).toByteArray() : QByteArray();
}

void WindowSettings::setTimelinePlace(const QString& session, const QByteArray& place)
{
    if (!m_enabled || timelinePlace(session) == place) {
        return;
    }
    if (place.isEmpty()) {
        QSettings().remove(timelinePlaceKey(session));
    } else {
        QSettings().setValue(timelinePlaceKey(session), place);
    }
}

diagnose::FindingChoices WindowSettings::findingChoices(const QString& session) const
{
    diagnose::FindingChoices choices;
    if (m_enabled) {
        QSettings settings;
        settings.beginGroup(findingsGroup(session));
        choices.silenced = stringsOf(settings.value(QStringLiteral("silenced")));
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
    settings.remove(findingsGroup(session));
    if (choices != diagnose::FindingChoices()) {
        settings.beginGroup(findingsGroup(session));
        settings.setValue(QStringLiteral("silenced"), listOf(choices.silenced));
        settings.setValue(QStringLiteral("spikeRule"), exactText(choices.spikeRule));
    }
}

QString WindowSettings::saveFolder() const
{
    return m_enabled ? QSettings().value(saveFolderKey).toString() : QString();
}

void WindowSettings::setSaveFolder(const QString& folder)
{
    if (m_enabled) {
        QSettings().setValue(saveFolderKey, folder);
    }
}

QByteArray WindowSettings::state(const char* name) const
{
    return m_enabled ? QSettings().value(layoutKey(name)).toByteArray() : QByteArray();
}

void WindowSettings::setState(const char* name, const QByteArray& state)
{
    if (m_enabled) {
        QSettings().setValue(layoutKey(name), state);
    }
}

void WindowSettings::forgetLayout()
{
    if (m_enabled) {
        QSettings().remove(QStringLiteral("layout2"));
    }
}

} // namespace nanscope
