// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QUrl;
class QWidget;

namespace nanscope {

/// Opens a page in the browser once its address was seen and agreed to: links may come from a stranger's log. Others
/// than http and https are ignored.
void askToFollow(const QUrl& link, QWidget* parent);

} // namespace nanscope
