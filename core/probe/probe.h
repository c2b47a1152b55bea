// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The producing side: what a trainer does about values that are not finite, as plain C++ that can run on live values
// (the NaN detector) or be asked what it would have decided (the guard of an optimizer step). No I/O, no collectives:
// what other ranks saw is passed in.
#pragma once

#include "core/probe/guard.h"
#include "core/probe/nandetector.h"
