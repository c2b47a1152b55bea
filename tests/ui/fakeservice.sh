#!/bin/sh
# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: GPL-3.0-or-later
# A replay service that misbehaves as its first argument says, mostly during a sweep or a film. The second argument is a
# file: a service that finds it there behaves, one that does not makes it and misbehaves.
mode="$1"
if [ -n "$2" ]; then
  if [ -e "$2" ]; then mode=good; else : >"$2"; fi
fi
cell='{"capture":"a.pt","variant":"gns-gram","precision":"fp16","device":"cpu","lowering":"eager","arithmetic":"emulated","epsilon":1e-7,"outcome":"nan","first_nonfinite":{"iteration":3,"op":"gram","index":[1,2],"kind":"nan","count":4},"birth":{"iteration":3,"op":"gram","index":[1,2],"kind":"nan","count":4},"batches":[],"seconds":0.1,"environment":{"engine":"fake 1.0","device":"cpu","hardware":"none","cuda":"","threads":1,"flags":""},"gauges":[]}'

# Of a block that NAME and BYTES announce.
film() {
  echo "{\"id\":$id,\"film\":{\"cell\":$cell,\"batch\":0,\"batches\":1,\"block\":{\"version\":1,\"name\":\"$1\",\"bytes\":$2},\"compared\":false,\"ops\":[]}}"
  echo "{\"id\":$id,\"done\":true}"
}

case "$mode" in
  stillborn)
    echo "this worker cannot find its torch" >&2
    exit 7
    ;;
  mute) exec sleep 600 ;;
  otherversion) echo '{"id":1,"hello":{"engine":"fake 0.9","devices":[],"notes":[],"sessions":1}}' ;;
  rubbishhello) echo '{"id":1,"hello":5}' ;;
  gpus | gpufails | gpudies)
    gpu() { echo "{\"name\":\"$1\",\"hardware\":\"Fake GPU, 80 GB\"}"; }
    read -r line
    echo "{\"id\":1,\"hello\":{\"engine\":\"fake 1.0\",\"devices\":[{\"name\":\"cpu\",\"hardware\":\"none\"},$(gpu cuda:0),$(gpu cuda:1)],\"notes\":[]}}"
    ;;
esac
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"hello"'*)
      [ "$mode" = rubbishhello ] ||
        echo '{"id":1,"hello":{"engine":"fake 1.0","devices":[{"name":"cpu","hardware":"none"}],"notes":["a note"]}}'
      ;;
    *'"cancel"'*) [ "$mode" = hangs ] || echo "{\"id\":$id,\"done\":true}" ;;
    *'"film"'*)
      case "$mode" in
        dies) exit 9 ;;
        good | noblock) film /nanscope-00000000000000000000000000000000 4096 ;;
        foreignblock) film /../../etc/passwd 4096 ;;
        nofilm) echo "{\"id\":$id,\"done\":true}" ;;
      esac
      ;;
    *'"sweep"'*)
      echo 'not json at all'
      case "$mode" in
        gpufails | gpudies)
          # The first cell is computed, all others fail on a GPU.
          name=$(printf '%s' "$line" | sed 's/.*"captures":\["[^"]*\/\([^"\/]*\)"\].*/\1/')
          error=null
          printf '%s' "$line" | grep -o '{"variant"[^}]*}' | while read -r asked; do
            asked=$(printf '%s' "$asked" | sed 's/"epsilon":null/"epsilon":1e-7/; s/}$//')
            echo "{\"id\":$id,\"cell\":$asked,\"capture\":\"$name\",\"arithmetic\":\"native\",\"outcome\":\"finite\",\"gauges\":[],\"error\":$error}}"
            case "$mode $asked" in
              gpudies*cuda*) exit 9 ;;
              *cuda*) error='"the GPU fell off the bus"' ;;
            esac
          done || exit 9
          echo "{\"id\":$id,\"done\":true}"
          continue
          ;;
        gpus)
          for device in $(printf '%s' "$line" | sed 's/.*"devices":\[\([^]]*\)\].*/\1/; s/[",]/ /g'); do
            echo "{\"id\":$id,\"cell\":$(printf '%s' "$cell" | sed "s/\"device\":\"cpu\",\"lowering\"/\"device\":\"$device\",\"lowering\"/")}"
          done
          echo "{\"id\":$id,\"done\":true}"
          continue
          ;;
        floods) yes ;;
        endless) exec tr '\0' x </dev/zero ;;
        complains)
          yes "a fault in the device" | head -c 5000000 >&2
          exit 9
          ;;
        reports) yes "{\"id\":$id,\"progress\":{\"job\":\"sweep\",\"phase\":\"cells\",\"done\":1,\"total\":2,\"unit\":\"cells\"}}" | head -n 100000 ;;
        rubbish)
          for text in '[' '5' '"x"' 'null' '{}' '{"id":[]}' "{\"id\":$id,\"progress\":5}" "{\"id\":$id,\"cell\":[1]}" \
            "{\"id\":$id,\"progress\":{\"job\":1,\"phase\":[],\"done\":1e300,\"total\":-7,\"unit\":{},\"message\":3}}" \
            "{\"id\":$id,\"cell\":{\"variant\":\"x\",\"epsilon\":\"y\",\"batches\":3,\"gauges\":{\"a\":1}}}" \
            "{\"id\":99999999999999999999,\"done\":true}" '{"id":4294967298,"done":true}' '{"id":77,"cell":{"variant":"x"}}'; do
            echo "$text"
          done
          ;;
        generous)
          for i in 1 2 3 4 5; do echo "{\"id\":$id,\"cell\":$cell}"; done
          ;;
      esac
      echo "{\"id\":$id,\"cell\":$cell}"
      case "$mode" in
        dies)
          echo "a fault in the device" >&2
          exit 9
          ;;
        hangs) ;;
        *) echo "{\"id\":$id,\"done\":true}" ;;
      esac
      ;;
  esac
done
