// Package page opens report.html in a headless Chromium and looks at it as its readers do:
// wide and narrow, light and dark, with its script and without.
package page

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/report"
)

var (
	runDir = flag.String("page.run", "",
		"folder of a run whose report.html is looked at instead of a made-up run's")
	shots = flag.String("page.shots", "", "folder for screenshots of each size and colour scheme")
)

// browser starts a Chromium, or skips the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium on this machine: the page was not looked at (apt-get install chromium)")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path),
		chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocated, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// sample is the page of a run with everything that a page has: duets, a load with
// distributions, warnings, notes, a failed check, long names.
func sample(t *testing.T) string {
	t.Helper()
	if *runDir != "" {
		path, err := filepath.Abs(filepath.Join(*runDir, report.HTMLFile))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	r := recordtest.Run(recordtest.Spec{Forks: 6, Duets: true, Impls: []recordtest.Impl{
		{Name: "clientgo", NsPerOp: 100},
		{Name: "much-faster-than-any-other-implementation", NsPerOp: 20}, {Name: "slower", NsPerOp: 150},
		{Name: "alike", NsPerOp: 100.01},
	}})
	r.Command = []string{"benchrun", "run", "--preset", "lock-starvation", "--impl", "clientgo*,other",
		"-o", "a folder/with-a-very-long-name-that-has-no-space-in-it-anywhere-at-all/results"}
	r.Warnings = []string{"the machine was busy at the start: load 1.5 on 2 cores"}
	r.Checks = []record.CheckResult{{Name: "final state", Passed: true, Detail: "the same"}}
	delays(t, r)
	for i := range r.Forks {
		r.Forks[i].Series[1].Warnings = []string{"the generator was late"}
	}
	return written(t, r, profilesOf(t, r))
}

// delays gives the writer of a made-up run its distributions, others in each process.
func delays(t *testing.T, r *record.Run) {
	t.Helper()
	for _, distribution := range []string{metrics.Delay, metrics.Service} {
		if err := recordtest.AddHistogram(r, "writer:update", distribution, 20_000,
			func(fork, i int) time.Duration {
				return time.Duration(100 + fork*10 + i*i/1000)
			}); err != nil {
			t.Fatal(err)
		}
	}
}

// written writes a run's page and returns its path.
func written(t *testing.T, r *record.Run, profiles *report.Profiles,
	chosen ...report.Reference) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), report.HTMLFile)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rep, err := report.Of(r, chosen...)
	if err != nil {
		t.Fatal(err)
	}
	rep.Profiles = profiles
	if err := rep.WriteHTML(f); err != nil {
		t.Fatal(err)
	}
	return path
}

// complaints collects what the browser says against the page, and what the page asks for from
// elsewhere.
type complaints struct {
	home string // what the address of a server begins with; "" for a file
	mu   sync.Mutex
	all  []string
}

func (c *complaints) listen(ctx context.Context, t *testing.T) {
	t.Helper()
	err := chromedp.Listen(ctx, func(event any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			c.all = append(c.all, e.Entry.Text)
		case *runtime.EventExceptionThrown:
			c.all = append(c.all, e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			c.all = append(c.all, fmt.Sprintf("console.%s", e.Type))
		case *network.EventRequestWillBeSent:
			own := c.home != "" && strings.HasPrefix(e.Request.URL, c.home)
			if !own && !strings.HasPrefix(e.Request.URL, "file:") &&
				!strings.HasPrefix(e.Request.URL, "data:") {
				c.all = append(c.all, "a request to "+e.Request.URL)
			}
		}
	})
	_, err2 := chromedp.Call(ctx, log.Enable, cdp.Empty{})
	_, err3 := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
}

// watched starts a browser whose complaints are collected.
func watched(t *testing.T) (context.Context, *complaints) {
	t.Helper()
	ctx, said := browser(t), &complaints{}
	said.listen(ctx, t)
	return ctx, said
}

func (c *complaints) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range c.all {
		t.Errorf("the browser complains: %s", text)
	}
	c.all = nil
}

// found evaluates an expression that lists what is wrong.
func found(ctx context.Context, t *testing.T, what, expression string) {
	t.Helper()
	wrong, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](expression))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, w := range wrong {
		t.Errorf("%s: %s", what, w)
	}
}

