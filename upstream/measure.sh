#!/usr/bin/env bash
# Writes upstream/results anew: runs run.sh with all tests, measures what kep.md compares, and
# copies samples, tables and what run.sh printed. It takes some 30 minutes on 2 cores; close other
# programs. Afterwards, go generate ./internal/pages writes the numbers of kep.md.
set -euo pipefail

# Settings of the caller's shell would change the numbers.
unset GOGC GOMEMLIMIT GOMAXPROCS GODEBUG
while IFS= read -r feature; do unset "$feature"; done < <(compgen -e | grep '^KUBE_FEATURE_' || true)

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/upstream-measure.XXXXXX")
echo "it works in $work, and changes upstream/results when all is measured"

run() { # FOLDER [options of run.sh]
	local folder=$1
	shift
	"$here/run.sh" --out "$work/$folder" "$@" | tee "$work/$folder.out"
}

# One row, at other settings of the collector.
open_loop='BenchmarkThreadSafeStoreContention/^loop=open$/^batch=1$/^readers=list$/^goroutines=10$'
# client-go's own benchmark, at its least and its most objects. Its watch is no streaming list, for
# which the informer would wait.
informer='BenchmarkSharedIndexInformer/^podCount=(10000|160000)$/^readers=(0|1|10|80)$'

run contention --race
GOGC=400 run gogc-400 --no-tests --bench "$open_loop"
GOGC=off run gogc-off --no-tests --bench "$open_loop"
KUBE_FEATURE_WatchListClient=false run informer --no-tests --bench "$informer"
(cd "$here/.." && go run ./upstream/controller-runtime) | tee "$work/controller-runtime.txt"

for folder in contention gogc-400 gogc-off informer; do
	mkdir -p "$here/results/$folder"
	cp "$work/$folder/"{gate-off.txt,gate-on.txt,benchstat.txt} "$here/results/$folder/"
	sed '/^== benchstat/,$d' "$work/$folder.out" >"$here/results/$folder/run.txt"
done
cp "$work/controller-runtime.txt" "$here/results/"
chmod -R u+w "$work" && rm -r "$work"
echo "upstream/results is written; now: go generate ./internal/pages"
