package page

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/report"
)

// threeWays is a run of four stores over two workloads, of which one lacks the last store.
func threeWays(duets bool) *record.Run {
	r := recordtest.Run(recordtest.Spec{Forks: 6, Duets: duets, Impls: []recordtest.Impl{
		{Name: "clientgo", NsPerOp: 100}, {Name: "faster", NsPerOp: 20}, {Name: "slower", NsPerOp: 150},
		{Name: "<b>alike</b>", NsPerOp: 100.01},
	}})
	for _, c := range slices.Clone(r.Cells) {
		if c.Impl == "<b>alike</b>" {
			continue
		}
		forks := r.Measured(c)
		c.Params = []record.Param{{Key: "objects", Value: "1000"}}
		r.Cells = append(r.Cells, c)
		for _, f := range forks {
			f.Cell = c
			r.Forks = append(r.Forks, f)
		}
	}
	return r
}

// lines are what the tables show: operation, implementation, picture, ratio, verdict. Those of
// an operation come in the order of implementations, for a table begins with its reference.
func lines(ctx context.Context, t *testing.T) []string {
	t.Helper()
	out, err := chromedp.Run(ctx,
		chromedp.Evaluate[[]string](
			`[...document.querySelectorAll("tbody[data-operation]")].flatMap((body) =>
		[...body.querySelectorAll(":scope > tr:not(.more)")].map((line) => [body.id, line.cells[1].textContent, line.cells[2].innerHTML.replaceAll(/\s+|aria-label="[^"]*"/g, " "), line.cells[3].textContent, line.cells[4].textContent,
			line.cells[4].className, line.dataset.verdict, line.dataset.ratio && Number(line.dataset.ratio).toPrecision(2)].join(" | ")).sort())`))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("the page shows\n%s\nwant\n%s", got[i], want[i])
		}
	}
}

// heads are the first line of each operation, which has its name.
const heads = `[...document.querySelectorAll("tbody[data-operation]")].filter((body) => !body.hidden).map((body) => {
	const named = [...body.querySelectorAll(":scope > tr:not(.more)")].filter((line) => line.cells[0].textContent.trim() !== "");
	return named.length === 1 && named[0] === body.rows[0] && !named[0].hidden ? "" : body.id + " does not begin with its name";
}).filter((text) => text !== "")`

// A reader who chooses a reference sees the page that benchrun report --reference makes, and
// the first page again after choosing the run's own.
func TestChoosingAReference(t *testing.T) {
	ctx := browser(t)
	var said complaints
	said.listen(ctx, t)
	for _, duets := range []bool{false, true} {
		r := threeWays(duets)
		own := written(t, r, nil)
		for impl, verdict := range map[string]string{"faster": "worse", "slower": "better"} {
			t.Run(fmt.Sprintf("%s, turns %v", impl, duets), func(t *testing.T) {
				open := func(path string) {
					if err := chromedp.Do(ctx, chromedp.Navigate("file://"+path)); err != nil {
						t.Fatal(err)
					}
				}
				choose := func(impl string) {
					found(ctx, t, "choosing "+impl, fmt.Sprintf(`(() => {
						const select = document.querySelector("th.to select");
						select.value = %q;
						select.dispatchEvent(new Event("change", { bubbles: true }));
						return [...document.querySelectorAll("th.to select")].filter((s) => s.value !== select.value).map(() => "a table has another reference");
					})()`, impl))
				}
				open(written(t, r, nil, report.Reference{Component: "store", Impl: impl}))
				want := lines(ctx, t)
				open(own)
				before := lines(ctx, t)
				choose(impl)
				same(t, lines(ctx, t), want)
				if slices.Equal(want, before) {
					t.Error("the reference makes no difference")
				}
				found(ctx, t, "names", heads)
				shoot(ctx, t, fmt.Sprintf("reference-%s-%v", impl, duets))
				// The filter knows the new verdicts, and leaves the new reference in view.
				found(ctx, t, "filter", `((verdict) => {
					const form = document.getElementById("filter"), wrong = [];
					form.elements.verdict.value = verdict;
					form.elements.order.value = "ratio";
					form.dispatchEvent(new Event("input"));
					const shown = [...document.querySelectorAll("tr[data-impl]:not([hidden])")].filter((r) => r.checkVisibility());
					if (shown.length === 0 || shown.some((r) => r.dataset.verdict !== verdict || r.cells[4].textContent !== verdict)) wrong.push("the filter has the old verdicts");
					return wrong.concat(`+heads+`);
				})("`+verdict+`")`)
				found(ctx, t, "reset", `(() => { const form = document.getElementById("filter"); form.reset(); form.dispatchEvent(new Event("input")); return [] })()`)
				choose("clientgo")
				same(t, lines(ctx, t), before)
				found(ctx, t, "names", heads)
				// A table that lacks the implementation has no ratios to it.
				choose("<b>alike</b>")
				found(ctx, t, "a table without it",
					`[...document.querySelectorAll(".group")].filter((g) => (g.querySelectorAll("tr[data-impl]").length > 0) !== g.id.endsWith("objects-10")).map((g) => g.id)`)
				said.check(t)
			})
		}
	}
}
