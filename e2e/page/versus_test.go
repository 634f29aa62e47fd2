package page

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/report"
)

// versusSample is the page of a pair with all that such a page has: gates that fail and hold,
// what is worse, better, the same and inconclusive, warnings, notes, what is left out, latencies
// and profiles.
func versusSample(t *testing.T) string {
	t.Helper()
	spec := recordtest.Spec{Name: "20261124T101500Z-lock-starvation/base", Forks: 8, Seed: 1,
		Noise: 0.02, Impls: []recordtest.Impl{
			{Name: "clientgo", NsPerOp: 100},
			{Name: "much-slower-than-any-other-implementation", NsPerOp: 100},
			{Name: "faster", NsPerOp: 100}, {Name: "nearly", NsPerOp: 100},
		}}
	base := recordtest.Run(spec)
	spec.Name, spec.Seed, spec.Base = "20261124T101500Z-lock-starvation/head", 2, map[string]float64{}
	for i, ns := range []float64{100, 400, 70, 104} {
		spec.Base[spec.Impls[i].Name] = 100
		spec.Impls[i].NsPerOp = ns
	}
	head := recordtest.Run(spec)
	extra := base.Cells[1]
	extra.Impl = "removed"
	base.Cells = append(base.Cells, extra)
	base.Settings.Pair = true
	for _, r := range []*record.Run{base, head} {
		r.Command = []string{"benchrun", "pair", "--base", "/tmp/benchrun.base", "-o",
			"a folder/with-a-very-long-name-that-has-no-space-in-it-anywhere-at-all/results"}
		r.Warnings = []string{"the machine was busy at the start: load 1.5 on 2 cores"}
		r.Forks[2].Series[0].Warnings = []string{"no steady state after warm-up"}
	}
	result, err := compare.Runs(base, head, false)
	if err != nil {
		t.Fatal(err)
	}
	var gates []compare.Gate
	for _, text := range []string{"store/*/faster/ns/op <= +5%", "store/*/ns/op <= +5%"} {
		g, err := compare.ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		gates = append(gates, g)
	}
	if err := result.Judge(gates); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), report.VersusFile)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var sides []*report.Measured
	for _, r := range []*record.Run{base, head} {
		delays(t, r)
		sides = append(sides, &report.Measured{Run: r, Profiles: profilesOf(t, r),
			Dir: "results/" + r.Name})
	}
	if err := report.WriteVersusPage(f, result, sides[0], sides[1]); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVersusPageInChromium(t *testing.T) {
	path := versusSample(t)
	ctx, said := watched(t)
	views(ctx, t, said, path, "versus-")
	found(ctx, t, "filter and order", `(() => {
		const wrong = [], form = document.getElementById("filter"), rows = (select) => [...document.querySelectorAll("tr[data-impl]" + select)];
		const set = (name, value) => { form.elements[name].value = value; form.dispatchEvent(new Event("input", { bubbles: true })) };
		const worse = rows("[data-verdict=worse]");
		if (worse.length === 0 || rows("")[0] !== worse[0]) wrong.push("the page does not begin with what is worse");
		set("verdict", "worse");
		if (rows(":not([hidden])").length !== worse.length) wrong.push("other rows than the worse ones are shown");
		set("verdict", "");
		set("order", "ratio");
		const ratios = rows("").map((r) => Number(r.dataset.ratio));
		if (ratios.some((r, i) => i > 0 && r < ratios[i - 1])) wrong.push("by ratio: " + ratios);
		set("order", "name");
		const names = [...document.querySelectorAll("tbody[data-operation]")].map((b) => b.dataset.operation);
		if (names.some((n, i) => i > 0 && n.localeCompare(names[i - 1]) < 0)) wrong.push("by name: " + names);
		form.reset();
		set("order", "");
		if (rows("")[0] !== worse[0]) wrong.push("the first order does not come back");
		return wrong;
	})()`)
	said.check(t)
	// A link leads to a row that a filter hides.
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+path)); err != nil {
		t.Fatal(err)
	}
	wrong, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`new Promise((done) => {
		const form = document.getElementById("filter"), row = document.querySelector("tbody[data-operation]");
		form.elements.operation.value = "nothing has this name";
		form.dispatchEvent(new Event("input", { bubbles: true }));
		if (!row.hidden) done(["the row is not hidden"]);
		addEventListener("hashchange", () => done(row.hidden ? ["the row stays hidden"] : []));
		location.hash = row.id;
	})`, chromedp.EvalAwaitPromise))
	if err != nil || len(wrong) > 0 {
		t.Errorf("a link to a row that a filter hides: %q, %v", wrong, err)
	}
}
