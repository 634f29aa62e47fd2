#!/usr/bin/env bash
# Draws commands.png: what the two commands of the README print.
#
#	go run ./cmd/benchrun run 2>/dev/null > run.txt; go test ./... > test.txt
#	docs/img/commands.sh run.txt test.txt
#
# It needs Debian's chromium. Of the run it shows the table of the store under load, and what stands below the last table.
set -euo pipefail
source "$(dirname "$0")/chromium.sh"
out=$(dirname "$0")/commands.png
shown='store-contended'
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

{
	echo '$ go run ./cmd/benchrun run'
	# A table begins with its title in a box, and ends before the next one.
	awk -v shown="│ ($shown)[/ ]" '
		/^(warning|most numbers|0.5x is)/ { exit }
		/^┌/ { corner = $0; next }
		corner != "" { on = $0 ~ shown; if (on && skipped) print "..."; skipped = !on; if (on) print corner; corner = "" }
		on { print }' "$1"
	echo '...'
	awk '/^(warning|most numbers|0.5x is)/ { on = 1 } on' "$1"
	echo
	echo '$ go test ./...'
	head -n 12 "$2"
	echo '...'
} > "$dir/text"

lines=$(wc -l < "$dir/text")
{
	echo '<!doctype html><meta charset="utf-8"><style>html{background:#14181d}pre{color:#e4e7ea;font:13px/16px "DejaVu Sans Mono";margin:18px}</style><pre>'
	sed 's/&/\&amp;/g; s/</\&lt;/g' "$dir/text"
	echo '</pre>'
} > "$dir/page.html"
shot "$dir/page.html" "$out" 880 "$((lines * 16 + 40))"