const (
	// sticksOut lists the elements that are wider than the window, in no box that scrolls.
	sticksOut = `(() => {
		if (document.documentElement.scrollWidth <= innerWidth) return [];
		return [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".wide, .part table, pre"))
			.slice(0, 5).map((e) => e.tagName + " " + e.className + " " + e.textContent.slice(0, 60)).concat("the page is " + document.documentElement.scrollWidth + " wide");
	})()`
	// deadLinks lists the links that lead nowhere, and the ids that stand twice.
	deadLinks = `(() => {
		const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
		return [...document.querySelectorAll("a")].filter((a) => !document.getElementById(a.getAttribute("href").slice(1))).map((a) => a.getAttribute("href"))
			.concat(ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => "twice: " + id));
	})()`
	// tooPale lists texts with less contrast to what is behind them than 4.5 to 1, as WCAG 2.2
	// asks for (1.4.3).
	tooPale = `(() => {
		const known = new Map(), x = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
		const rgb = (c) => {
			if (!known.has(c)) { x.clearRect(0, 0, 1, 1); x.fillStyle = c; x.fillRect(0, 0, 1, 1); known.set(c, x.getImageData(0, 0, 1, 1).data) }
			return known.get(c);
		};
		const light = (c) => { const [r, g, b] = [...rgb(c)].slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
		const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] > 0) return c } return "white" };
		const pale = new Map();
		for (const e of document.querySelectorAll("body *")) {
			const style = getComputedStyle(e), text = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
			if (!text || ["SCRIPT", "title"].includes(e.tagName) || style.display === "none") continue;
			const color = e instanceof SVGElement ? style.fill : style.color, a = light(color), b = light(behind(e));
			const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (contrast < 4.5) pale.set(color + " on " + behind(e), e.tagName + "." + (e.getAttribute("class") ?? "") + " " + contrast.toFixed(2));
		}
		return [...pale].map(([k, v]) => k + ": " + v);
	})()`
	// unnamed lists pictures, fields and links without a name for a screen reader, and
	// headings that skip a level.
	unnamed = `(() => {
		const wrong = [...document.querySelectorAll("svg[role=img]:not([aria-label]), img:not([alt]), section[tabindex]:not([aria-label])")].map((e) => e.outerHTML.slice(0, 80));
		for (const e of document.querySelectorAll("select, input:not([type=hidden])")) if (!e.closest("label")) wrong.push(e.outerHTML);
		let level = 0;
		for (const h of document.querySelectorAll("h1, h2, h3, h4")) { const l = Number(h.tagName[1]); if (l > level + 1) wrong.push(h.textContent); level = l }
		return wrong;
	})()`
)

func TestPageInChromium(t *testing.T) {
	path := sample(t)
	ctx, said := watched(t)
	views(ctx, t, said, path, "")
	t.Run("filter and order", func(t *testing.T) { filters(ctx, t); said.check(t) })
	t.Run("without scripts", func(t *testing.T) {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: true})
		if err == nil {
			err = chromedp.Do(ctx, chromedp.Navigate("file://"+path))
		}
		if err != nil {
			t.Fatal(err)
		}
		rows, err := chromedp.Run(ctx,
			chromedp.Evaluate[int](`document.querySelectorAll(".results tr[data-impl]").length`))
		hidden, err2 := chromedp.Run(ctx,
			chromedp.Evaluate[int](`document.querySelectorAll(".results [hidden]").length`))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if rows == 0 || hidden > 0 {
			t.Errorf("%d comparisons of which %d parts are hidden, want all of them in view", rows, hidden)
		}
	})
}

// TestOneImplementationIsShown: what was measured of one implementation only has no comparison,
// and is in view as long as no filter asks for one.
func TestOneImplementationIsShown(t *testing.T) {
	r := recordtest.Run(
		recordtest.Spec{Forks: 6, Duets: true,
			Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100}, {Name: "mine", NsPerOp: 50}}})
	alone := recordtest.Run(
		recordtest.Spec{Forks: 6, Duets: true,
			Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100}}})
	for _, c := range alone.Cells {
		// operations that take turns have no second cell of the reference, which would be compared
		if c.Role == "" {
			c.Component = contract.ComponentQueue
			r.Cells = append(r.Cells, c)
		}
	}
	for _, f := range alone.Forks {
		if f.Cell.Role == "" {
			f.Cell.Component = contract.ComponentQueue
			r.Forks = append(r.Forks, f)
		}
	}
	for _, im := range alone.Impls {
		im.Component = string(contract.ComponentQueue)
		r.Impls = append(r.Impls, im)
	}
	path := written(t, r, nil)
	ctx, said := watched(t)
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+path)); err != nil {
		t.Fatal(err)
	}
	found(ctx, t, "hidden operations", `(() => {
		const all = [...document.querySelectorAll("tbody[data-operation]")], out = all.filter((b) => b.closest("[hidden]")).map((b) => b.id + " is hidden");
		if (all.length === 0) out.push("there is no operation");
		const form = document.getElementById("filter");
		if (!form) return out;
		form.elements.operation.value = "no such operation";
		form.dispatchEvent(new Event("input"));
		return out.concat(all.filter((b) => !b.hidden).map((b) => b.id + " is not filtered"));
	})()`)
	said.check(t)
}

