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

} // namespace nanscope
