//go:build unix

package mappedfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/peer-stores/mappedfile"

	"github.com/informerbench/informerbench/conformance/keepertest"
	"github.com/informerbench/informerbench/contract"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newKeeper(t *testing.T, dir string) *mappedfile.Keeper {
	t.Helper()
	k, err := mappedfile.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestContract(t *testing.T) {
	dir := t.TempDir()
	keepertest.Run(t, func() contract.ObjectKeeper { return newKeeper(t, dir) },
		keepertest.Waive("OBJECT-1", mappedfile.Loses),
		keepertest.Waive("OBJECT-4", mappedfile.Decodes),
		keepertest.Waive("OBJECT-6", mappedfile.Decodes))
}

const (
	many      = 1000
	noteBytes = 40_000
)

// note is the text in the i-th pod, nearly all of the pod's bytes.
func note(i int) string { return fmt.Sprint(i, strings.Repeat("x", noteBytes)) }

// keepMany keeps pods with names from first on.
func keepMany(t *testing.T, k *mappedfile.Keeper, first int) []any {
	t.Helper()
	kept := make([]any, many)
	for i := range kept {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(first + i),
			Annotations: map[string]string{"note": note(first + i)}}}
		if kept[i] = k.Keep(pod); kept[i] == any(pod) {
			t.Fatalf("pod %d stayed in the heap", first+i)
		}
	}
	return kept
}

func check(t *testing.T, k *mappedfile.Keeper, kept []any, first int) {
	t.Helper()
	for i, one := range kept {
		pod := k.Object(one).(*corev1.Pod)
		if pod.Name != fmt.Sprint(first+i) || pod.Annotations["note"] != note(first+i) {
			t.Fatalf("pod %d came back as %s", first+i, pod.Name)
		}
	}
}

// until collects garbage until done, since cleanups run in a goroutine of the runtime.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 100 {
		runtime.GC()
		for range 100 {
			runtime.Gosched()
		}
		if done() {
			return
		}
	}
	t.Fatalf("after 100 collections: not %s", what)
}

// mappings counts what the process has of the folder.
func mappings(t *testing.T, dir string) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skipf("mappings cannot be counted here: %v", err)
	}
	n := strings.Count(string(maps), dir)
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, dir) {
			n++
		}
	}
	return n
}

// Objects lie outside of the heap, the space of those that went is used again, and all of it is
// given back.
func TestMemoryIsGivenBack(t *testing.T) {
	dir := t.TempDir()
	k := newKeeper(t, dir)
	before := heap()
	kept := keepMany(t, k, 0)
	used, mapped := k.Bytes()
	if least := int64(many * noteBytes); used < least || used > least*5/4 || mapped > least*3/2 {
		t.Errorf("%d bytes of objects take %d bytes in slots of %d mapped", least, used, mapped)
	}
	if grown := int64(heap()) - int64(before); grown > used/10 {
		t.Errorf("%d bytes of objects take %d bytes of heap", used, grown)
	}
	if n, err := os.ReadDir(dir); err != nil || len(n) > 0 {
		t.Errorf("the folder has %d files that a killed process would leave, %v", len(n), err)
	}
	if mappings(t, dir) == 0 {
		t.Fatal("no mapping found, so the test would not see one that stays")
	}

	for round := range 3 {
		first := round * many
		for i := 0; i < len(kept); i += 2 {
			kept[i] = nil // so that no segment is given back
		}
		until(t, "half freed", func() bool { now, _ := k.Bytes(); return now <= used/2 })
		halves := keepMany(t, k, first+many)
		if _, now := k.Bytes(); now > mapped*2 {
			t.Fatalf("%d bytes mapped after round %d, at first %d: freed slots are not used again", now,
				round, mapped)
		}
		check(t, k, kept[1:2], first+1)
		check(t, k, halves, first+many)
		kept = halves
	}

	kept = nil
	until(t, "everything given back", func() bool {
		used, mapped := k.Bytes()
		return used == 0 && mapped == 0
	})
	if n := mappings(t, dir); n > 0 {
		t.Errorf("%d mappings and files are left", n)
	}
	runtime.KeepAlive(kept)
}

// A closed keeper keeps nothing new, and what it kept can be read until it goes.
func TestClose(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, t.TempDir())
	kept := keepMany(t, k, 0)
	k.Close()
	pod := &corev1.Pod{}
	if k.Keep(pod) != any(pod) {
		t.Error("a closed keeper put an object into a file")
	}
	check(t, k, kept, 0)
	kept = nil
	until(t, "everything given back", func() bool {
		used, mapped := k.Bytes()
		return used == 0 && mapped == 0
	})
	runtime.KeepAlive(kept)
}

// Goroutines share segments and free lists. The race detector looks on.
func TestManyGoroutines(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, t.TempDir())
	for g := range 4 {
		t.Run(fmt.Sprint(g), func(t *testing.T) {
			t.Parallel()
			for round := range 2 {
				first := (2*g + round) * many
				check(t, k, keepMany(t, k, first), first)
				runtime.GC() // frees what the round before kept
			}
		})
	}
}

// An object that has no place stays in the heap.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, t.TempDir())
	for _, c := range []struct {
		bytes  int
		placed bool
	}{{0, true}, {7 << 20, true}, {8 << 20, false}} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("x", c.bytes)}}
		kept := k.Keep(pod)
		if placed := kept != any(pod); placed != c.placed {
			t.Errorf("%d bytes: placed in a file: %v", c.bytes, placed)
		}
		if got := k.Object(kept).(*corev1.Pod); got.Name != pod.Name {
			t.Errorf("%d bytes came back as %d", c.bytes, len(got.Name))
		}
	}
}

func TestNoFolder(t *testing.T) {
	t.Parallel()
	_, err := mappedfile.New(filepath.Join(t.TempDir(), "absent"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("New in a folder that is not there: %v", err)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
