package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/load"
)

// Options specifies a recording. Resources and For are required; the rest may be zero.
type Options struct {
	// Resources are the resources to watch, from Cluster.Resolve.
	Resources []load.TraceResource
	// Namespace is the only namespace to record; "" for all.
	Namespace string
	// For is the duration of the recording, from the end of the first lists.
	For time.Duration
	// MetadataOnly asks the server for metadata only. It also drops the annotation in which
	// kubectl keeps the whole object, and all annotations of Secrets and ConfigMaps.
	MetadataOnly bool
	// Redact drops data that is likely to be confidential, in templates and nested objects
	// too: data and stringData of Secrets, data and binaryData of ConfigMaps, the values of
	// environment variables, all annotations, and managedFields. It keeps everything else:
	// names, labels, images, command lines, probes and the fields of custom resources,
	// which may contain secrets as well.
	Redact bool
	// DropManagedFields drops managedFields without Redact.
	DropManagedFields bool
	// FlushEvery is how much of a recording may be lost if the process is killed; the
	// default is DefaultFlushEvery.
	FlushEvery time.Duration
	// PageSize is the number of objects in a page of a list; the default is
	// DefaultPageSize.
	PageSize int64
	// Progress, if not nil, gets the progress each second, and once at the end.
	Progress func(Progress)
	// observe is called after each event; tests use it to end a recording.
	observe func(Progress)
}

// The defaults of Options.
const (
	DefaultFlushEvery = 5 * time.Second
	DefaultPageSize   = 500
)

// Progress is the state of a recording.
type Progress struct {
	load.TraceStats
	Listing bool          // the first lists are not finished
	Elapsed time.Duration // since the end of the first lists
	Left    time.Duration
	Notes   map[string]int // by TraceNote.What
	version string         // of the resource whose event was just written
}

// check reports what is wrong with the options.
func (o Options) check() error {
	if len(o.Resources) == 0 {
		return errNoResource
	}
	if o.For <= 0 {
		return fmt.Errorf("--for %s: use a time above 0, such as 10m", o.For)
	}
	for _, r := range o.Resources {
		if secret(r) && !o.Redact && !o.MetadataOnly {
			return errors.New(
				"secrets are not written into a file: --redact leaves their data out, --metadata-only does " +
					"not even ask for it")
		}
		if !r.Namespaced && o.Namespace != "" {
			return fmt.Errorf(
				"--namespace %s: %s have no namespace: leave them out, or leave out --namespace", o.Namespace,
				r)
		}
	}
	return nil
}

// Probe checks the options and that every resource may be listed and watched. It writes
// nothing.
func (c *Cluster) Probe(ctx context.Context, o Options) error {
	return c.hide(c.probe(ctx, o))
}

func (c *Cluster) probe(ctx context.Context, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	for _, r := range o.Resources {
		client := c.client(r, o)
		first, err := patiently(ctx, func() (page, error) {
			return client.list(ctx, metav1.ListOptions{Limit: 1})
		})
		if err != nil {
			return c.refused("list", r, o, err)
		}
		w, err := patiently(ctx, func() (watch.Interface, error) {
			return client.watch(
				ctx, metav1.ListOptions{ResourceVersion: first.version, AllowWatchBookmarks: true})
		})
		if err != nil {
			return c.refused("watch", r, o, err)
		}
		w.Stop()
	}
	return nil
}

func (c *Cluster) refused(verb string, r load.TraceResource, o Options, err error) error {
	where := "in all namespaces"
	switch {
	case !r.Namespaced:
		where = "of the cluster"
	case o.Namespace != "":
		where = "in namespace " + o.Namespace
	}
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
		return fmt.Errorf("may not %s %s %s: %w; ask for the verbs list and watch, or use --namespace",
			verb, r, where, err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("cannot %s %s %s: %w", verb, r, where, err)
	}
	return fmt.Errorf("%s %s %s at %s: %w", verb, r, where, c.Host, err)
}

// Record writes a recording to out until its time is up or ctx ends. The trace is always
// closed: it is complete, but may be shorter. It is cut off only if out fails. There is an error if
// out fails, if a first list fails for good, or if the last part of some resources is missing: it
// names them. The end of ctx is no error once the first lists are done. Call Probe first.
func (c *Cluster) Record(ctx context.Context, out io.Writer, o Options) (Progress, error) {
	nothing := Progress{Listing: true}
	if err := o.check(); err != nil {
		return nothing, err
	}
	if o.FlushEvery <= 0 {
		o.FlushEvery = DefaultFlushEvery
	}
	if o.PageSize <= 0 {
		o.PageSize = DefaultPageSize
	}
	w, err := load.NewTraceWriter(out, load.TraceHeader{
		Source: "recorded from " + shown(c.Host), Recorded: time.Now().UTC().Truncate(time.Second),
		Compress:  1,
		Resources: o.Resources, Namespace: o.Namespace, MetadataOnly: o.MetadataOnly,
		Dropped: o.Dropped(),
	})
	if err != nil {
		return nothing, err
	}
	r := &recorder{options: o, hide: c.hide,
		drop: dropper{redact: o.Redact, managedFields: o.DropManagedFields, metadataOnly: o.MetadataOnly}}
	r.mu.out, r.mu.notes = w, map[string]int{}
	for i, resource := range o.Resources {
		r.followers = append(r.followers, &follower{recorder: r, client: c.client(resource, o), index: i})
	}
	p, err := r.run(ctx)
	return p, c.hide(err)
}

