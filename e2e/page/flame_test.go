package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
	"github.com/informerbench/informerbench/report"
)

const (
	reader  = "github.com/informerbench/informerbench/bench/internal/subject.(*Store).reader"
	list    = "k8s.io/client-go/tools/cache.(*threadSafeMap).List"
	ourList = "github.com/informerbench/informerbench/impl/lockfree.(*Store).List"
	malloc  = "runtime.mallocgc"
	// its short name keeps the type's path
	insert = "k8s.io/apimachinery/pkg/util/sets.Set[k8s.io/api/core/v1.Pod].Insert"
)

// stacks are those of a cell's profiles. The reference lists by a function of its own. The
// shares of the insertion differ by one sample in a thousand, which is chance.
func stacks(c record.Cell) []recordtest.Stack {
	if c.Impl == "clientgo" {
		return []recordtest.Stack{{Functions: []string{reader, list, malloc}, Samples: 400},
			{Functions: []string{reader, list}, Samples: 300}, {Functions: []string{insert}, Samples: 300}}
	}
	return []recordtest.Stack{{Functions: []string{reader, ourList, malloc}, Samples: 100},
		{Functions: []string{reader, ourList}, Samples: 599}, {Functions: []string{insert}, Samples: 301}}
}

// profilesOf adds profiles to a made-up run.
func profilesOf(t *testing.T, r *record.Run) *report.Profiles {
	t.Helper()
	dir := t.TempDir()
	if err := recordtest.AddProfiles(dir, r, stacks); err != nil {
		t.Fatal(err)
	}
	profiles, warnings := report.ReadProfiles(os.DirFS(dir), r)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return profiles
}

// flameRun is the page of a run of two implementations, and the ids of their graphs.
func flameRun(t *testing.T) (path, reference, other string) {
	t.Helper()
	r := recordtest.Run(
		recordtest.Spec{Forks: 6, Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100},
			{Name: "lockfree", NsPerOp: 20}}})
	return written(t, r, profilesOf(t, r)), "profile-store-store-ops-objects-10-clientgo-p2",
		"profile-store-store-ops-objects-10-lockfree-p2"
}

// graph is what a cell's graph shows.
type graph struct {
	Boxes          []box
	Zoomed, Focus  string // names
	About, Found   string
	Chooses        bool // between itself and the difference
	ComparedWith   string
	Toolbars, Open int
}

// box is one box, its place in percent of the graph's width.
type box struct {
	Name, Label, Class string
	Row                int
	Left, Width        float64
}

func (g graph) names() (out []string) {
	for _, b := range g.Boxes {
		out = append(out, b.Name)
	}
	return out
}

// box is the box of a function; the first, if there are several.
func (g graph) box(t *testing.T, name string) box {
	t.Helper()
	for _, b := range g.Boxes {
		if b.Name == name {
			return b
		}
	}
	t.Fatalf("no box of %s is drawn, but %q", name, g.names())
	return box{}
}

