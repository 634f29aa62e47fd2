package apiserver

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/load/synthetic"
)

// watchBuffer is the most events that a watch takes from its source before it must write:
// several events make one write to the network.
const watchBuffer = 64

// get answers with the newest state, whatever version the request would accept.
func (s *Server) get(w http.ResponseWriter, req *http.Request, t target) error {
	var o metav1.GetOptions
	if err := decodeQuery(req, &o); err != nil {
		return err
	}
	if _, err := strconv.ParseUint(o.ResourceVersion, 10, 64); err != nil && o.ResourceVersion != "" {
		return apierrors.NewBadRequest(
			fmt.Sprintf("invalid resource version %q: use a number", o.ResourceVersion))
	}
	obj, exists := t.resource.source.Get(t.key())
	if !exists {
		return apierrors.NewNotFound(t.resource.gvr.GroupResource(), t.name)
	}
	return s.respondObject(w, req, t, http.StatusOK, obj)
}

func (s *Server) listOrWatch(w http.ResponseWriter, req *http.Request, t target) error {
	o, err := s.listOptions(req, t)
	if err != nil {
		return err
	}
	m, err := s.negotiate(req, t.resource, o.Watch)
	if err != nil {
		return err
	}
	if o.Watch {
		return s.watch(w, req, t.resource, m, o)
	}
	obj, err := t.resource.source.ListWithContext(req.Context(), o)
	if err != nil {
		return err
	}
	listed := obj.(*metainternal.List)
	if t.namespace == "" && o.FieldSelector != "" {
		// The source counts the remaining objects of a namespace, because a namespace in a
		// path is no selector. Here it is a selector, and a real server does not count
		// selected objects.
		listed.RemainingItemCount = nil
	}
	list, err := s.listOf(t.resource, m, listed)
	if err != nil {
		return err
	}
	s.respond(w, m, http.StatusOK, list)
	s.listFault(w, req)
	return nil
}

// listOf puts a source's list into the list type that clients expect. It copies each object
// shallowly.
func (s *Server) listOf(r *resource, m media, from *metainternal.List) (runtime.Object, error) {
	switch {
	case m.form == formTable:
		return m.table(r.gvk, from.ListMeta, from.Items...), nil
	case m.form == formMetadata:
		list := &metav1.PartialObjectMetadataList{ListMeta: from.ListMeta,
			Items: make([]metav1.PartialObjectMetadata, len(from.Items))}
		list.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind(partial.Kind + "List"))
		for i, obj := range from.Items {
			list.Items[i] = *partialOf(obj)
		}
		return list, nil
	case r.unstructured:
		list := &unstructured.UnstructuredList{Items: make([]unstructured.Unstructured, len(from.Items))}
		list.SetGroupVersionKind(r.listKind())
		list.SetResourceVersion(from.ResourceVersion)
		list.SetContinue(from.Continue)
		list.SetRemainingItemCount(from.RemainingItemCount)
		for i, obj := range from.Items {
			list.Items[i] = *obj.(*unstructured.Unstructured)
		}
		return list, nil
	}
	list, err := s.options.Scheme.New(r.listKind())
	if err != nil {
		return nil, err // cannot happen: newResource tried it
	}
	if err := meta.SetList(list, from.Items); err != nil {
		return nil, err
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	accessor.SetResourceVersion(from.ResourceVersion)
	accessor.SetContinue(from.Continue)
	accessor.SetRemainingItemCount(from.RemainingItemCount)
	list.GetObjectKind().SetGroupVersionKind(r.listKind())
	return list, nil
}

// watch streams events until the source, the client or the server ends it.
func (s *Server) watch(w http.ResponseWriter, req *http.Request, r *resource, m media,
	o metav1.ListOptions) error {
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	began, err := strconv.ParseUint(r.source.ResourceVersion(), 10, 64)
	if err != nil {
		return err // cannot happen: the source made it
	}
	from, err := r.source.WatchBuffered(ctx, o, watchBuffer)
	if err != nil {
		return err
	}
	defer from.Stop()
	s.stats.watches.Add(1)
	s.stats.opened.Add(1)
	r.watches.Add(1)
	defer s.stats.watches.Add(-1)
	defer r.watches.Add(-1)

	w.Header().Set("Content-Type", m.contentType(true))
	w.Header().Set("Cache-Control", "no-cache, private")
	w.WriteHeader(http.StatusOK)
	out := &stream{server: s, w: w, req: req, control: http.NewResponseController(w)}
	if out.control.Flush() != nil {
		return nil
	}
	var scratch bytes.Buffer
	for {
		e, open := out.next(from.ResultChan())
		if !open {
			return nil
		}
		data, err := s.frame(&scratch, r, m, e)
		if err != nil {
			// the status is sent, so the only way to report the error is to cut the connection
			panic(http.ErrAbortHandler)
		}
		if out.send(data) != nil {
			return nil
		}
		if len(s.options.Faults) > 0 && e.Type != watch.Error &&
			(e.Type == watch.Bookmark || synthetic.VersionOf(e.Object) > began) {
			s.faults.Load().Synced()
		}
	}
}

// frame encodes an event. For a lone watcher the frame is in scratch and valid until the
// next; several watchers share their frames.
func (s *Server) frame(scratch *bytes.Buffer, r *resource, m media, e watch.Event) ([]byte, error) {
	alone := r.watches.Load() == 1
	if alone || e.Type == watch.Bookmark || e.Type == watch.Error {
		s.stats.encoded.Add(1)
		scratch.Reset()
		err := m.appendFrame(scratch, r, e)
		return scratch.Bytes(), err
	}
	return s.frames.get(frameKey{e.Object, e.Type, m.id()}, func() ([]byte, error) {
		s.stats.encoded.Add(1)
		var b bytes.Buffer
		err := m.appendFrame(&b, r, e)
		return b.Bytes(), err
	})
}

// stream writes the frames of a watch. It flushes when there are no more to write.
type stream struct {
	server  *Server
	w       http.ResponseWriter
	req     *http.Request
	control *http.ResponseController
}

// next waits for an event. Before it blocks, it flushes the frames written so far.
func (st *stream) next(events <-chan watch.Event) (e watch.Event, open bool) {
	select {
	case e, open = <-events:
		return e, open
	default:
	}
	if st.control.Flush() != nil {
		return watch.Event{}, false
	}
	e, open = <-events
	return e, open
}

// send writes a frame, unless a fault strikes it.
func (st *stream) send(frame []byte) error {
	rest, err := st.fault(frame)
	if err != nil {
		return err
	}
	if _, err := st.w.Write(rest); err != nil {
		return err
	}
	st.server.stats.events.Add(1)
	st.server.stats.bytes.Add(int64(len(frame)))
	return nil
}
