package engine

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// allocator is a subject whose operations allocate that many objects each. It has all but one.
type allocator struct {
	stub
	objects int
	lacks   load.Op
	fails   load.Op       // does fewer operations than asked
	done    *atomic.Int64 // operations of all sittings
	stops   *int
}

func (a *allocator) Stop() { *a.stops++ }

func (a *allocator) Actor(op load.Op, _ load.Group, _ int) (Actor, error) {
	if op == a.lacks {
		return Actor{}, fmt.Errorf("%s: %w", op, ErrUnsupported)
	}
	var sink []*[32]byte
	return Actor{
		Loop: func(n int) int {
			for range n {
				sink = sink[:0]
				for range a.objects {
					sink = append(sink, new([32]byte))
				}
			}
			a.done.Add(int64(n))
			if op == a.fails {
				return n - 1
			}
			return n
		},
		Tell: func(values map[string]float64) { values["told"] = float64(a.objects) },
	}, nil
}

// troupe is two players and their conductor, in one process.
type troupe struct {
	players [2]Player
	asked   asked
	forks   [2]record.Fork
	done    [2]atomic.Int64 // operations of each
	stops   [2]int
	sat     [2]int
}

// newTroupe lets each player have a copy of its subject in each sitting.
func newTroupe(subjects [2]*allocator) *troupe {
	t := new(troupe)
	for i := range t.players {
		t.forks[i].Process = map[string]float64{}
		t.players[i] = Player{
			Objects: synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: 100}, 1),
			Fork:    &t.forks[i],
			Sit: func(int) (Subject, error) {
				t.sat[i]++
				s := subjects[i]
				return &allocator{objects: s.objects, lacks: s.lacks, fails: s.fails, done: &t.done[i],
					stops: &t.stops[i]}, nil
			},
		}
	}
	return t
}

// asked records what the conductor asks of whom, in the order in which it asks.
type asked struct {
	all []struct {
		player int
		ask
	}
}

