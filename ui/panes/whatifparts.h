// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What both parts of the what-ifs are made of.
#pragma once

#include <functional>

#include <QString>

class QAbstractItemModel;
class QHBoxLayout;
class QLabel;
class QTableView;
class QWidget;

namespace nanscope {

/// The sentence above the table: what comes out, or what is missing.
QLabel* makeAnswerLabel(QWidget* parent);

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
