package subject

import (
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/bench/internal/staleness"
	"github.com/informerbench/informerbench/load/synthetic"
)

// later makes the second versions of all objects, once.
func (s *Informer) later() []kruntime.Object {
	if s.second == nil {
		s.second = make([]kruntime.Object, len(s.first))
		for i, obj := range s.first {
			s.second[i] = s.Objects.Mutate(obj, nil, false)
			if s.encoded != nil {
				later := s.decode(obj)
				version := synthetic.Accessor(s.second[i]).GetResourceVersion()
				synthetic.Accessor(later).SetResourceVersion(version)
				s.encoded[s.second[i]] = s.Objects.Spec().Kind.Encode(later)
			}
		}
	}
	return s.second
}

// newSource makes a source of the objects. If the workload's are decoded, so is what a client gets:
// no two informers share memory, and one may change what it gets, as a transform may.
func (s *Informer) newSource(stream bool) *EventSource {
	f := NewEventSource(s.first, s.Objects.Version(), stream)
	if s.encoded != nil {
		f.decode = s.decode
	}
	return f
}

// decode makes an object version from its bytes, as the decoder of a watch does.
func (s *Informer) decode(obj kruntime.Object) kruntime.Object {
	return s.Objects.Spec().Kind.Decode(s.encoded[obj])
}

// version tells an object version from others: by the object, or by the resource version where each
// client has an object of its own.
func (s *Informer) version(obj any) any {
	if s.encoded == nil {
		return obj
	}
	return staleness.VersionOf(obj)
}
