package memory

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/profile"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/internal/input"
)

// Heap is what a heap profile says of a controller's caches. Bytes are the profile's inuse_space.
type Heap struct {
	Total int64 `json:"totalBytes"`
	// Rate is the mean number of allocated bytes between two samples; 0 is unknown.
	Rate int64 `json:"rate"`
	// Decoded divides what generated decoders made, by kind and field.
	Decoded []Field `json:"decoded"`
	// Lost divides the bytes of caches whose kind the profile does not show, by how they were decoded.
	Lost []Field `json:"lost"`
	// Other is the rest, by package: the largest.
	Other []Field `json:"other"`
	// OtherBytes is all that is not the caches'.
	OtherBytes int64 `json:"otherBytes"`
	// Informers are the kinds that informers were seen to list or watch.
	Informers []string `json:"informers"`
	Waits     []Waits  `json:"waits,omitempty"`
}

const (
	mostProfile = 64 << 20 // unpacked; real ones take some MB
	answersIn   = time.Minute
	mostOthers  = 6
)

// Profile is a profile of Go's.
type Profile = profile.Profile

// ReadProfile reads a profile of Go's from a URL or a file; - is standard input.
func ReadProfile(ctx context.Context, place string) (*Profile, error) {
	data, err := fetch(ctx, place)
	if err == nil && bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		var zip *gzip.Reader
		if zip, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(io.LimitReader(zip, mostProfile+1))
		}
		if err != nil {
			err = fmt.Errorf("%s: not a whole profile: %w", ShownPlace(place), err)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(data) > mostProfile:
		return nil, fmt.Errorf("%s: more than %d MiB, which no profile has", ShownPlace(place),
			mostProfile>>20)
	}
	p, err := profile.ParseData(data)
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: not a profile of Go's: give what /debug/pprof/heap answers",
			ShownPlace(place))
	}
	return p, nil
}

// ShownPlace is a URL or path without what may be a credential.
func ShownPlace(place string) string {
	if u, err := url.Parse(place); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host + u.Path
	}
	return place
}

// fetch reads a URL or a file, at most mostProfile bytes and one.
func fetch(ctx context.Context, place string) ([]byte, error) {
	if !strings.HasPrefix(place, "http://") && !strings.HasPrefix(place, "https://") {
		in, err := input.Open(place)
		if err != nil {
			return nil, err
		}
		defer in.Close() // only read
		return io.ReadAll(io.LimitReader(in, mostProfile+1))
	}
	ctx, cancel := context.WithTimeout(ctx, answersIn)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil, errors.New("it is no URL: write it as http://localhost:6060/debug/pprof/heap")
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf(
			"%s does not answer: %w; does the controller serve /debug/pprof, and is "+
				"the port forwarded?",
			ShownPlace(place),
			errors.Unwrap(err),
		)
	}
	defer answer.Body.Close() // only read
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf(
			"%s answers %q: give the address of /debug/pprof/heap",
			ShownPlace(place),
			answer.Status,
		)
	}
	return io.ReadAll(io.LimitReader(answer.Body, mostProfile+1))
}

// named are client-go's types by package and name.
var named = sync.OnceValue(func() map[string]schema.GroupVersionKind {
	out := map[string]schema.GroupVersionKind{}
	for gvk, t := range scheme().AllKnownTypes() {
		if gvk.Group != "" && strings.HasPrefix(t.PkgPath(), "k8s.io/apimachinery/") &&
			gvk.Group != "meta.k8s.io" {
			continue // the options that each group has
		}
		if _, had := out[t.PkgPath()+"."+t.Name()]; !had {
			out[t.PkgPath()+"."+t.Name()] = gvk
		}
	}
	return out
})

var (
	unmarshal = regexp.MustCompile(`^(.+)\.\(\*(\w+)\)\.Unmarshal$`)
	generic   = regexp.MustCompile(`\[.*\]`)
)

// Where frames of informers, and of what keeps objects, are.
const (
	cachePackage = "k8s.io/client-go/tools/cache."
	ownPackages  = "github.com/informerbench/informerbench/"
)

var informs = []string{cachePackage + "(*Reflector)", cachePackage + "handleAnyWatch",
	"k8s.io/apimachinery/pkg/watch.(*StreamWatcher)", "k8s.io/client-go/tools/pager."}

// The ways of what has lost its kind.
const (
	viaUnstructured = "unstructured, by JSON"
	viaJSON         = "Go types, by JSON"
	viaCopies       = "structs copied out of lists"
	viaStores       = "stores, indexes and FIFOs"
	viaReading      = "answers being read"
)

