package page

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/informerbench/informerbench/history"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/report"
)

// historySample is the page of a history with everything that such a page has: a step up, one
// down, a drift, a disturbed run, two machines, notes, long names.
func historySample(t *testing.T) string {
	t.Helper()
	h, err := history.Of(t.Context(), recordtest.History(recordtest.HistorySpec{Runs: 30, Seed: 1, Impls: func(i int) []recordtest.Impl {
		step, back := 0.0, 0.0
		if i >= 14 {
			step = 3
		}
		if i >= 10 && i < 20 {
			back = 15
		}
		return []recordtest.Impl{
			{Name: "clientgo", NsPerOp: 200}, {Name: "a-store-with-a-very-long-name-that-does-not-fit", NsPerOp: 100 + step},
			{Name: "up-and-down", NsPerOp: 100 + back}, {Name: "drifting", NsPerOp: 150 + 0.5*float64(i)}, {Name: "steady", NsPerOp: 150},
		}
	}, Change: func(i int, r *record.Run) {
		if i == 2 {
			r.Environment.CPU = "Another CPU"
		}
		if i >= 14 {
			r.Environment.GoVersion = "go1.27"
		}
	}}), history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.Left = []string{"broken: run.json: not whole JSON at byte 2"}
	path := filepath.Join(t.TempDir(), "history.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(report.WriteHistoryPage(f, h), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHistoryPageInChromium(t *testing.T) {
	path := historySample(t)
	ctx, said := watched(t)
	views(ctx, t, said, path, "history-")
	t.Run("filter", func(t *testing.T) {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`(() => {
			const form = document.getElementById("filter"), set = (name, value) => { form.elements[name].value = value; form.dispatchEvent(new Event("input", { bubbles: true })) };
			const names = () => [...document.querySelectorAll("figure:not([hidden])")].filter((f) => !f.closest(".group").hidden).map((f) => f.dataset.name + ": " + f.dataset.changed).join("; ");
			const all = document.querySelectorAll("figure").length, out = [];
			set("text", "get/"); set("changed", "worse");
			out.push(names(), document.getElementById("shown").textContent.replace(String(all), "all"));
			set("text", "no such series");
			out.push(names());
			location.hash = document.querySelector("figure").id;
			return out;
		})()`))
		if err != nil {
			t.Fatal(err)
		}
		want := "store/store-ops/objects=10/get/drifting/ns/op (machine 1): worse"
		if len(got) != 3 || got[1] != "3 of all series" || got[2] != "" || !strings.Contains(got[0], want) || strings.Contains(got[0], "steady") {
			t.Errorf("the filter leaves %q", got)
		}
		shown, err := chromedp.Run(ctx, chromedp.Evaluate[int](`new Promise((done) => setTimeout(() => done(document.querySelectorAll("figure:not([hidden])").length), 0))`, chromedp.EvalAwaitPromise))
		if err != nil || shown == 0 {
			t.Errorf("a link to a hidden series shows %d of them (%v)", shown, err)
		}
		said.check(t)
	})
}
