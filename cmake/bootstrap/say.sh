# SPDX-FileCopyrightText: The Nanscope developers
# SPDX-License-Identifier: Apache-2.0

say() { printf 'bootstrap: %s\n' "$*"; }
fail() { say "$@" >&2; exit 1; }
wrong_usage() { say "$*; ./bootstrap --help lists what there is." >&2; exit 2; }
have() { command -v "$1" >/dev/null 2>&1; }
at_least() { [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }
free_mb() { df -Pm "$1" | awk 'NR == 2 { print $4 }'; }
twice() { "$@" || { sleep 3; "$@"; }; }

# why_failed LOG: the reason in a log of apt or pip, as the end of a sentence.
why_failed() {
  case $(tr '[:upper:]' '[:lower:]' <"$1") in
    *'no space left'* | *'errno 28'* | *'enough free space'*) echo "the disk is full" ;;
    *certificate?verify?failed*) echo "the server's certificate is not trusted here (PIP_CERT names another authority)" ;;
    *'could not resolve'* | *'could not connect'* | *'temporary failure'* | *'unable to connect'* | *newconnectionerror* | \
      *'connection broken'* | *'connection timed out'* | *'network is unreachable'* | *readtimeout*)
      echo "the network or the package server cannot be reached" ;;
    *'unable to locate package'* | *'no installation candidate'*)
      echo "the package lists do not have it (on Ubuntu, enable the component 'universe')" ;;
    *'no matching distribution'*) echo "the package index has no version for this Python" ;;
    *) echo "see $1" ;;
  esac
}