// ReadHeap divides a heap profile.
func ReadHeap(p *Profile) (*Heap, error) {
	at := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool {
		return t.Type == "inuse_space"
	})
	if at < 0 {
		return nil, errors.New("the profile has no inuse_space: give a heap profile, such as that of " +
			"/debug/pprof/heap")
	}
	h := &Heap{Rate: p.Period}
	decoded, lost, other := &node{}, &node{}, &node{}
	informers := map[string]bool{}
	for _, s := range p.Sample {
		size := s.Value[at]
		if size <= 0 {
			continue
		}
		h.Total += size
		frames := framesOf(s)
		informer := slices.ContainsFunc(frames, func(f string) bool { return hasPrefix(f, informs) })
		into := other
		if kind, chain := decodedOf(frames); kind != "" {
			into = decoded.field(kind, 0)
			for _, step := range chain {
				into = into.field(step, 0)
			}
			if informer {
				informers[kind] = true
			}
		} else if via := wayOf(frames, informer); via != "" {
			into = lost.field(via, 0)
		} else {
			into = other.field(packageOf(frames), 0)
		}
		into.bytes += size
	}
	h.Decoded, h.Lost = decoded.export("", 1, 0).Fields, lost.export("", 1, 0).Fields
	rest := other.export("", 1, 0)
	h.Other, h.OtherBytes = rest.Fields[:min(mostOthers, len(rest.Fields))], rest.Bytes
	for kind := range informers {
		h.Informers = append(h.Informers, kind)
	}
	slices.Sort(h.Informers)
	return h, nil
}

// framesOf are the functions of a sample, the innermost first.
func framesOf(s *profile.Sample) (names []string) {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function != nil {
				names = append(names, generic.ReplaceAllString(line.Function.Name, ""))
			}
		}
	}
	return names
}

func hasPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// inFlight are messages around the objects.
var inFlight = []string{"Unknown", "WatchEvent", "RawExtension"}

// decodedOf tells by generated decoders which kind a sample is part of, and which of its fields.
func decodedOf(frames []string) (kind string, chain []string) {
	var up schema.GroupVersionKind
	var at reflect.Type // of the frame before; nil if unknown
	for _, f := range slices.Backward(frames) {
		m := unmarshal.FindStringSubmatch(f)
		if m == nil || !strings.HasPrefix(m[1], "k8s.io/") || slices.Contains(inFlight, m[2]) {
			continue
		}
		if kind == "" || strings.HasSuffix(kind, "List") {
			gvk, known := named()[m[1]+"."+m[2]]
			kind, at = m[1]+"."+m[2], nil
			if known {
				up, at = gvk, scheme().AllKnownTypes()[gvk]
				k := Kind{Group: up.Group, Version: up.Version, Kind: up.Kind}
				kind = k.Name()
			}
			continue
		}
		var names []string
		names, at = waysTo(at, m[1], m[2])
		if len(names) > 0 {
			chain = append(chain, strings.Join(names, "|"))
		}
	}
	return strings.TrimSuffix(kind, "List"), chain
}

// waysTo are the fields of a type whose values are of a type of that name.
func waysTo(of reflect.Type, pkg, name string) (names []string, to reflect.Type) {
	if of == nil || of.Kind() != reflect.Struct {
		return []string{name}, nil
	}
	for _, f := range fieldsOf(of) {
		t, list := f.typ, ""
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			if t.Kind() == reflect.Slice {
				list = "[]"
			}
			t = t.Elem()
		}
		if t.PkgPath() != pkg || t.Name() != name {
			continue
		}
		if to = t; f.name == "" { // embedded: its fields are the struct's
			return nil, to
		}
		names = append(names, f.name+list)
	}
	if to == nil {
		return []string{name}, nil
	}
	return names, to
}

// wayOf says how the memory of a sample came into a cache; "" means that it is not a cache's.
func wayOf(frames []string, informer bool) string {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(frames, func(f string) bool { return hasPrefix(f, parts) })
	}
	switch {
	case has("k8s.io/apimachinery/pkg/apis/meta/v1/unstructured.",
		"k8s.io/apimachinery/pkg/runtime.(*unstructuredConverter)",
		"k8s.io/apimachinery/pkg/runtime.fromUnstructured",
		"k8s.io/apimachinery/pkg/runtime.toUnstructured"):
		return viaUnstructured
	case has("k8s.io/apimachinery/pkg/runtime/serializer/json."):
		return viaJSON
	case has("k8s.io/apimachinery/pkg/api/meta.EachListItem",
		"k8s.io/apimachinery/pkg/api/meta.eachListItem",
		"k8s.io/apimachinery/pkg/api/meta.ExtractList", "k8s.io/apimachinery/pkg/api/meta.extractList"):
		return viaCopies
	case informer && has("io.", "net/http.", "golang.org/x/net/http2.",
		"k8s.io/apimachinery/pkg/util/framer.",
		"k8s.io/apimachinery/pkg/runtime.(*Unknown)", "k8s.io/client-go/rest."):
		return viaReading
	case informer || has(cachePackage, ownPackages+"informer", ownPackages+"impl/",
		ownPackages+"queue/deltafifo",
		ownPackages+"objects/"):
		return viaStores
	}
	return ""
}

// packageOf is the innermost package that is not Go's.
func packageOf(frames []string) string {
	for _, f := range frames {
		dir, last := f[:strings.LastIndex(f, "/")+1], f[strings.LastIndex(f, "/")+1:]
		if pkg, _, _ := strings.Cut(last, "."); strings.Contains(dir, ".") || pkg == "main" {
			return dir + pkg
		}
	}
	return append(frames, "unknown")[0]
}
