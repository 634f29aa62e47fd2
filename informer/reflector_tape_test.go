package informer

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// tape is a store that writes down what it is told: "replace 5: a b", "add a".
type tape struct {
	mu    sync.Mutex
	calls []string
	// fail makes the calls that begin with a key fail that many times.
	fail map[string]int
}

func (s *tape) record(format string, args ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	s.calls = append(s.calls, text)
	for prefix := range s.fail {
		if strings.HasPrefix(text, prefix) && s.fail[prefix] > 0 {
			s.fail[prefix]--
			return errors.New("the store is told to fail")
		}
	}
	return nil
}

func nameFor(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return fmt.Sprintf("<%T>", obj)
	}
	text := m.GetName()
	for _, label := range []string{"raw", "trimmed"} {
		if v := m.GetLabels()[label]; v != "" {
			text += "+" + label
		}
	}
	return text
}

func (s *tape) Add(obj any) error    { return s.record("add %s", nameFor(obj)) }
func (s *tape) Update(obj any) error { return s.record("update %s", nameFor(obj)) }
func (s *tape) Delete(obj any) error { return s.record("delete %s", nameFor(obj)) }
func (s *tape) Resync() error        { return s.record("resync") }
func (s *tape) Replace(items []any, version string) error {
	var names []string
	for _, obj := range items {
		names = append(names, nameFor(obj))
	}
	return s.record("replace %s: %s", version, strings.Join(names, " "))
}

// powerfulTape has every optional method that a Reflector uses.
type powerfulTape struct{ tape }

func (s *powerfulTape) Bookmark(version string) error { return s.record("bookmark %s", version) }
func (s *powerfulTape) UpdateResourceVersion(version string) {
	_ = s.record("version %s", version)
}

func (s *powerfulTape) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		pod := obj.(*corev1.Pod)
		if pod.Labels["raw"] != "" {
			return nil, errors.New("this one cannot be trimmed")
		}
		trimmed := pod.DeepCopy()
		trimmed.Labels = map[string]string{"trimmed": "yes"}
		return trimmed, nil
	}
}

var (
	_ cache.ReflectorBookmarkStore = (*powerfulTape)(nil)
	_ cache.ResourceVersionUpdater = (*powerfulTape)(nil)
	_ cache.TransformingStore      = (*powerfulTape)(nil)
)
