// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What panes are made of that answer with a sentence and a table of rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <QString>

class QAbstractItemModel;
class QHBoxLayout;
class QLabel;
class QTableView;
class QToolButton;
class QWidget;

namespace nanscope {

/// One sentence above an answer that only the newest points of a large run went into; hidden where all did.
QLabel* makeNewestLabel(QWidget* parent);

/// `most`: so many points of each series were read; none where all were.
void showNewest(QLabel& label, const std::optional<std::int64_t>& most);

/// A read-only list of rows, one selected, copied as text. Columns are as wide as what is in their first rows; stretch
/// the one that holds sentences.
QTableView* makeRowTable(QWidget* parent, QAbstractItemModel* model, const QString& title);

/// Plain words that wrap and can be selected: as high as they need at their width, and no reason for the window to be
/// wide or high.
QLabel* makeWrappedLabel(QWidget* parent, const char* objectName);

QLabel* makeMutedLabel(QWidget* parent, const QString& text);

/// The sentence above the table: what comes out, or what is missing.
QLabel* makeAnswerLabel(QWidget* parent);

/// A button that looks like what the style sheet calls so: "quiet", or a "chip".
QToolButton* makeToolButton(QWidget* parent, const char* look, const QString& text = {}, const QString& tip = {});

/// A setting with its name before it.
void addSetting(QHBoxLayout& row, const QString& name, QWidget& setting, const QString& tip);

/// A table of rows that `activate` goes to, by click or Enter.
QTableView* makeAnswerTable(
    QWidget* parent, QAbstractItemModel* model, const QString& title, const std::function<void(int)>& activate);

/// An empty bar and the row that its settings go into.
struct SettingsBar
{
    QWidget* widget = nullptr;
    QHBoxLayout* row = nullptr;
};
SettingsBar makeSettingsBar(QWidget* parent);

/// Settings over the sentence over what it rests on, which is hidden until there is an answer.
void layOutAnswer(QWidget& view, QWidget& settings, QLabel& headline, QWidget& below);

} // namespace nanscope
