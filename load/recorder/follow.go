package recorder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// follower lists one resource and watches it from then on. One goroutine runs it.
type follower struct {
	*recorder
	client  client
	index   int
	version string    // everything up to it was written; "" if the resource must be listed again
	known   time.Time // the trace has all that happened until then
	why     error     // of the last watch or list
}

const (
	// firstTries is how often a request is tried on which the recording depends.
	firstTries = 4
	// The requested length of a watch is between one and two times watchTime, as in
	// informers, so that the watches of many clients do not end together.
	watchTime = 5 * time.Minute
	// The wait after a failure doubles from firstWait to lastWait.
	firstWait = 100 * time.Millisecond
	lastWait  = 30 * time.Second
	// shortWatch is the shortest watch that counts as a success.
	shortWatch = time.Second
)

// begin writes the initial objects.
func (f *follower) begin(ctx context.Context) error {
	tries := 0
	version, err := patiently(ctx, func() (string, error) {
		tries++
		return f.list(ctx, f.options.PageSize, func(obj runtime.Object) error {
			return f.write(f.client, obj,
				func(w *load.TraceWriter, _ time.Duration, obj runtime.Object) error {
					if _, _, known := w.Known(f.index, synthetic.Key(obj)); known {
						return nil // an earlier try wrote it; the relist finds later changes
					}
					return w.Initial(f.index, obj)
				})
		})
	})
	if err != nil && !expired(err) {
		return fmt.Errorf("list %s: %w", f.options.Resources[f.index], err)
	}
	// The objects of several tries are of several moments. They are the initial state all the
	// same; a relist, compared with it, comes before the events.
	if tries == 1 && err == nil {
		f.version = version
	}
	return nil
}

// patiently calls request again while it fails in a way that may pass, firstTries times at most.
func patiently[T any](ctx context.Context, request func() (T, error)) (v T, err error) {
	// its own error says less than err
	_ = wait.ExponentialBackoffWithContext(ctx,
		wait.Backoff{Duration: firstWait, Factor: 2, Steps: firstTries},
		func(context.Context) (bool, error) {
			v, err = request()
			return err == nil || fatal(err), nil
		})
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return v, err
}

// fatal reports whether another try is useless.
func fatal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) ||
		apierrors.IsBadRequest(err) || expired(err) ||
		errors.Is(err, errNoVersion) || errors.Is(err, errSameToken) || errors.As(err, new(*writeError))
}

func expired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// errNoVersion is the error of a list that names no version: no watch could follow it.
var errNoVersion = errors.New(
	"the server's list has no resourceVersion, so its changes cannot be watched: leave this " +
		"resource out")

// errSameToken is the error of a list that would have no end. It ends a recording whose first list
// it is; a later one is tried again, as after any refusal.
var errSameToken = errors.New(
	"the server's list gives the same continue token twice, so it has no end: leave this " +
		"resource out")

// list passes all objects to each, page by page, and returns the list's version. limit 0
// asks for one page.
func (f *follower) list(ctx context.Context, limit int64, each func(runtime.Object) error) (string,
	error) {
	o, seen := metav1.ListOptions{Limit: limit}, map[string]bool{}
	for {
		p, err := f.client.list(ctx, o)
		if err != nil {
			return "", err
		}
		for _, obj := range p.items {
			if err := each(obj); err != nil {
				return "", &writeError{err}
			}
		}
		if p.rest == "" && p.version == "" {
			return "", errNoVersion
		}
		if p.rest == "" {
			return p.version, nil
		}
		if seen[p.rest] {
			return "", errSameToken
		}
		seen[p.rest] = true
		o.Continue = p.rest
	}
}

// follow writes events until ctx ends. Its error is the writer's: after any error of the
// server it tries again.
func (f *follower) follow(ctx context.Context) error {
	pause, troubled := firstWait, false
	f.known = time.Now()
	for ctx.Err() == nil {
		began, from := time.Now(), f.version
		var err error
		relist := from == ""
		if relist {
			err = f.relist(ctx)
		} else {
			err = f.watch(ctx)
		}
		lasted := time.Since(began)
		if ctx.Err() == nil {
			f.why = err
		}
		var failed *writeError
		switch {
		case ctx.Err() != nil && !errors.As(err, &failed):
			return nil
		case errors.As(err, &failed):
			return failed.error
		case err == nil && relist:
			troubled = false
			continue
		case err == nil && lasted >= watchTime:
			pause, troubled = firstWait, false
			continue
		}
		if lasted > shortWatch || expired(err) && f.version != from {
			pause, troubled = firstWait, false
		}
		if expired(err) {
			// Where the server keeps its history for less time than a list takes, one list
			// follows another: the waits then double, as after any refusal.
			f.version = ""
			if !sleep(ctx, pause/2+rand.N(pause)) {
				return nil
			}
			pause = min(2*pause, lastWait)
			continue
		}
		// The watch broke off, or the server refused. Each is noted once until it is over.
		n := load.TraceNote{Resource: f.index, What: load.NoteResumed, Why: "the watch ended early"}
		if err != nil {
			n.What, n.Why = load.NoteRefused, f.hide(err).Error()
		}
		if !troubled || err == nil {
			if err := f.note(n); err != nil {
				return err
			}
		}
		troubled = err != nil
		if !sleep(ctx, pause/2+rand.N(pause)) {
			return nil
		}
		pause = min(2*pause, lastWait)
	}
	return nil
}

