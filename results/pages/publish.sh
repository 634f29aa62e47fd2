#!/bin/sh
# Puts the rewritten pages in place of the old ones, when results/ has a run of each preset.
# Run a copy of this file from the repository's root: it removes results/pages.
set -eu
test -d results/quick # the evidence is published
cp -r results/pages/README.md results/pages/CHANGELOG.md results/pages/CONTRIBUTING.md results/pages/docs results/pages/advise .
git rm -q docs/baseline.md docs/dropins.md
git apply results/pages/comments.patch # code, tests and comments that name pages or records
mv results/pages/published_test.go.txt internal/pages/published_test.go
sed -i 's|docs/stores.md#|docs/log/stores.md#|' upstream/kep.md
git rm -rqf results/pages results/2026*
go generate ./internal/pages ./advise ./internal/scale
go run ./upstream/generate
for run in results/*/run.json; do
	go run ./cmd/benchrun report "$(dirname "$run")"
done
go test ./internal/architecture -run TestAPIPageIsTrue -update
