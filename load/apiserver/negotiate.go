package apiserver

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/load/synthetic"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

// media is a form of an answer: its encoding, and whether it is the object, its metadata
// alone, or a table.
type media struct {
	info    runtime.SerializerInfo
	form    form
	include metav1.IncludeObjectPolicy // of a table's rows
	clock   clock.PassiveClock         // of a table's ages
}

// form is the part of an object in the answer.
type form string

const (
	formObject   form = ""
	formMetadata form = "metadata"
	formTable    form = "table"
)

// formAs reads the parameters of a media range. known is false for a form that
// is not served.
func formAs(params map[string]string) (as form, known bool) {
	if params["as"] == "" {
		return formObject, true
	}
	if params["g"] != partial.Group || params["v"] != partial.Version {
		return "", false
	}
	switch params["as"] {
	case partial.Kind, partial.Kind + "List":
		return formMetadata, true
	case tableKind.Kind:
		return formTable, true
	}
	return "", false
}

// partial is the kind of answers that are metadata alone.
var partial = metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata")

// contentType is the answer's Content-Type.
func (m media) contentType(stream bool) string {
	if stream && m.protobuf() {
		return m.info.MediaType + ";stream=watch"
	}
	return m.info.MediaType
}

func (m media) protobuf() bool { return m.info.MediaType == runtime.ContentTypeProtobuf }

// id identifies the form in which an object is encoded.
func (m media) id() string {
	if m.form == formObject {
		return m.info.MediaType // without making a string for each event
	}
	return fmt.Sprintf("%s;%s;%s", m.info.MediaType, m.form, m.include)
}

// object returns obj in the requested form, with its kind.
func (m media) object(obj runtime.Object, gvk schema.GroupVersionKind) runtime.Object {
	switch m.form {
	case formMetadata:
		return partialOf(obj)
	case formTable:
		return m.table(gvk, metav1.ListMeta{
			ResourceVersion: synthetic.Accessor(obj).GetResourceVersion()}, obj)
	}
	return withKind(obj, gvk)
}

func partialOf(obj runtime.Object) *metav1.PartialObjectMetadata {
	p := meta.AsPartialObjectMetadata(synthetic.Accessor(obj))
	p.SetGroupVersionKind(partial)
	return p
}

// clause is one media range of an Accept header.
type clause struct {
	mediaType string
	params    map[string]string
	quality   float64
}

func parseAccept(header string) []clause {
	var clauses []clause
	for part := range strings.SplitSeq(header, ",") {
		mediaType, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue // an unreadable clause requests nothing
		}
		c := clause{mediaType, params, 1}
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			c.quality = q
		}
		clauses = append(clauses, c)
	}
	slices.SortStableFunc(clauses, func(a, b clause) int {
		switch {
		case a.quality > b.quality:
			return -1
		case a.quality < b.quality:
			return 1
		}
		return 0
	})
	return clauses
}

// negotiate chooses the form of an answer by the request's Accept header. r may be nil:
// then the answer is a Status or part of discovery. A clause that cannot be served (CBOR,
// or Protobuf for a table or for a type without it) is skipped for the next.
func (s *Server) negotiate(req *http.Request, r *resource, stream bool) (media, error) {
	header := req.Header.Get("Accept")
	if header == "" {
		header = "*/*"
	}
	offered := s.codecs.SupportedMediaTypes()
	for _, c := range parseAccept(header) {
		as, known := formAs(c.params)
		if !known || as != formObject && r == nil {
			continue
		}
		for _, info := range offered {
			m := media{info: info, form: as, clock: s.options.Clock}
			switch {
			case c.mediaType != info.MediaType && c.mediaType != "*/*" && c.mediaType != "application/*":
			case stream && info.StreamSerializer == nil:
			case m.protobuf() && (as == formTable || as == formObject && r != nil && !r.protobuf):
			default:
				if as == formTable {
					var err error
					if m.include, err = includeObject(req); err != nil {
						return media{}, err
					}
				}
				return m, nil
			}
		}
	}
	var types []string
	for _, info := range offered {
		types = append(types, info.MediaType)
	}
	return media{}, statusError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		fmt.Sprintf("no form of %q is served: use one of %s", header, strings.Join(types, ", ")))
}

// plain is the form of answers without negotiation.
func (s *Server) plain() media {
	info, _ := runtime.SerializerInfoForMediaType(s.codecs.SupportedMediaTypes(),
		runtime.ContentTypeJSON)
	return media{info: info}
}
