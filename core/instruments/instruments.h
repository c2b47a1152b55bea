// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Instruments that put one capture to something that takes a batch of matrices and an epsilon and gives a batch: a
// replay cell, or the user's own function in a child process. Each is a function from an Asker to plain values; none
// judges whose fault it is, and none knows a terminal.
#pragma once

#include "core/instruments/answers.h"
#include "core/instruments/measure.h"