// look reads the graph of the cell with the id.
func look(ctx context.Context, t *testing.T, id string) (g graph) {
	t.Helper()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(`(() => {
		const cell = document.getElementById(%q), of = (s) => cell.querySelector(s), name = (e) => e?.title?.split(": ")[0] ?? "";
		const show = of("[name=show]");
		return JSON.stringify({
			Boxes: [...cell.querySelectorAll(".flame-graph .box")].map((e) => ({ Name: name(e), Label: e.textContent, Class: e.className, Row: Number(e.style.getPropertyValue("--row")), Left: parseFloat(e.style.left), Width: parseFloat(e.style.width) })),
			Zoomed: name(of("[aria-selected=true]")), Focus: name(document.activeElement), About: of(".flame-about").textContent, Found: of("output").textContent,
			Chooses: !show.closest("label").hidden, ComparedWith: show.options[1].textContent,
			Toolbars: cell.querySelectorAll("form").length, Open: document.querySelectorAll("details.flame[open]").length,
		});
	})()`, id)))
	if err == nil {
		err = json.Unmarshal([]byte(text), &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// drawn waits until every open cell has its graph.
var drawn = chromedp.Poll[bool](
	`![...document.querySelectorAll("details.flame[open]")].some((d) => !d.querySelector(".flame-graph .box"))`)

// choose sets a field of a cell's graph.
func choose(ctx context.Context, t *testing.T, id, field, value string) {
	t.Helper()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
		const e = document.getElementById(%q).querySelector("[name=" + %q + "]");
		e.value = %q;
		return e.dispatchEvent(new Event("input", { bubbles: true }));
	})()`, id, field, value)))
	if err != nil {
		t.Fatal(err)
	}
}

func TestFlameGraphs(t *testing.T) {
	path, reference, other := flameRun(t)
	ctx, said := watched(t)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1400, 1000),
		chromedp.Navigate("file://"+path)); err != nil {
		t.Fatal(err)
	}
	// From here on each step goes on where the one before ended.
	t.Run("a link from a row opens the graph", func(t *testing.T) {
		_, err := chromedp.Run(
			ctx, chromedp.Evaluate[int](
				fmt.Sprintf(`document.querySelector('.results a[href="#%s"]').click(), 0`, other)))
		_, err2 := chromedp.Run(ctx,
			chromedp.Poll[bool](`document.querySelector("details.flame[open] .flame-graph .box") !== null`))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		g := look(ctx, t, other)
		if g.Open != 1 || g.Toolbars != 1 || !g.Chooses ||
			!strings.HasSuffix(g.ComparedWith, "clientgo") {
			t.Errorf("the graph shows %+v", g)
		}
		for _, want := range []struct {
			name        string
			row         int
			left, width float64
			class       string
		}{
			{"the whole profile", 0, 0, 100, "box o"}, {reader, 1, 0, 69.9, "box h"},
			{ourList, 2, 0, 69.9, "box i"}, {malloc, 3, 0, 10, "box r"}, {insert, 1, 69.9, 30.1, "box i"},
		} {
			if b := g.box(t, want.name); b.Row != want.row || math.Abs(b.Left-want.left) > 0.01 ||
				math.Abs(b.Width-want.width) > 0.01 || b.Class != want.class {
				t.Errorf("%s is %+v, want %+v", want.name, b, want)
			}
		}
		if b := g.box(t, ourList); b.Label != "lockfree.(*Store).List" {
			t.Errorf("the box says %q", b.Label)
		}
		shoot(ctx, t, "flame")
	})
	t.Run("a click zooms", func(t *testing.T) {
		if err := chromedp.Do(
			ctx, chromedp.Click(fmt.Sprintf(`#%s .flame-graph [title^="%s"]`, other, ourList))); err != nil {
			t.Fatal(err)
		}
		g := look(ctx, t, other)
		if g.Zoomed != ourList || slices.Contains(g.names(), insert) {
			t.Errorf("zoomed to %q, drawn are %q", g.Zoomed, g.names())
		}
		if b := g.box(t, ourList); b.Width != 100 {
			t.Errorf("the box is %g%% wide", b.Width)
		}
		if b := g.box(t, malloc); math.Abs(b.Width-100*100.0/699) > 0.1 {
			t.Errorf("its callee is %g%% wide, want its share", b.Width)
		}
		if !strings.Contains(g.About, "69.9%, 6.99 s, by itself 59.9%") {
			t.Errorf("the page says %q", g.About)
		}
	})
	t.Run("keys move and zoom", func(t *testing.T) {
		for _, step := range []struct{ key, focus, zoomed string }{
			{kb.ArrowDown, malloc, ourList}, {kb.Enter, malloc, malloc}, {kb.ArrowUp, ourList, malloc},
			{kb.ArrowUp, reader, malloc}, {kb.Enter, reader, reader},
			{kb.Escape, "the whole profile", "the whole profile"},
			{kb.ArrowDown, reader, "the whole profile"}, {kb.ArrowRight, insert, "the whole profile"},
			{kb.ArrowRight, insert, "the whole profile"}, {kb.ArrowLeft, reader, "the whole profile"},
			{kb.Home, "the whole profile", "the whole profile"},
		} {
			if err := chromedp.Do(ctx, chromedp.KeyEvent(step.key)); err != nil {
				t.Fatal(err)
			}
			if g := look(ctx, t, other); g.Focus != step.focus || g.Zoomed != step.zoomed ||
				!strings.HasPrefix(g.About, step.focus) {
				t.Fatalf("after %q the focus is on %q and the zoom on %q, want %q and %q; the page says %q",
					step.key, g.Focus, g.Zoomed, step.focus, step.zoomed, g.About)
			}
		}
	})
	t.Run("search marks and counts", func(t *testing.T) {
		if err := chromedp.Do(
			ctx, chromedp.SendKeys(fmt.Sprintf(`#%s [name=find]`, other), "STORE).L")); err != nil {
			t.Fatal(err)
		}
		g := look(ctx, t, other)
		for _, b := range g.Boxes {
			if strings.Contains(b.Class, "found") != (b.Name == ourList) {
				t.Errorf("%s has the class %q", b.Name, b.Class)
			}
		}
		if g.Found != "found: 69.9% of the profile" {
			t.Errorf("the page says %q", g.Found)
		}
		choose(ctx, t, other, "find", "no such function")
		if g := look(ctx, t, other); g.Found != "no function of that name" {
			t.Errorf("the page says %q", g.Found)
		}
		if err := chromedp.Do(ctx, chromedp.Click(fmt.Sprintf(`#%s [name=reset]`, other))); err != nil {
			t.Fatal(err)
		}
		if g := look(ctx, t, other); g.Found != "" || g.Zoomed != "the whole profile" {
			t.Errorf("after the reset the page says %q, zoomed to %q", g.Found, g.Zoomed)
		}
	})
	t.Run("the difference is told apart from sampling", func(t *testing.T) {
		choose(ctx, t, other, "show", "difference")
		g := look(ctx, t, other)
		for _, want := range []struct {
			name, class, label string
			width              float64 // mean of both shares
		}{
			{ourList, "box more3", "+69.9 lockfree.(*Store).List", 34.95},
			{list, "box less3", "\u221270.0 cache.(*threadSafeMap).List", 35},
			{reader, "box even", "\u2248 subject.(*Store).reader", 69.95},
			{insert, "box even", "\u2248 sets.Set[k8s.io/api/core/v1.Pod].Insert", 30.05},
		} {
			if b := g.box(t, want.name); b.Class != want.class || b.Label != want.label ||
				math.Abs(b.Width-want.width) > 0.01 {
				t.Errorf("%s is %+v, want %+v", want.name, b, want)
			}
		}
		if !strings.Contains(g.About, "in clientgo 100.0%, 10.0 s") {
			t.Errorf("the page says %q", g.About)
		}
		choose(ctx, t, other, "find", "mallocgc")
		if g := look(ctx, t, other); g.Found != "found: 10.0% of the profile, 40.0% of clientgo's" {
			t.Errorf("the page says %q", g.Found)
		}
	})
	t.Run("allocations are drawn too", func(t *testing.T) {
		choose(ctx, t, other, "of", "allocs")
		if g := look(ctx, t, other); !strings.Contains(g.About, "1000 MiB") || len(g.Boxes) != 7 {
			t.Errorf("the page says %q, %d boxes", g.About, len(g.Boxes))
		}
	})
	t.Run("the reference has no difference", func(t *testing.T) {
		if err := chromedp.Do(ctx, chromedp.Navigate("file://"+path+"?again#"+reference)); err != nil {
			t.Fatal(err)
		}
		if _, err := chromedp.Run(ctx, drawn); err != nil {
			t.Fatal(err)
		}
		if g := look(ctx, t, reference); g.Chooses || g.Open != 1 {
			t.Errorf("the reference offers a difference, or %d cells are open", g.Open)
		}
	})
	said.check(t)
	t.Run("both are seen in each scheme and width", func(t *testing.T) {
		looks(ctx, t, path, reference, other)
		said.check(t)
	})
	t.Run("without scripts", func(t *testing.T) { withoutScripts(ctx, t, path) })
}

