// SPDX-FileCopyrightText: The Nanscope developers
// SPDX-License-Identifier: Apache-2.0
//
// Names of what verdict.h defines, for headers that only pass it on: it changes often, and takes long to compile for.
#pragma once

namespace nanscope {

struct AdvisoryMatch;
struct CaptureVerdict;
struct Cluster;
struct Diagnosis;
struct Finding;
struct Rollback;
struct SpreadPlace;
struct Triage;

enum class AdvisoryStatus;
enum class Blame;
enum class CheckpointStatus;
enum class FindingState;
enum class RuleId;
enum class StepSource;

} // namespace nanscope
