// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include <QString>

class QFileDialog;
class QWidget;

namespace nanscope {

/// Asks for a folder and hands it over once one is chosen. Gone with `parent`.
QFileDialog* askForFolder(
    QWidget& parent, const QString& title, const std::function<void(const QString& path)>& chosen);

} // namespace nanscope
