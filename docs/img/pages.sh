#!/usr/bin/env bash
# Draws the first screens of the pages: report.png, starvation.png, versus.png and history.png.
#
#	go run ./cmd/benchrun run -o quick
#	go run ./cmd/benchrun run --preset lock-starvation --impl clientgo,lockfree -o starvation
#	go run ./cmd/benchrun pair --component store --impl clientgo,mutexmap --plant mutexmap=10% -o pair
#	docs/img/pages.sh quick starvation pair
#
# The history is made up, with planted steps of 3 and 15 percent and a drift; the test that
# looks at its page takes the screenshot. It needs Debian's chromium.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
source "$here/chromium.sh"
shot "$1/report.html" "$here/report.png" 1400 1000
shot "$2/report.html" "$here/starvation.png" 1400 1000
shot "$3/versus.html" "$here/versus.png" 1400 1000
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
(cd "$here/../../e2e" && go test -count=1 ./page -run TestHistoryPageInChromium -args -page.shots "$dir")
mv "$dir/history-light-1400.png" "$here/history.png"
