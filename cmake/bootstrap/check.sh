# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0

rooms=(app core gpu ui tests)

# The tools of version 14: others format differently and find other things.
pick() {
  tool=$(command -v "$1-14" || command -v "$1" || true)
  case $("${tool:-false}" --version 2>/dev/null) in
    *'version 14.'*) ;;
    *) say "$1 14 is not installed: not checked with it"; return 1 ;;
  esac
}

check_format() {
  local tool files
  pick clang-format || return 0
  mapfile -t files < <(find "${rooms[@]}" -regextype egrep -regex '.*\.(cpp|h|inl|cu|cuh)')
  "$tool" --dry-run -Werror "${files[@]}" >"$logs/format.log" 2>&1 ||
    fail "run ${tool##*/} -i on: $(sed -n 's/^\([^ :]*\):[0-9].*/\1/p' "$logs/format.log" | sort -u | paste -sd' ')"
  say "clang-format: ${#files[@]} files"
}

# Verdicts hang on typed facts: what is shown is made last, and never read back.
check_facts() {
  local decides=(core/diagnose/verdict core/diagnose/judge.cpp core/diagnose/rejudge.cpp core/diagnose/identify/othercalls.cpp
    core/diagnose/recovery/rollback.cpp core/diagnose/triage/clusters.cpp)
  local read='(\.|->)(text|kind|summary|question)(\.(find|contains|starts_with|ends_with|substr|compare)\(| *[!=]= *")'
  local found place
  for place in "${decides[@]}"; do [ -e "$place" ] || fail "check_facts looks at $place, which is not there"; done
  found=$(grep -rnE "$read" "${decides[@]}" || true)
  [ -z "$found" ] || fail "a verdict is decided by what is shown of it: $found"
}

# Rooms include what they link, in the namespace of their folder, and not in circles: seen before anything is compiled.
check_house() {
  local said
  said=$(python3 cmake/house.py "$root") || fail "the structure of core: $said"
  say "$said"
}

# C++ files that differ from the main branch or, on it, from the commit before the last twenty.
changed_files() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base=$(git rev-list --max-count=21 HEAD | tail -n 1)
  fi
  git diff --name-only --diff-filter=d "$base" -- '*.cpp' 2>/dev/null || true
}

check_tidy() {
  local tool
  pick clang-tidy || return 0
  python3 cmake/tidy.py --tool "$tool" --build "$build" --jobs "$(jobs)" \
    --cache "${XDG_CACHE_HOME:-$HOME/.cache}/nanscope/tidy" "$@" || fail "clang-tidy found the problems above."
}

# Nothing of core and of the command line was compiled with a header of Qt or torch, nor is linked with a library of
# theirs; and they are configured without. ./bootstrap lint builds and tests them so.
check_core_only() {
  local found program=$build/bin/nanscope
  configure core-only
  found=$(ninja -C "$build" -t deps |
    awk '/^[^ ].*: #deps/ { ours = $1 ~ /^(core|app\/nanscope|tests\/core)\// }
      ours && /\/(qt6|torch|ATen|c10)\// { print $1; exit }')
  [ -z "$found" ] || fail "core includes a header of Qt or torch: $found"
  found=$(readelf -d "$program" | grep -oE 'NEEDED.*\[lib(Qt|torch|c10|cud|nccl).*' || true)
  [ -z "$found" ] || fail "the command line is linked with $found"
  say "core and the command line use neither Qt nor torch"
}

# Without precompiled headers and each file by itself, so that each includes what it uses.
build_core_only() {
  local options=(-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DNANSCOPE_UNITY=OFF)
  [ "${CI:-}" != true ] || options+=(-DNANSCOPE_WERROR=ON)
  configure core-only "${options[@]}"
  compile "$root/build/core-only" all
  "$ctest" --preset core-only -j "$(tests_at_once)" | summary_last
}

# A third of the time a test waits for a process, a file or a clock: 13 min of tests keep two cores busy for 9.
tests_at_once() {
  echo $(($(nproc) * 3 / 2))
}

# ctest lists skipped tests after its summary; here the summary comes last.
summary_last() {
  awk '/tests passed, / { held = 1 }
    !held { print; fflush(); next }
    /^The following tests did not run/ { early = 1 }
    /^The following tests FAILED/ { early = 0 }
    early { skipped = skipped $0 "\n"; next }
    { summary = summary $0 "\n" }
    END { sub(/\n+$/, "\n", summary); printf "%s%s", skipped (skipped ? "\n" : ""), summary }'
}

# In seconds, before a commit.
check_command() {
  mkdir -p "$logs"
  check_format
  check_facts
  check_house
}

# build_and_check [--fast] [--seconds N] C++ FILES FOR CLANG-TIDY...
build_and_check() {
  prepare "${packages_test[@]}" "${packages_bench[@]}"
  ctest=$(dirname "$cmake")/ctest
  check_command
  require_worker
  # The benchmarks are compiled, not run: nothing else would notice what they no longer fit.
  configure_release -DBUILD_TESTING=ON -DNANSCOPE_BENCH=ON
  compile "$build" all
  check_tidy "$@"
}

test_command() {
  local files
  mapfile -t files < <(changed_files)
  build_and_check --fast --seconds 300 "${files[@]}"
  check_core_only
  QT_QPA_PLATFORM=offscreen "$ctest" --preset release -j "$(tests_at_once)" 2>&1 | summary_last
}

lint_command() {
  local files
  mapfile -t files < <(find "${rooms[@]}" -name '*.cpp')
  build_and_check "${files[@]}"
  build_core_only
  build_fuzzers
}
