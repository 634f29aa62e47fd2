#!/usr/bin/env bash
# Applies the patches to client-go v0.37.2 in a fresh folder, runs its tests with the
# feature gate off and on, measures both stores, and prints benchstat's tables.
set -euo pipefail

usage() {
	cat <<'TEXT'
usage: upstream/run.sh [options]

  --count N      samples of each row and store (6; benchstat needs 4 for any verdict)
  --bench REGEX  rows to measure, as in go test -bench
                 (BenchmarkThreadSafeStoreContention and -Memory, client-go's BenchmarkIndexer)
  --benchtime T  time for each row, as in go test (1s); an open loop takes at least a window of 1s
  --race         run the tests under the race detector too (not with --no-tests)
  --no-tests     only measure
  --no-bench     only test
  --out DIR      where to work; it must be empty or missing (a new folder in TMPDIR)

It takes, on 2 cores: some 5 minutes to compile client-go and its tests for the first time,
2 minutes for the tests (9 with --race), and 2.5 minutes for each sample of all rows of both
stores: 15 minutes for 6. Close other programs: the benchmark needs all processors.
TEXT
}

clientgo=k8s.io/client-go@v0.37.2
benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da # as in the root's go.mod
gate=KUBE_FEATURE_LockFreeThreadSafeStore

# The packages whose tests are run: the store's own, and those that are built on it.
packages="./tools/cache/... ./features/... ./informers/... ./dynamic/... ./metadata/... ./tools/watch/... ./testing/..."

count=6
bench='BenchmarkThreadSafeStore(Contention|Memory)$|BenchmarkIndexer$'
benchtime=1s
race=false
tests=true
measure=true
out=

while (($# > 0)); do
	case $1 in
	--count | --bench | --benchtime | --out)
		(($# > 1)) || { echo "run.sh: $1 needs a value" >&2; exit 2; }
		case $1 in
		--count) count=$2 ;;
		--bench) bench=$2 ;;
		--benchtime) benchtime=$2 ;;
		--out) out=$2 ;;
		esac
		shift
		;;
	--race) race=true ;;
	--no-tests) tests=false ;;
	--no-bench) measure=false ;;
	-h | --help) usage; exit 0 ;;
	*) echo "run.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
	esac
	shift
done
$tests || $measure || { echo "run.sh: --no-tests and --no-bench leave nothing to do" >&2; exit 2; }
$tests || ! $race || { echo "run.sh: --race needs the tests, which --no-tests leaves out" >&2; exit 2; }
[[ $count =~ ^[1-9][0-9]*$ ]] || { echo "run.sh: --count takes a number from 1 up, not $count" >&2; exit 2; }

command -v patch >/dev/null || { echo "run.sh: this needs the program patch" >&2; exit 1; }

SECONDS=0
step() { printf '\n== %s (%d s so far)\n' "$1" "$SECONDS"; }

patches=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/patches
if [[ -z $out ]]; then
	out=$(mktemp -d "${TMPDIR:-/tmp}/upstream.XXXXXX")
elif [[ -e $out && -n $(ls -A "$out") ]]; then
	echo "run.sh: $out is not empty" >&2
	exit 2
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
# Outside of any module: go then resolves nothing but the versions that are named here.
cd "$out"
export GOWORK=off GOFLAGS=
unset "$gate"

step "$(date -u +%FT%TZ), $(uname -srm), $(getconf _NPROCESSORS_ONLN) processors, $(go version), GOGC=${GOGC:-100}"
env | grep -E '^(KUBE_FEATURE_|GOMAXPROCS=|GOMEMLIMIT=|GODEBUG=|GOEXPERIMENT=|GOAMD64=)' || true # what else changes the numbers
# Settings of Go's runtime are for the benchmark, not for the go command and its compilers.
runtime=()
for setting in GOGC GOMEMLIMIT GOMAXPROCS GODEBUG; do
	[[ -z ${!setting:-} ]] || runtime+=("$setting=${!setting}")
	unset "$setting"
done
(cd "$patches" && cksum ./*.patch)

step "fetch $clientgo and copy it to $out/client-go"
downloaded=$(go mod download -json "$clientgo") || { printf '%s\n' "$downloaded" >&2; echo "run.sh: cannot fetch $clientgo" >&2; exit 1; }
source=$(sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p' <<<"$downloaded")
[[ -d $source ]] || { echo "run.sh: go mod download names no folder" >&2; exit 1; }
if $measure; then
	GOBIN=$out go install "$benchstat" # now, not after a quarter of an hour of samples
fi
cp -R "$source" client-go
chmod -R u+w client-go
cd client-go

step "apply the patches"
for patch in "$patches"/*.patch; do
	echo "${patch##*/}"
	patch -s -p1 -F0 <"$patch"
done

# run_tests runs client-go's tests with the gate off or on (false, true), and names no package
# without tests.
run_tests() {
	local on=$1
	shift
	# shellcheck disable=SC2086 # packages is a list
	env "$gate=$on" go test -count=1 -timeout=60m "$@" $packages | grep -v 'no test files'
}

if $tests; then
	step "go test, the gate off"
	run_tests false
	step "go test, the gate on"
	run_tests true
fi
if $tests && $race; then
	step "go test -race, the gate off"
	run_tests false -race
	step "go test -race, the gate on"
	run_tests true -race
fi

if $measure; then
	step "measure: $count samples of each row, the two stores in turns"
	go test -c -o "$out/cache.test" ./tools/cache
	for ((i = 1; i <= count; i++)); do
		echo "sample $i of $count ($SECONDS s so far)"
		order=(off:false on:true)
		((i % 2)) || order=(on:true off:false)
		for store in "${order[@]}"; do
			env ${runtime[@]+"${runtime[@]}"} "$gate=${store#*:}" "$out/cache.test" -test.run='^$' -test.bench="$bench" -test.benchtime="$benchtime" -test.timeout=0 \
				>>"$out/gate-${store%:*}.txt" || { tail -n 20 "$out/gate-${store%:*}.txt"; echo "run.sh: sample $i of the gate ${store%:*} failed" >&2; exit 1; }
		done
		grep -q '^Benchmark' "$out/gate-on.txt" || { echo "run.sh: no benchmark matches --bench $bench" >&2; exit 2; }
	done
	step "benchstat: off is client-go's store, on is the store without reader locks; p is Mann-Whitney's"
	cd "$out"
	./benchstat off=gate-off.txt on=gate-on.txt | tee benchstat.txt
fi

step "done: everything is in $out"