// watch writes events from the version on, and advances it. nil means that the watch ended
// without an error.
func (f *follower) watch(ctx context.Context) error {
	timeout := int64((watchTime + rand.N(watchTime)).Seconds())
	w, err := f.client.watch(ctx,
		metav1.ListOptions{ResourceVersion: f.version, AllowWatchBookmarks: true,
			TimeoutSeconds: &timeout})
	if err != nil {
		return err
	}
	defer w.Stop()
	opened := time.Now()
	defer func() {
		if ctx.Err() != nil || time.Since(opened) > shortWatch {
			f.known = time.Now()
		}
	}()
	for {
		var e watch.Event
		var open bool
		select {
		case e, open = <-w.ResultChan():
			if !open {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
		if e.Type == watch.Error {
			return apierrors.FromObject(e.Object)
		}
		m, err := meta.Accessor(e.Object)
		if err != nil {
			return fmt.Errorf("the server sent a %T in a watch", e.Object)
		}
		version := m.GetResourceVersion() // before the object is written: then it belongs to the writer
		if err := f.event(e); err != nil {
			return &writeError{err}
		}
		f.version, f.known = version, time.Now()
		f.observe(version)
	}
}

// missing says what is not known at the end of the recording, or "".
func (f *follower) missing() string {
	gap := time.Since(f.known)
	if gap < shortWatch {
		return ""
	}
	why := "the server gave no answer"
	if f.why != nil {
		why = f.hide(f.why).Error()
	}
	return fmt.Sprintf("what happened to %s in the last %s is missing: %s",
		f.options.Resources[f.index], gap.Round(time.Second), why)
}

func (f *follower) event(e watch.Event) error {
	switch e.Type {
	case watch.Added, watch.Modified:
		return f.write(f.client, e.Object,
			func(w *load.TraceWriter, at time.Duration, obj runtime.Object) error {
				return w.Changed(at, f.index, obj)
			})
	case watch.Deleted:
		return f.write(f.client, e.Object,
			func(w *load.TraceWriter, at time.Duration, obj runtime.Object) error {
				return w.Deleted(at, f.index, obj)
			})
	}
	return nil // a bookmark
}

// relist lists the resource and writes its differences from the last written state as
// events.
func (f *follower) relist(ctx context.Context) error {
	n := load.TraceNote{Resource: f.index, What: load.NoteRelisted,
		Why: "the server has forgotten what came after the last version"}
	there := map[string]bool{}
	each := func(obj runtime.Object) error {
		return f.write(f.client, obj,
			func(w *load.TraceWriter, at time.Duration, obj runtime.Object) error {
				key := synthetic.Key(obj)
				there[key] = true
				m, err := meta.Accessor(obj)
				if err != nil {
					return err
				}
				uid, version, known := w.Known(f.index, key)
				switch {
				case known && uid == m.GetUID() && version == m.GetResourceVersion():
					return nil
				case known && uid == m.GetUID():
					n.Modified++
				case known:
					n.Deleted++
					n.Added++
				default:
					n.Added++
				}
				return w.Changed(at, f.index, obj)
			})
	}
	version, err := f.list(ctx, f.options.PageSize, each)
	if expired(err) {
		// The list took longer than the server keeps its history: then all in one page.
		clear(there)
		version, err = f.list(ctx, 0, each)
	}
	if err != nil {
		return err
	}
	if err := f.gone(there, &n); err != nil {
		return &writeError{err}
	}
	f.version, f.known = version, time.Now()
	if err := f.note(n); err != nil {
		return &writeError{err}
	}
	f.observe(version)
	return nil
}

// gone writes the deletions of objects that no longer exist.
func (f *follower) gone(there map[string]bool, n *load.TraceNote) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range f.mu.out.Keys(f.index) {
		if there[key] {
			continue
		}
		n.Deleted++
		if err := f.mu.out.Gone(f.atLocked(), f.index, key); err != nil {
			return err
		}
	}
	return nil
}

// sleep returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
