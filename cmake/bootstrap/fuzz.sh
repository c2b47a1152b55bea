# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0

fuzz_dir=$root/build/fuzz

build_fuzzers() {
  prepare "clang-14|clang" "libclang-rt-14-dev|libclang-rt-dev" "${packages_test[@]}"
  configure fuzz "-DCMAKE_CXX_COMPILER=$(command -v clang++-14 || command -v clang++)"
  compile "$fuzz_dir" fuzz_reading
}

# Sanitizers in what is built once; a kind of file is a fuzzer of its own, with limits of memory and time as oracles.
fuzz_command() {
  local seconds=${1:-} dir=$fuzz_dir kinds kind share failed=0
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || wrong_usage "fuzz needs the SECONDS to go on for"
  build_fuzzers
  kinds=$("$dir/bin/fuzz_reading" 2>&1 | sed -n 's/^say --kind=NAME, one of: *//p' || true)
  share=$((seconds / $(wc -w <<<"$kinds")))
  for kind in $kinds; do
    mkdir -p "$dir/found/$kind" "$dir/corpus/$kind"
    say "fuzzing $kind for $((share < 1 ? 1 : share)) s"
    ASAN_OPTIONS=allocator_may_return_null=0 "$dir/bin/fuzz_reading" "--kind=$kind" -max_total_time=$((share < 1 ? 1 : share)) \
      -rss_limit_mb=1500 -malloc_limit_mb=600 -timeout=20 -max_len=65536 -print_final_stats=1 \
      "-artifact_prefix=$dir/found/$kind/" "$dir/corpus/$kind" "$root/tests/fuzz/corpus/$kind" \
      >"$logs/fuzz-$kind.log" 2>&1 || { say "$kind: a fault, see $logs/fuzz-$kind.log and build/fuzz/found/$kind"; failed=1; }
    sed -n 's/^stat::number_of_executed_units: */bootstrap:   runs: /p' "$logs/fuzz-$kind.log"
  done
  [ "$failed" = 0 ] || fail "some inputs led to faults; keep them, made small, in tests/fuzz/corpus once they are mended."
}