func (a *asked) of(player int) io.Writer {
	var text bytes.Buffer
	from := gob.NewDecoder(&text)
	return writerFunc(func(p []byte) (int, error) {
		text.Write(p)
		var one ask
		if err := from.Decode(&one); err == nil { // or it is the description of a type
			a.all = append(a.all, struct {
				player int
				ask
			}{player, one})
		}
		return len(p), nil
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// conduct has the players play until the conductor has ended.
func (t *troupe) conduct(ctx context.Context, w load.Workload) (results [2]Results, conducted,
	played error) {
	var all sync.WaitGroup
	var peers [2]*Peer
	var ends [2]error
	var pipes []io.Closer
	for i, p := range t.players {
		askedOf, asks := io.Pipe()
		answers, answered := io.Pipe()
		peers[i] = NewPeer(gob.NewDecoder(answers), gob.NewEncoder(io.MultiWriter(t.asked.of(i), asks)))
		pipes = append(pipes, asks, answers)
		all.Go(func() {
			err := p.Play(ctx, gob.NewDecoder(askedOf), gob.NewEncoder(answered))
			ends[i] = errors.Join(err, answered.Close(), askedOf.Close())
		})
	}
	results, conducted = Conduct(ctx, peers[0], peers[1], w, 0)
	for _, end := range pipes {
		_ = end.Close() // of a pipe: it cannot fail
	}
	all.Wait()
	return results, conducted, errors.Join(ends[:]...)
}

var twoOps = load.Workload{Ops: []load.Op{load.OpGet, load.OpList}, Parallel: []int{1, 2},
	Duration: 24 * time.Millisecond, Objects: synthetic.ObjectSpec{Count: 100}}

// Each process reports what it did itself, and head the ratios.
func TestConduct(t *testing.T) {
	tr := newTroupe([2]*allocator{{objects: 1}, {objects: 3}})
	results, err, played := tr.conduct(t.Context(), twoOps)
	if err := errors.Join(err, played); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, 3} {
		if n := len(results[i].Series); n != 4 {
			t.Fatalf("%d series, want 4: two operations on one and on two goroutines", n)
		}
		for _, s := range results[i].Series {
			// The conductor runs in the same process here, so its messages count too: much on a
			// busy machine, where a turn has few operations.
			if got := s.Values[metrics.AllocsPerOp]; got < want-0.01 || got > 1.5*want {
				t.Errorf("process %d, %s: %g allocs/op, want %g to %g", i, s.Name(), got, want, 1.5*want)
			}
			if s.Values["told"] != want || s.Values[metrics.NsPerOp] <= 0 || s.Duet != nil {
				t.Errorf("process %d, %s: %+v", i, s.Name(), s)
			}
			if ratio, ok := s.Base[metrics.NsPerOp]; ok != (i == 1) || ok &&
				len(ratio.Sittings) != Sittings(twoOps) {
				t.Errorf("process %d, %s: ratios %v; only head has them, of each sitting", i, s.Name(), s.Base)
			}
		}
		if tr.forks[i].Process[metrics.HarnessNs] <= 0 {
			t.Errorf("process %d does not say what the harness costs", i)
		}
		if tr.sat[i] != Sittings(twoOps) || tr.stops[i] != tr.sat[i] {
			t.Errorf("process %d: %d sittings, %d components stopped, want %d of each", i, tr.sat[i],
				tr.stops[i], Sittings(twoOps))
		}
	}
	// Both calibrate alone; from then on they do as many operations.
	if a, b := float64(tr.done[0].Load()), float64(tr.done[1].Load()); a/b > 1.5 || b/a > 1.5 {
		t.Errorf("%g and %g operations, want about as many", a, b)
	}
}

// What is prepared last has its data in the caches, and is faster by some percent until they
// are full of other things. So neither side is always the last.
func TestConductPreparesInTurn(t *testing.T) {
	tr := newTroupe([2]*allocator{{objects: 1}, {objects: 1}})
	if _, err, played := tr.conduct(t.Context(), twoOps); errors.Join(err, played) != nil {
		t.Fatal(errors.Join(err, played))
	}
	for _, what := range []string{askSit, askCrew} {
		first := [2]int{}
		asked := slices.DeleteFunc(slices.Clone(tr.asked.all), func(a struct {
			player int
			ask
		}) bool {
			return a.What != what
		})
		for i := 0; i < len(asked); i += 2 {
			first[asked[i].player]++
			if asked[i].player == asked[i+1].player {
				t.Fatalf("%s: player %d is asked twice", what, asked[i].player)
			}
		}
		if first[0] != first[1] || first[0] == 0 {
			t.Errorf("%s: each player is the first %v times, want as often", what, first)
		}
	}
}

// What one of the two lacks is measured of the other, without a ratio.
func TestConductWhatOneLacks(t *testing.T) {
	for lacking := range 2 {
		subjects := [2]*allocator{{objects: 1}, {objects: 1}}
		subjects[lacking].lacks = load.OpList
		results, err, played := newTroupe(subjects).conduct(t.Context(), twoOps)
		if err := errors.Join(err, played); err != nil {
			t.Fatal(err)
		}
		of := func(i int) (names []string) {
			for _, s := range results[i].Series {
				names = append(names, s.Name())
				if whole := s.Op == string(load.OpGet); (len(s.Base) > 0) != (whole && i == 1) {
					t.Errorf("process %d lacks list; the ratios of %s in process %d are %v", lacking, s.Name(), i,
						s.Base)
				}
			}
			return names
		}
		if got := of(lacking); !slices.Equal(got, []string{"get", "x2:get"}) ||
			len(results[lacking].Unsupported) != 2 {
			t.Errorf("process %d: %v, %q; want get alone, and why", lacking, got,
				results[lacking].Unsupported)
		}
		if got := of(1 - lacking); len(got) != 4 || len(results[1-lacking].Unsupported) != 0 {
			t.Errorf("process %d: %v, want all", 1-lacking, got)
		}
	}
}

// A player that fails ends the play, and says why on both sides. The other is told to end.
func TestConductEndsWithAPlayer(t *testing.T) {
	for failing := range 2 {
		subjects := [2]*allocator{{objects: 1}, {objects: 1}}
		subjects[failing].fails = load.OpList
		_, err, played := newTroupe(subjects).conduct(t.Context(), twoOps)
		if !errors.Is(err, errStopped) || !strings.Contains(err.Error(), "list") {
			t.Errorf("conducted: %v, want that list did fewer operations", err)
		}
		if !errors.Is(played, ErrLeft) {
			t.Errorf("played: %v, want ErrLeft", played)
		}

		tr := newTroupe([2]*allocator{{objects: 1}, {objects: 1}})
		broken := errors.New("no component")
		tr.players[failing].Sit = func(int) (Subject, error) { return nil, broken }
		if _, err, played = tr.conduct(t.Context(), twoOps); err == nil ||
			err.Error() != broken.Error() || played == nil {
			t.Errorf("conducted: %v, played: %v; want why", err, played)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err, _ := newTroupe([2]*allocator{{objects: 1}, {objects: 1}}).conduct(ctx,
		twoOps); err == nil {
		t.Error("a play that was called off is conducted")
	}
}

// A conductor of another benchrun may ask for what this one does not know.
func TestPlayRefusesWhatItDoesNotKnow(t *testing.T) {
	p := newTroupe([2]*allocator{{}, {}}).players[0]
	in, conductor := io.Pipe()
	go func() { _ = gob.NewEncoder(conductor).Encode(ask{What: "sing"}) }()
	if err := p.Play(t.Context(), gob.NewDecoder(in), gob.NewEncoder(io.Discard)); err == nil ||
		!strings.Contains(err.Error(), `"sing"`) {
		t.Errorf("got %v, want what was asked", err)
	}
}
