#!/usr/bin/env bash
# Draws report.png: the first screen of a run's report.html.
#
#	docs/img/report.sh results/<run>
#
# It needs Debian's chromium. The test that looks at the page takes the screenshot.
set -euo pipefail
run=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
(cd "$here/../../e2e" && go test -count=1 ./page -args -page.run "$run" -page.shots "$dir")
mv "$dir/light-1400.png" "$here/report.png"
