package memory

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Waits is what a profile says of the lock of client-go's store.
type Waits struct {
	// Of is "goroutines" or "mutex".
	Of string `json:"of"`
	// Of goroutines: how many wait for the lock to read or to write, and how many read.
	ReadersWait int64 `json:"readersWait"`
	WritersWait int64 `json:"writersWait"`
	Reading     int64 `json:"reading"`
	// Of a mutex profile: how long others waited for each method, and for all of the program's locks.
	Methods []MethodWait  `json:"methods,omitempty"`
	Total   time.Duration `json:"totalNs"`
}

// MethodWait is how long others waited for a method of the store.
type MethodWait struct {
	Method string        `json:"method"`
	Wait   time.Duration `json:"waitNs"`
	Times  int64         `json:"times"`
}

var (
	locking  = regexp.MustCompile(`^sync\.\(\*RWMutex\)\.(RLock|Lock|RUnlock|Unlock)$`)
	inStore  = regexp.MustCompile(`tools/cache\.\(\*(?:threadSafeMap|cache)\)\.(\w+)`)
	isWriter = regexp.MustCompile(`^(Add|Update|Delete|Replace|Resync|AddIndexers|Transaction)`)
)

// ReadGoroutines tells from a profile of goroutines whether readers of client-go's store keep its
// writer waiting.
func ReadGoroutines(p *Profile) (Waits, error) {
	w := Waits{Of: "goroutines"}
	if len(p.SampleType) != 1 || p.SampleType[0].Type != "goroutine" {
		return w, errors.New("not a profile of goroutines: give what /debug/pprof/goroutine answers")
	}
	for _, s := range p.Sample {
		lock, method := lockOf(framesOf(s))
		switch {
		case method == "":
		case lock == "Lock":
			w.WritersWait += s.Value[0]
		case lock == "RLock":
			w.ReadersWait += s.Value[0]
		case !isWriter.MatchString(method):
			w.Reading += s.Value[0]
		}
	}
	return w, nil
}

// Starved says whether the writer waits for readers.
func (w Waits) Starved() bool { return w.WritersWait > 0 && w.ReadersWait+w.Reading > 0 }

// ReadMutex sums up how long others waited for the methods of client-go's store.
func ReadMutex(p *Profile) (Waits, error) {
	w := Waits{Of: "mutex"}
	if len(p.SampleType) != 2 || p.SampleType[0].Type != "contentions" {
		return w, errors.New("not a profile of mutexes: give what /debug/pprof/mutex answers")
	}
	for _, s := range p.Sample {
		w.Total += time.Duration(s.Value[1])
		lock, method := lockOf(framesOf(s))
		if method == "" || lock == "" {
			continue
		}
		i := slices.IndexFunc(w.Methods, func(m MethodWait) bool { return m.Method == method })
		if i < 0 {
			i = len(w.Methods)
			w.Methods = append(w.Methods, MethodWait{Method: method})
		}
		w.Methods[i].Wait += time.Duration(s.Value[1])
		w.Methods[i].Times += s.Value[0]
	}
	slices.SortFunc(w.Methods, func(a, b MethodWait) int {
		return cmp.Or(cmp.Compare(b.Wait, a.Wait), strings.Compare(a.Method, b.Method))
	})
	return w, nil
}

// lockOf is the method of the RWMutex that a stack is in, and that of the store above it.
func lockOf(frames []string) (lock, method string) {
	for _, f := range frames {
		if m := locking.FindStringSubmatch(f); m != nil {
			lock = m[1]
		}
		if m := inStore.FindStringSubmatch(f); m != nil {
			return lock, m[1]
		}
	}
	return lock, ""
}
