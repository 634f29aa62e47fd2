package load

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// List is ListWithContext without a context.
func (s *Source) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

// ListWithContext returns the objects in the order of their keys, as a
// *metainternalversion.List, the type that client-go's pager puts pages together
// in: it holds the objects themselves, not copies.
//
// Errors are those of the apiserver: 410 Expired for a version or a continue
// token older than the window, a timeout with the cause ResourceVersionTooLarge
// for a version that does not come within FreshWait, 400 for options that
// contradict each other, 503 after Stop.
func (s *Source) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	selected, err := s.selection(options)
	if err != nil {
		return nil, err
	}
	want, exact, after, err := parseListVersion(options)
	if err != nil {
		return nil, err
	}
	if err := s.listFault(options); err != nil {
		return nil, err
	}
	if err := s.lockAt(ctx, want); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if s.mu.stopped {
		return nil, errStopped()
	}
	at := s.mu.version
	if exact {
		at = want
	}
	if at < s.mu.floor {
		return nil, errExpired(at, s.mu.floor)
	}
	keys, objects := s.atLocked(at)
	if after != "" {
		i, found := slices.BinarySearch(keys, after)
		if found {
			i++
		}
		keys = keys[i:]
	}
	if selected != nil {
		keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !selected(objects[key]) })
	}
	list := &metainternal.List{ListMeta: metav1.ListMeta{ResourceVersion: formatVersion(at)}}
	if limit := int(options.Limit); limit > 0 && limit < len(keys) && (options.ResourceVersion != "0" || s.options.NoWatchCache) {
		list.Continue = encodeToken(continueToken{Version: at, After: keys[limit-1]})
		if selected == nil { // as in the apiserver, which would have to read on to know
			list.RemainingItemCount = ptr.To(int64(len(keys) - limit))
		}
		keys = keys[:limit]
	}
	list.Items = make([]runtime.Object, len(keys))
	for i, key := range keys {
		list.Items[i] = objects[key]
	}
	return list, nil
}

func (s *Source) listFault(options metav1.ListOptions) error {
	if s.faults.Strike(FaultListError) != nil {
		return apierrors.NewInternalError(errAsked(FaultListError))
	}
	if options.Continue != "" && s.faults.Strike(FaultExpireContinue) != nil {
		return apierrors.NewResourceExpired("the provided continue parameter is too old: " + errAsked(FaultExpireContinue).Error())
	}
	return s.tooLargeFault(options.ResourceVersion)
}

func (s *Source) tooLargeFault(version string) error {
	if version == "" || version == "0" || s.faults.Strike(FaultTooLarge) == nil {
		return nil
	}
	want, err := parseVersion(version)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errTooLarge(want, s.mu.version)
}

// continueToken says where the next page begins. Its text is opaque to clients.
type continueToken struct {
	Version uint64 `json:"rv"`
	After   string `json:"after"` // the last key of the page before
}

func encodeToken(t continueToken) string {
	data, err := json.Marshal(t)
	if err != nil {
		panic(fmt.Sprintf("load: a number and a string cannot be encoded: %v", err))
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func decodeToken(text string) (t continueToken, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err != nil || t.After == "" {
		return t, apierrors.NewBadRequest(fmt.Sprintf("continue key is not valid: %q", text))
	}
	return t, nil
}

// parseListVersion says which version a list needs at least, whether it needs
// exactly that, and after which key it begins. The rules are the table "semantics
// for get and list" of the API concepts: with a limit and no match, a version
// other than "0" means exactly that version.
func parseListVersion(o metav1.ListOptions) (want uint64, exact bool, after string, err error) {
	if o.Continue != "" {
		if o.ResourceVersion != "" || o.ResourceVersionMatch != "" {
			return 0, false, "", apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		t, err := decodeToken(o.Continue)
		return t.Version, true, t.After, err
	}
	want, err = parseVersion(o.ResourceVersion)
	if err != nil {
		return 0, false, "", err
	}
	switch o.ResourceVersionMatch {
	case "":
		exact = o.Limit > 0 && want > 0
	case metav1.ResourceVersionMatchNotOlderThan:
	case metav1.ResourceVersionMatchExact:
		exact = true
		if want == 0 && o.ResourceVersion != "" {
			return 0, false, "", apierrors.NewBadRequest(`resourceVersionMatch Exact is forbidden for resourceVersion "0"`)
		}
	default:
		return 0, false, "", apierrors.NewBadRequest(fmt.Sprintf("unknown resourceVersionMatch %q: use Exact or NotOlderThan", o.ResourceVersionMatch))
	}
	if o.ResourceVersionMatch != "" && o.ResourceVersion == "" {
		return 0, false, "", apierrors.NewBadRequest("resourceVersionMatch is forbidden unless resourceVersion is provided")
	}
	return want, exact, "", nil
}

// parseVersion reads a resource version; "" and "0" are 0.
func parseVersion(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid resource version %q: use a number", text))
	}
	return v, nil
}
