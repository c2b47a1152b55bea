#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0
#
# manual.sh BIN OUT MAINTAINER: manual pages and completion for bash, of what the programs in BIN say of themselves, and
# the changelogs.
set -euo pipefail
bin=$1 out=$2 maintainer=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$("$bin/nanscope" --version)
version=${version##* }
rm -rf "$out"
mkdir -p "$out/man1"

page() { # NAME SENTENCE COMMAND
  help2man --no-info --version-string="$version" --manual=Nanscope --source="Nanscope $version" -n "$2" "$3" |
    sed "/^.SH NAME/{n; s/^[^\\\\]*/$1 /}" | gzip -9n >"$out/man1/$1.1.gz"
}

# "name  sentence" lines under "Subcommands:".
mapfile -t commands < <("$bin/nanscope" --help | sed -n '/^Subcommands:/,$ s/^  \([a-z]\+\)  *\(.*\)$/\1 \2/p')
sentence() { local s=${1#* }; printf '%s' "${s,}"; }

page nanscope "diagnostics for training runs that go NaN inside a Newton-Schulz step" "$bin/nanscope"
for line in "${commands[@]}"; do
  page "nanscope-${line%% *}" "$(sentence "$line")" "$bin/nanscope ${line%% *}"
done
[ ! -x "$bin/nanscope-gui" ] || QT_QPA_PLATFORM=offscreen page nanscope-gui "window of Nanscope" "$bin/nanscope-gui"

options() { "$@" --help | grep -oE '(^|[ ,])--[a-z][a-z-]*' | tr -d ' ,' | sort -u | paste -sd' '; }
{
  echo "# bash completion for nanscope: its commands, their options, and files"
  echo "_nanscope() {"
  echo "  local word=\${COMP_WORDS[COMP_CWORD]} options"
  echo "  if [ \"\$COMP_CWORD\" -eq 1 ]; then"
  echo "    mapfile -t COMPREPLY < <(compgen -W '$(printf '%s ' "${commands[@]%% *}")$(options "$bin/nanscope")' -- \"\$word\")"
  echo "    return"
  echo "  fi"
  echo "  case \${COMP_WORDS[1]} in"
  for line in "${commands[@]}"; do
    echo "    ${line%% *}) options='$(options "$bin/nanscope" "${line%% *}")' ;;"
  done
  echo "  esac"
  echo "  [[ \$word == -* ]] && mapfile -t COMPREPLY < <(compgen -W \"\$options\" -- \"\$word\")"
  echo "}"
  echo "complete -o default -F _nanscope nanscope"
} >"$out/nanscope.bash"

gzip -9n <"$here/../CHANGELOG.md" >"$out/changelog.gz"
date=$(LC_ALL=C date -uR -d "@${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}")
printf 'nanscope (%s-1) unstable; urgency=medium\n\n  * What changed is in changelog.gz.\n\n -- %s  %s\n' \
  "$version" "$maintainer" "$date" | gzip -9n >"$out/changelog.Debian.gz"
