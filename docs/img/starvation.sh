#!/usr/bin/env bash
# Draws the README's picture, the first screen of a report. It needs Debian's chromium.
#
#	go run ./cmd/benchrun run --preset lock-starvation --impl clientgo,lockfree -o starvation
#	docs/img/starvation.sh starvation
set -euo pipefail
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run \
	--user-data-dir="$profile" --window-size=1400,1000 --screenshot="$profile/out.png" \
	"file://$(realpath "$1/report.html")" 2>/dev/null
mv "$profile/out.png" "$(dirname "$0")/starvation.png"
