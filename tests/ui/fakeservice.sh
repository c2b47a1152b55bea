#!/bin/sh
# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: GPL-3.0-or-later
# A replay service that misbehaves as its first argument says: "dies" during a sweep or a film, "hangs" in one and ignores
# cancel, or is "stillborn".
mode="$1"
if [ "$mode" = stillborn ]; then
  echo "this worker cannot find its torch" >&2
  exit 7
fi
while read -r line; do
  case "$line" in
    *'"hello"'*) echo '{"id":1,"hello":{"engine":"fake 1.0","devices":[{"name":"cpu","hardware":"none"}],"notes":["a note"]}}' ;;
    *'"film"'*)
      if [ "$mode" = dies ]; then
        exit 9
      fi
      ;;
    *'"sweep"'*)
      echo 'not json at all'
      echo '{"id":2,"cell":{"capture":"a.pt","variant":"gns-gram","precision":"fp16","device":"cpu","lowering":"eager","arithmetic":"emulated","epsilon":1e-7,"outcome":"nan","first_nonfinite":{"iteration":3,"op":"gram","index":[1,2],"kind":"nan","count":4},"birth":{"iteration":3,"op":"gram","index":[1,2],"kind":"nan","count":4},"batches":[],"seconds":0.1,"environment":{"engine":"fake 1.0","device":"cpu","hardware":"none","cuda":"","threads":1,"flags":""},"gauges":[]}}'
      if [ "$mode" = dies ]; then
        echo "a fault in the device" >&2
        exit 9
      fi
      ;;
  esac
done
