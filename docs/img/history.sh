#!/usr/bin/env bash
# Draws history.png: the first screen of the page of a made-up history, with planted steps of
# 3 and 15 percent and a drift.
#
# It needs Debian's chromium. The test that looks at the page takes the screenshot.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
(cd "$here/../../e2e" && go test -count=1 ./page -run TestHistoryPageInChromium -args -page.shots "$dir")
mv "$dir/history-light-1400.png" "$here/history.png"