// recorder writes the followers' events into one trace.
type recorder struct {
	options   Options
	drop      dropper
	hide      func(error) error // credentials, see Cluster.hide
	followers []*follower       // one for each resource

	mu struct {
		sync.Mutex
		out     *load.TraceWriter
		started time.Time // zero during the first lists
		notes   map[string]int
	}
}

// run lists every resource, then watches all of them.
func (r *recorder) run(ctx context.Context) (Progress, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var housekeeping sync.WaitGroup
	done := make(chan struct{})
	housekeeping.Go(func() { r.keep(cancel, done) })

	err := r.each(ctx, (*follower).begin)
	var ended, missing []string
	if err == nil {
		r.mu.Lock()
		r.mu.started = time.Now()
		r.mu.Unlock()
		r.observe("")
		timed, stop := context.WithTimeoutCause(ctx, r.options.For, errTimeUp)
		err = r.each(timed, (*follower).follow)
		stop()
		if cause := context.Cause(timed); err == nil && !errors.Is(cause, errTimeUp) {
			ended = append(ended, fmt.Sprintf("interrupted after %s of %s",
				r.progress().Elapsed.Round(time.Second), r.options.For))
			if failed := new(writeError); errors.As(cause, &failed) {
				err = failed.error
			}
		}
		for _, f := range r.followers {
			if m := f.missing(); m != "" {
				missing = append(missing, m)
			}
		}
		if len(missing) > 0 && err == nil {
			err = &missingError{strings.Join(missing, "; ")}
		}
	}
	close(done)
	housekeeping.Wait()
	p := r.progress()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.started.IsZero() {
		if failed := new(writeError); errors.As(context.Cause(ctx), &failed) {
			err = failed.error // a list that was cancelled reports only the cancellation
		}
		return p, err
	}
	// an error of the writer that is in err already comes again
	if e := r.mu.out.Close(p.Elapsed, strings.Join(append(ended, missing...), "; ")); e != nil &&
		(err == nil || errors.As(err, new(*missingError))) {
		err = e
	}
	p.TraceStats, p.Left = r.mu.out.Stats(), 0
	if r.options.Progress != nil {
		r.options.Progress(p)
	}
	return p, err
}

var errTimeUp = errors.New("the time is up")

// missingError is the error of a whole trace that lacks the last part of what happened.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what }

// writeError is the error of a recording that can no longer be written.
type writeError struct{ error }

// each runs the followers and returns the first error, which ends the others.
func (r *recorder) each(ctx context.Context, do func(*follower, context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	var first sync.Once
	var err error
	for _, f := range r.followers {
		running.Go(func() {
			if e := do(f, ctx); e != nil {
				first.Do(func() { err = e })
				cancel(e)
			}
		})
	}
	running.Wait()
	return err
}

// keep reports the progress and flushes the current block from time to time.
func (r *recorder) keep(cancel context.CancelCauseFunc, done <-chan struct{}) {
	second, flush := time.NewTicker(time.Second), time.NewTicker(r.options.FlushEvery)
	defer second.Stop()
	defer flush.Stop()
	for {
		select {
		case <-done:
			return
		case <-second.C:
			if r.options.Progress != nil {
				r.options.Progress(r.progress())
			}
		case <-flush.C:
			r.mu.Lock()
			err := r.mu.out.Flush()
			r.mu.Unlock()
			if err != nil {
				cancel(&writeError{err})
			}
		}
	}
}

func (r *recorder) progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := Progress{TraceStats: r.mu.out.Stats(), Listing: r.mu.started.IsZero(), Left: r.options.For,
		Notes: map[string]int{}}
	for what, n := range r.mu.notes {
		p.Notes[what] = n
	}
	if !p.Listing {
		p.Elapsed = time.Since(r.mu.started)
		p.Left = max(0, r.options.For-p.Elapsed)
	}
	return p
}

// observe tells a test that a resource was followed up to a version.
func (r *recorder) observe(version string) {
	if r.options.observe == nil {
		return
	}
	p := r.progress()
	p.version = version
	r.options.observe(p)
}

// atLocked is the time of an event that arrives now.
func (r *recorder) atLocked() time.Duration {
	if r.mu.started.IsZero() {
		return 0
	}
	return time.Since(r.mu.started)
}

func (r *recorder) note(n load.TraceNote) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	n.At = r.atLocked()
	r.mu.notes[n.What]++
	return r.mu.out.Note(n)
}

// write removes the parts to be dropped from an object and passes it to the writer.
func (r *recorder) write(c client, obj runtime.Object,
	do func(w *load.TraceWriter, at time.Duration, obj runtime.Object) error) error {
	u, err := c.object(obj)
	if err != nil {
		return err
	}
	r.drop.apply(u)
	r.mu.Lock()
	defer r.mu.Unlock()
	return do(r.mu.out, r.atLocked(), u)
}
