// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

class QLabel;
class QWidget;

namespace nanscope {

/// One sentence above an answer that only the newest points of a large run went into; hidden where all did.
QLabel* makeNewestLabel(QWidget* parent);

/// `most`: so many points of each series were read; none where all were.
void showNewest(QLabel& label, const std::optional<std::int64_t>& most);

} // namespace nanscope