// inEachView sets the browser to each size and colour scheme, and looks. view names them.
func inEachView(ctx context.Context, t *testing.T, look func(t *testing.T, view string)) {
	t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1400, 400} {
			view := fmt.Sprintf("%s-%d", scheme, width)
			t.Run(view, func(t *testing.T) {
				_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia,
					emulation.SetEmulatedMediaParams{
						Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
				if err := errors.Join(err,
					chromedp.Do(ctx, chromedp.EmulateViewport(width, 1000))); err != nil {
					t.Fatal(err)
				}
				look(t, view)
			})
		}
	}
}

// views looks at a page wide and narrow, light and dark. The screenshots' names begin with name.
func views(ctx context.Context, t *testing.T, said *complaints, path, name string) {
	t.Helper()
	inEachView(ctx, t, func(t *testing.T, view string) {
		open(ctx, t, "file://"+path)
		found(ctx, t, "closed: wider than the window", sticksOut)
		shoot(ctx, t, name+view)
		// Everything that can be opened is.
		count(ctx, t, `document.querySelectorAll("details").forEach((d) => { d.open = true }), 0`)
		if _, err := chromedp.Run(ctx, drawn); err != nil {
			t.Fatal(err)
		}
		found(ctx, t, "wider than the window", sticksOut)
		found(ctx, t, "a dead link", deadLinks)
		found(ctx, t, "too pale", tooPale)
		found(ctx, t, "without a name", unnamed)
		said.check(t)
	})
}

// filters chooses what is better, and looks at what is left.
func filters(ctx context.Context, t *testing.T) {
	t.Helper()
	var got struct {
		All, Better, Shown, Order []string
		Text                      string
	}
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(() => {
		const names = (select) => [...document.querySelectorAll(select)].map((r) => r.closest("tbody").id + " " + r.dataset.impl);
		const form = document.getElementById("filter"), set = (name, value) => { form.elements[name].value = value; form.dispatchEvent(new Event("input", { bubbles: true })) };
		const out = { All: names("tr[data-impl]"), Better: names("tr[data-verdict=better]") };
		set("verdict", "better");
		out.Shown = names("tr[data-impl]:not([hidden])");
		out.Text = document.getElementById("shown").textContent;
		set("verdict", "");
		set("order", "ratio");
		out.Order = [...document.querySelector("tbody[data-operation]").querySelectorAll("tr[data-impl]")].map((r) => r.dataset.ratio);
		form.reset();
		return JSON.stringify(out);
	})()`))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Better) == 0 || len(got.Better) == len(got.All) ||
		!slices.Equal(got.Shown, got.Better) {
		t.Errorf("with the verdict better the page shows %q, want %q", got.Shown, got.Better)
	}
	if want := fmt.Sprintf("%d of %d comparisons", len(got.Better), len(got.All)); got.Text != want {
		t.Errorf("the page says %q, want %q", got.Text, want)
	}
	ratio := func(text string) (v float64) {
		if _, err := fmt.Sscan(text, &v); err != nil {
			t.Errorf("a ratio %q: %v", text, err)
		}
		return v
	}
	if !slices.IsSortedFunc(got.Order, func(a, b string) int {
		return int(1e6 * (ratio(a) - ratio(b)))
	}) {
		t.Errorf("by ratio: %q", got.Order)
	}
}

// shoot takes a screenshot of the whole page if that was asked for.
func shoot(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	if *shots == "" {
		return
	}
	first, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	whole, err2 := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	for file, png := range map[string][]byte{name + ".png": first, name + "-whole.png": whole} {
		if err := os.WriteFile(filepath.Join(*shots, file), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
func open(ctx context.Context, t *testing.T, url string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
}

func count(ctx context.Context, t *testing.T, expression string) int {
	t.Helper()
	n, err := chromedp.Run(ctx, chromedp.Evaluate[int](expression))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
