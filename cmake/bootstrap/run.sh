# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0

# The same three faces on paper.
without_display() {
  local status=0
  say "no window: $1"
  "$build/bin/nanscope" diagnose "${paths[@]}" || status=$?
  case $status in 0 | 3) ;; *) fail "nanscope diagnose ended with status $status." ;; esac
  "$build/bin/nanscope" report "${paths[@]}" -o build/nanscope-report.md || [ $? -eq 3 ] || fail "no report was written."
  QT_QPA_PLATFORM=offscreen "$build/bin/nanscope-gui" "${paths[@]}" --screenshot build/nanscope.png \
    >"$logs/picture.log" 2>&1 || { cat "$logs/picture.log" >&2; fail "no picture of the window could be made."; }
  say "the report is build/nanscope-report.md, a picture of the window is build/nanscope.png"
}

build_worker() {
  if ! prepare_worker; then
    say "no worker, torch could not be installed: $torch_reason; replay runs on the built-in CPU device."
    return
  fi
  if (configure_release; compile "$build" nanscope-worker); then
    say "the worker is ready: replay now runs on torch $torch_version"
  else
    say "the worker did not build; replay runs on the built-in CPU device."
  fi
}

# The shipped session, beside its run, in a place that may be written to.
copy_of_sample() {
  mkdir -p "$root/build"
  rm -rf "$root/build/sample"
  cp -r "$root/resources/sample" "$root/build/sample"
  echo "$root/build/sample/sample.nanscope"
}

run_command() {
  local wanted=$worker platform window=''
  [ ${#paths[@]} -gt 0 ] || paths=("$(copy_of_sample)")
  prepare
  # The worker waits until the window is up, unless it was configured before.
  grep -qsx 'NANSCOPE_WORKER:BOOL=ON' "$build/CMakeCache.txt" || worker=no
  (offline=yes prepare_worker) >/dev/null 2>&1 && prepare_worker || worker=no
  configure_release -DBUILD_TESTING=OFF -DNANSCOPE_BENCH=OFF
  compile "$build" nanscope nanscope-gui
  worker=$wanted
  if platform=$(python3 "$here/display.py" 2>/dev/null); then
    say "opening ${paths[*]}"
    QT_QPA_PLATFORM=$platform "$build/bin/nanscope-gui" "${paths[@]}" &
    window=$!
  else
    without_display "${platform:-the display server does not answer}"
  fi
  [ "$worker" = no ] || build_worker
  [ -z "$window" ] || wait "$window"
}
