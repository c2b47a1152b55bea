// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// The words of the project as value types: what was captured, logged and replayed; what was judged is in verdict.h. No
// I/O, no SQL, no arithmetic on tensors; every other room speaks in these types.
#pragma once

#include "core/base/job.h" // IWYU pragma: export
#include "core/base/result.h" // IWYU pragma: export
#include "core/model/capture.h" // IWYU pragma: export
#include "core/model/cell.h" // IWYU pragma: export
#include "core/model/dtype.h" // IWYU pragma: export
#include "core/model/experiment.h" // IWYU pragma: export
#include "core/model/facts.h" // IWYU pragma: export
#include "core/model/run.h" // IWYU pragma: export
#include "core/model/scan.h" // IWYU pragma: export