// looks draws both graphs, that of other as a difference, in each scheme and width. It looks
// for what is pale, too wide or without a name.
func looks(ctx context.Context, t *testing.T, path, reference, other string) {
	inEachView(ctx, t, func(t *testing.T, view string) {
		open(ctx, t, fmt.Sprintf("file://%s?%s#%s", path, view, reference))
		count(ctx, t, fmt.Sprintf(`document.getElementById(%q).open = true, 0`, other))
		if _, err := chromedp.Run(ctx, drawn); err != nil {
			t.Fatal(err)
		}
		choose(ctx, t, reference, "find", "malloc")
		choose(ctx, t, other, "find", "malloc")
		choose(ctx, t, other, "show", "difference")
		found(ctx, t, "wider than the window", sticksOut)
		found(ctx, t, "too pale", tooPale)
		found(ctx, t, "without a name", unnamed)
		shoot(ctx, t, "flame-"+view)
	})
}

// withoutScripts wants the tables and commands, and no part of a graph.
func withoutScripts(ctx context.Context, t *testing.T, path string) {
	_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	if err := errors.Join(
		err, chromedp.Do(ctx, chromedp.Navigate("file://"+path+"?plain"))); err != nil {
		t.Fatal(err)
	}
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(() => {
		document.querySelectorAll("details.flame").forEach((d) => { d.open = true });
		return document.getElementById("profiles").innerText;
	})()`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The graphs need scripts", "lockfree.(*Store).List", "59.9% (5.99s)",
		"go tool pprof", "-normalize"} {
		if !strings.Contains(text, want) {
			t.Errorf("the section lacks %q:\n%s", want, text)
		}
	}
	for _, unwanted := range []string{"part of a function's name", "whole graph", "Escape",
		`"names"`} {
		if strings.Contains(text, unwanted) {
			t.Errorf("the section has %q", unwanted)
		}
	}
}
