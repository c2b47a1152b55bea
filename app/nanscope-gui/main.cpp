// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/runwindow.h"

int main(int argc, char** argv)
{
    return nanscope::runWindow(argc, argv);
}
