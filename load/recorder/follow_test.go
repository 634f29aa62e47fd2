package recorder

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

// scripted is a client of a server that follows a test's script. It counts the calls.
type scripted struct {
	lists, watches int
	onList         func(ctx context.Context, o metav1.ListOptions) (page, error)
	onWatch        func(watch int) []watch.Event // the events before the watch ends
}

func (s *scripted) list(ctx context.Context, o metav1.ListOptions) (page, error) {
	s.lists++
	return s.onList(ctx, o)
}

func (s *scripted) watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	s.watches++
	events := s.onWatch(s.watches)
	w := watch.NewFakeWithChanSize(len(events), false)
	for _, e := range events {
		w.Action(e.Type, e.Object)
	}
	w.Stop()
	return w, nil
}

func (*scripted) object(obj runtime.Object) (*unstructured.Unstructured, error) {
	return obj.(*unstructured.Unstructured), nil
}

// follows records from a scripted client.
func (s *scripted) follows(t *testing.T, out io.Writer, o Options) (Progress, error) {
	t.Helper()
	return follows(t, s, out, o)
}

func follows(t *testing.T, c client, out io.Writer, o Options) (Progress, error) {
	t.Helper()
	o.Resources = []load.TraceResource{
		{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}
	w, err := load.NewTraceWriter(out, load.TraceHeader{Resources: o.Resources})
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{options: o, hide: (&Cluster{}).hide}
	r.mu.out, r.mu.notes = w, map[string]int{}
	r.followers = []*follower{{recorder: r, client: c}}
	return r.run(t.Context())
}

func gone() watch.Event {
	return watch.Event{Type: watch.Error,
		Object: ptr.To(apierrors.NewResourceExpired("too old").Status())}
}

func versioned(version int) *unstructured.Unstructured {
	p := pod("one", version)
	p.SetResourceVersion(strconv.Itoa(version))
	return p
}

// Where the history is shorter than a list takes, the recorder must not list without pause:
// it shares the cluster with real work.
func TestForgottenAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{onWatch: func(int) []watch.Event { return []watch.Event{gone()} }}
		s.onList = func(context.Context, metav1.ListOptions) (page, error) {
			time.Sleep(time.Millisecond) // of the bubble
			return page{items: []runtime.Object{versioned(s.lists)}, version: strconv.Itoa(s.lists)}, nil
		}
		p, err := s.follows(t, io.Discard, Options{For: 10 * time.Minute, FlushEvery: time.Hour})
		// The end comes in a pause before a list, or in the millisecond of a list: then nothing is missing.
		if err != nil && !errors.As(err, new(*missingError)) || s.lists > 40 ||
			p.Notes[load.NoteRelisted] < 10 {
			t.Errorf("%d lists in ten minutes, notes %v, %v; want between 10 and 40", s.lists, p.Notes, err)
		}
	})
}

// After a watch that advanced before its history was gone, the recorder lists at once,
// however often.
func TestForgottenAfterEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{}
		s.onList = func(context.Context, metav1.ListOptions) (page, error) {
			time.Sleep(time.Millisecond)
			return page{items: []runtime.Object{versioned(2*s.lists + 1)},
				version: strconv.Itoa(2*s.lists + 1)}, nil
		}
		s.onWatch = func(int) []watch.Event {
			return []watch.Event{{Type: watch.Modified, Object: versioned(2*s.lists + 2)}, gone()}
		}
		if _, err := s.follows(t, io.Discard,
			Options{For: 10 * time.Second, FlushEvery: time.Hour}); err != nil || s.lists < 60 {
			t.Errorf("%d lists in ten seconds, %v; want 60 or more", s.lists, err)
		}
	})
}

// The error of the first lists is the full disk, not the cancellation that follows.
func TestDiskFullWhileListing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{onList: func(ctx context.Context, o metav1.ListOptions) (page, error) {
			if o.Continue == "" {
				return page{items: []runtime.Object{versioned(1)}, version: "1", rest: "more"}, nil
			}
			<-ctx.Done() // the second page is slow
			return page{}, ctx.Err()
		}}
		p, err := s.follows(t, &full{left: 300}, Options{For: time.Hour, FlushEvery: time.Second})
		if err == nil || !strings.Contains(err.Error(), "no space left") || !p.Listing {
			t.Errorf("%+v: %v, want that no space is left", p, err)
		}
	})
}

// A server that gives the same token for ever would keep the first list going.
func TestAListWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{onList: func(context.Context, metav1.ListOptions) (page, error) {
			return page{items: []runtime.Object{versioned(1)}, version: "1", rest: "more"}, nil
		}}
		if _, err := s.follows(t, io.Discard,
			Options{For: time.Minute, FlushEvery: time.Second}); !errors.Is(err, errSameToken) ||
			s.lists != 2 {
			t.Errorf("%d lists, %v; want an end after the second", s.lists, err)
		}
	})
}

// dying serves a watch until it is killed, and another if it is there again.
type dying struct {
	scripted
	after, back time.Duration
	began       time.Time
}

func (d *dying) watch(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
	up, w := time.Since(d.began), watch.NewFakeWithChanSize(1, false)
	if up >= d.after && up < d.back {
		return nil, errors.New("connection refused")
	}
	if up < d.after {
		time.AfterFunc(d.after-up, w.Stop)
	}
	return w, nil
}

// A recording whose server went away says what it lacks, whatever ended it, and is whole all the
// same. One whose server came back lacks nothing.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		back time.Duration
		want string
	}{
		"for good": {time.Hour, "what happened to pods in the last 8s is missing: connection refused"},
		"and back": {5 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &dying{after: 4 * time.Second, back: c.back, began: time.Now()}
				d.onList = func(context.Context, metav1.ListOptions) (page, error) {
					return page{items: []runtime.Object{versioned(1)}, version: "1"}, nil
				}
				var out bytes.Buffer
				_, err := follows(t, d, &out, Options{For: 12 * time.Second, FlushEvery: time.Hour})
				trace, damage := load.ReadTrace("trace", &out)
				if damage != nil || trace.Ended != c.want || fmt.Sprint(err) != cmp.Or(c.want, "<nil>") {
					t.Errorf("%v, the trace says %+v, %v; want %q", err, trace, damage, c.want)
				}
			})
		})
	}
}

// A file whose beginning cannot be written holds nothing worth keeping.
func TestDiskFullAtTheStart(t *testing.T) {
	t.Parallel()
	s := serve(t, apiserver.Options{}, synthetic.SourceOptions{}, pod("one", 1))
	p, err := s.Record(t.Context(), &full{left: 10},
		Options{Resources: s.resolve(t, "pods"), For: time.Hour})
	if err == nil || !strings.Contains(err.Error(), "no space left") || !p.Listing {
		t.Errorf("%+v: %v, want the error before the first lists are done", p, err)
	}
}
