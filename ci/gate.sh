#!/usr/bin/env bash
# Measures two builds of a benchrun command in turns, the base's and this checkout's, and
# holds them against each other: a gate for CI, and for a machine of your own.
set -euo pipefail

usage() {
	cat <<'END'
usage: gate.sh --base REVISION [flags] [-- flags of benchrun pair]

Builds the benchrun command of the base and of the working directory, measures both in
turns (benchrun pair), applies the gates, and writes a comment in Markdown.

  --base REVISION       what to compare with; measured is where HEAD branched off from it
  --package PACKAGE     the command to build, whose main is benchrun's (default ./cmd/benchrun)
  --gates FILE          gates, one a line, such as: store/*/ns/op <= +5%
                        (default: nothing may be worse)
  --budget TIME         for more processes where the first leave it open, such as 10m
                        (default 10m)
  --inconclusive WORD   pass or fail: the exit code where the data are too weak to tell
                        (default pass)
  --profile WORD        yes or no: one more process a cell and build, for the differences
                        of the profiles (default yes)
  --out FOLDER          for the results; must not exist or be empty
                        (default informerbench-gate in $RUNNER_TEMP, $TMPDIR or /tmp)
  --name NAME           tells the comments of several gates apart (default gate)

Run it in the module's folder. What stands after -- goes to benchrun pair; the flags above win:
  gate.sh --base origin/main --budget 5m -- --component store --impl clientgo,mystore

The folder then has
  comment.md            the answer; it is printed, too. answer.md is what benchrun pair wrote
  outcome               pass, regression, inconclusive or failed
  pair/base, pair/head  the two runs
  profiles/             the differences of the profiles, head minus base: as text, and for
                        go tool pprof
  log.txt               what the builds and benchrun said

Exit codes: 0 pass; 1 regression, or something measured is broken; 2 the input is wrong or
does not build; 3 inconclusive, with --inconclusive fail; 130 interrupted.
END
}

wrong() {
	printf 'gate.sh: %s\n' "$*" >&2
	exit 2
}

base="" package=./cmd/benchrun gates="" budget=10m inconclusive=pass profile=yes name=gate
out="${RUNNER_TEMP:-${TMPDIR:-/tmp}}/informerbench-gate"
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--)
		shift
		break
		;;
	--base | --package | --gates | --budget | --inconclusive | --profile | --out | --name)
		[ $# -ge 2 ] || wrong "$1 needs a value; see --help"
		case $1 in
		--base) base=$2 ;;
		--package) package=$2 ;;
		--gates) gates=$2 ;;
		--budget) budget=$2 ;;
		--inconclusive) inconclusive=$2 ;;
		--profile) profile=$2 ;;
		--out) out=$2 ;;
		--name) name=$2 ;;
		esac
		shift 2
		;;
	*) wrong "unknown argument $1; see --help (flags of benchrun pair stand after --)" ;;
	esac
done

[ -n "$base" ] || wrong "--base is missing: give the revision to compare with, such as origin/main"
case $inconclusive in pass | fail) ;; *) wrong "--inconclusive $inconclusive: want pass or fail" ;; esac
case $profile in yes | no) ;; *) wrong "--profile $profile: want yes or no" ;; esac
# The name of the comment goes into an HTML comment.
case $name in *[!A-Za-z0-9._-]*) wrong "--name $name: use letters, digits, dots, _ and -" ;; esac
[ -z "$gates" ] || [ -r "$gates" ] || wrong "--gates $gates: the file cannot be read"
[ -f go.mod ] || wrong "there is no go.mod here: run it in the module's folder"
prefix=$(git rev-parse --show-prefix) || wrong "this is no git checkout"
git rev-parse --quiet --verify "$base^{commit}" >/dev/null ||
	wrong "--base $base: no such revision here; fetch it (actions/checkout: fetch-depth: 0)"
commit=$(git merge-base "$base" HEAD) ||
	wrong "--base $base: no common ancestor with HEAD; fetch the history (actions/checkout: fetch-depth: 0)"
if [ -e "$out" ] && [ -n "$(ls -A "$out" 2>/dev/null || echo file)" ]; then
	wrong "--out $out is not an empty folder: remove it, or name another"
fi
mkdir -p "$out" || wrong "--out $out: the folder cannot be made"
out=$(cd "$out" && pwd)
log=$out/log.txt
: >"$log" || wrong "--out $out: nothing can be written there"

# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	git worktree remove --force "$out/src" >/dev/null 2>&1 || true
	rm -rf "${out:?}/bin"
}
trap cleanup EXIT

# finish OUTCOME CODE makes the comment of answer.md, and ends the script.
finish() {
	{
		printf '<!-- informerbench-gate: %s -->\n' "$name"
		# GitHub takes comments of 65,536 characters.
		LC_ALL=C awk '(n += length($0) + 1) > 60000 { print "\n(cut here; answer.md of the results is whole)"; exit } { print }' "$out/answer.md"
		if [ "$1" = inconclusive ] && [ "$inconclusive" = pass ]; then
			printf '\nInconclusive results do not fail this gate.\n'
		fi
		if [ -n "${GITHUB_RUN_ID:-}" ]; then
			printf '\nThe page, both runs, and the differences of the profiles: [artifact %s](%s/%s/actions/runs/%s#artifacts)\n' \
				"$name" "$GITHUB_SERVER_URL" "$GITHUB_REPOSITORY" "$GITHUB_RUN_ID"
		fi
	} >"$out/comment.md"
	printf '%s\n' "$1" >"$out/outcome"
	cat "$out/comment.md"
	printf 'gate.sh: %s; the results are in %s\n' "$1" "$out" >&2
	exit "$2"
}

# failed WHAT CODE ends the script where there is nothing to compare.
failed() {
	{
		printf '### failed: %s\n\n~~~~text\n' "$1"
		tail -n 30 "$log"
		printf '~~~~\n'
	} >"$out/answer.md"
	finish failed "$2"
}

# build FOLDER PROGRAM
build() {
	(cd "$1" && go build -o "$2" "$package") 2>&1 | tee -a "$log" >&2
}

git worktree add --quiet --force --detach "$out/src" "$commit" 2>>"$log" || failed "checking out the base, $commit" 2
[ -f "$out/src/${prefix}go.mod" ] || failed "the base, $commit, has no ${prefix}go.mod" 2
build "$out/src/$prefix" "$out/bin/base" || failed "building $package of the base, $commit" 2
build . "$out/bin/head" || failed "building $package" 2

args=(--base "$out/bin/base" --budget "$budget" --format markdown --inconclusive fail -o "$out/pair")
[ "$profile" = no ] || args+=(--profile)
[ -z "$gates" ] || args+=(--gates "$gates")
code=0
# An interrupt is for benchrun, which keeps what was measured; its words must still be read.
{ "$out/bin/head" pair "$@" "${args[@]}" 2>&1 >"$out/answer.md" | (trap '' INT && tee -a "$log" >&2); } || code=$?

if [ "$profile" = yes ]; then
	for head in "$out"/pair/head/profiles/*/*.pb.gz; do
		cell=${head#"$out/pair/head/profiles/"}
		before=$out/pair/base/profiles/$cell after=$out/profiles/${cell%.pb.gz}
		if [ ! -f "$head" ] || [ ! -f "$before" ]; then continue; fi
		mkdir -p "$(dirname "$after")"
		# A profile without a sample has no difference.
		go tool pprof -top -nodecount=40 -diff_base="$before" "$head" >"$after.diff.txt" 2>>"$log" || rm -f "$after.diff.txt"
		go tool pprof -proto -output="$after.diff.pb.gz" -diff_base="$before" "$head" >/dev/null 2>>"$log" || rm -f "$after.diff.pb.gz"
	done
fi

case $code in
0) finish pass 0 ;;
3)
	[ "$inconclusive" = fail ] || code=0
	finish inconclusive "$code"
	;;
1)
	# The first line of an answer that was given names the outcome. Another one did not end so.
	head -n 1 "$out/answer.md" 2>/dev/null | grep -q '^### regression' || failed "something measured is broken" 1
	finish regression 1
	;;
*) failed "benchrun pair ended with exit code $code" "$code" ;;
esac
