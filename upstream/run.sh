#!/usr/bin/env bash
# Applies the patches to client-go in a fresh folder, runs the tests of tools/cache, and with
# --bench the benchmark of patch 0001.
#
#   upstream/run.sh                           # v0.37.2: tests
#   upstream/run.sh --version v0.38.0-beta.0  # tests
#   upstream/run.sh --bench                   # tests, then six samples of each row (15 minutes)
set -euo pipefail

version=v0.37.2
bench=false
while (($# > 0)); do
	case $1 in
	--version) version=${2:?run.sh: --version needs a version, such as v0.37.2}; shift ;;
	--bench) bench=true ;;
	*) sed -n '2,7s/^# \{0,1\}//p' "$0"; [[ $1 == --help ]]; exit ;;
	esac
	shift
done
command -v patch >/dev/null || { echo "run.sh: this needs the program patch" >&2; exit 1; }

patches=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/patches
out=$(mktemp -d "${TMPDIR:-/tmp}/upstream.XXXXXX")
cd "$out" # outside of any module
export GOWORK=off GOFLAGS=-mod=mod
case $version in
v0.38.*) export GOTOOLCHAIN=go1.27.3 ;;
esac

source=$(go mod download -json "k8s.io/client-go@$version" | sed -n 's/^.*"Dir": "\(.*\)",*$/\1/p')
[[ -d $source ]] || { echo "run.sh: client-go $version cannot be fetched" >&2; exit 1; }
cp -R "$source" client-go
chmod -R u+w client-go
cd client-go
for patch in "$patches"/*.patch; do
	echo "${patch##*/}"
	patch -s -p1 -F0 <"$patch"
done
case $version in
v0.38.*)
	go mod edit -replace=sigs.k8s.io/structured-merge-diff/v7=sigs.k8s.io/structured-merge-diff/v7@v7.0.0
	# The module of client-go's test helpers is not published for every version.
	if ! go mod download k8s.io/ktesting 2>/dev/null; then
		grep -rl '"k8s.io/ktesting' --include='*_test.go' tools/cache | while read -r file; do
			echo "left out: $file needs k8s.io/ktesting, which cannot be fetched"
			rm "$file"
		done
	fi
	;;
esac

go test -count=1 ./tools/cache/...
if $bench; then
	go test -run='^$' -bench='ThreadSafeStore(Contention|Memory)$' -count=6 -timeout=0 ./tools/cache | tee "$out/bench.txt"
fi
rm -rf "$out/client-go"
if $bench; then echo "samples: $out/bench.txt"; else rmdir "$out"; fi
