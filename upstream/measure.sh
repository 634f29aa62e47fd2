#!/usr/bin/env bash
# Writes upstream/results anew: runs run.sh with all tests, measures what kep.md compares, and
# keeps samples, tables and what run.sh printed, a folder for each measurement as it ends. All of
# it takes some 35 minutes on 2 cores; close other programs. Afterwards, go generate
# ./internal/pages writes the numbers of kep.md.
#
#   upstream/measure.sh                      # all
#   upstream/measure.sh gogc-400 gogc-off    # these
set -euo pipefail

all=(contention gogc-100 gogc-400 gogc-off procs-64 informer controller-runtime)
for name in "$@"; do
	case " ${all[*]} " in
	*" $name "*) ;;
	*) echo "measure.sh: there is no measurement $name; there are ${all[*]}" >&2; exit 2 ;;
	esac
done

# Settings of the caller's shell would change the numbers.
unset GOGC GOMEMLIMIT GOMAXPROCS GODEBUG
while IFS= read -r feature; do unset "$feature"; done < <(compgen -e | grep '^KUBE_FEATURE_' || true)

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/upstream-measure.XXXXXX")
echo "it works in $work; results/FOLDER is replaced when its measurement has ended"

run() { # FOLDER [options of run.sh]
	local folder=$1
	shift
	"$here/run.sh" --out "$work/$folder" "$@" | tee "$work/$folder.out"
	mkdir -p "$here/results/$folder"
	cp "$work/$folder/"{gate-off.txt,gate-on.txt,benchstat.txt} "$here/results/$folder/"
	sed '/^== benchstat/,$d' "$work/$folder.out" >"$here/results/$folder/run.txt"
}

contention=BenchmarkThreadSafeStoreContention
# One row, at settings of the collector, in processes that run nothing else. On two processors:
# without a collector each list takes 1.6 MB, 3 GB in all, and with more processors more.
open_loop="$contention/^loop=open\$/^batch=1\$/^readers=list\$/^goroutines=10\$"
# Writes without readers look at 128 slots, as on 64 processors; the benchmark lists once, so that
# the store has them.
alone="$contention/^loop=closed\$/^batch=(1|1000)\$/^readers=none\$"
# client-go's own benchmark, at its least and its most objects. Its watch is no streaming list, for
# which the informer would wait.
informer='BenchmarkSharedIndexInformer/^podCount=(10000|160000)$/^readers=(0|1|10|80)$'

[ $# -gt 0 ] || set -- "${all[@]}"
for name in "$@"; do
	case $name in
	contention) run contention --race ;;
	gogc-100) GOGC=100 GOMAXPROCS=2 run "$name" --no-tests --bench "$open_loop" ;;
	gogc-400) GOGC=400 GOMAXPROCS=2 run "$name" --no-tests --bench "$open_loop" ;;
	gogc-off) GOGC=off GOMAXPROCS=2 run "$name" --no-tests --bench "$open_loop" ;;
	procs-64) GOMAXPROCS=64 run "$name" --no-tests --bench "$alone" ;;
	informer) KUBE_FEATURE_WatchListClient=false run "$name" --no-tests --bench "$informer" ;;
	controller-runtime)
		(cd "$here/.." && go run ./upstream/controller-runtime) | tee "$work/controller-runtime.txt"
		cp "$work/controller-runtime.txt" "$here/results/"
		;;
	esac
done
chmod -R u+w "$work" && rm -r "$work"
echo "upstream/results is written; now: go generate ./internal/pages"
