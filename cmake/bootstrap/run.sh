# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0

# The diagnosis, and the report with its picture.
answer_on_paper() {
  local status=0
  "$build/bin/nanscope" diagnose "${paths[@]}" || status=$?
  case $status in 0 | 3) ;; *) fail "nanscope diagnose ended with status $status." ;; esac
  "$build/bin/nanscope" report "${paths[@]}" -o build/nanscope-report.md || [ $? -eq 3 ] || fail "no report was written."
}

# without_display REASON ANSWERED(yes|no)
without_display() {
  say "no window: $1"
  [ "$2" = yes ] || answer_on_paper
  QT_QPA_PLATFORM=offscreen "$build/bin/nanscope-gui" "${paths[@]}" --screenshot build/nanscope.png \
    >"$logs/picture.log" 2>&1 || { cat "$logs/picture.log" >&2; fail "no picture of the window could be made."; }
  say "the report is build/nanscope-report.md, a picture of the window is build/nanscope.png"
}

# build_worker CONFIGURED(yes|no)
build_worker() {
  if [ "$1" = no ]; then
    prepare_worker || { say "no worker, torch could not be installed: $torch_reason; $without_worker"; return; }
  fi
  if ([ "$1" = yes ] || configure_release; compile "$build" nanscope-worker); then
    say "the worker is ready: replay runs on torch $torch_version"
  else
    say "the worker did not build; $without_worker"
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
  local wanted=$worker configured=no answered=no platform window='' without_worker="replay runs on the built-in CPU device"
  [ ${#paths[@]} -gt 0 ] || paths=("$(copy_of_sample)")
  prepare
  # What would have to be installed for the worker waits until the window is up.
  [ -z "$torch_python" ] || require_worker
  if [ "$worker" = yes ] && (offline=yes prepare_worker) >/dev/null 2>&1; then
    prepare_worker
    configured=yes
  else
    worker=no
  fi
  configure_release -DBUILD_TESTING=OFF -DNANSCOPE_BENCH=OFF
  # The command line is two thirds of the wait for the window: who waits for the first time has its answer then.
  compile "$build" nanscope
  if [ ! -x "$build/bin/nanscope-gui" ]; then
    answer_on_paper
    say "this is the answer, with its picture in build/nanscope-report.md; now the window is built"
    answered=yes
  fi
  compile "$build" nanscope-gui
  worker=$wanted
  if platform=$(python3 "$here/display.py" 2>/dev/null); then
    say "opening ${paths[*]}"
    QT_QPA_PLATFORM=$platform "$build/bin/nanscope-gui" "${paths[@]}" &
    window=$!
  else
    without_display "${platform:-the display server does not answer}" "$answered"
  fi
  # In a shell of its own: whatever ends it, the window stays.
  [ "$worker" = no ] || (build_worker $configured) || true
  [ -z "$window" ] || wait "$window"
}
