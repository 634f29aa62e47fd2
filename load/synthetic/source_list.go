package synthetic

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// List is ListWithContext without a context.
func (s *Source) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

// ListWithContext returns the objects in the order of their keys, as a
// *metainternalversion.List, the type in which client-go's pager collects pages. The list
// holds the objects themselves, not copies.
//
// Errors are those of the apiserver:
//   - 410 Expired for a version or a continue token older than the window; for a token,
//     the answer contains another token, which continues with the current state;
//   - a timeout with the cause ResourceVersionTooLarge for a version that does not come
//     within FreshWait;
//   - 422 for contradictory options, 400 for unreadable ones, 503 after Stop.
func (s *Source) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object,
	error) {
	selected, err := s.selection(options)
	if err != nil {
		return nil, err
	}
	want, exact, after, err := parseListVersion(options)
	if err != nil {
		return nil, err
	}
	if err := s.listFault(options, after); err != nil {
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
	switch {
	case at >= s.mu.floor:
	case after != "":
		return nil, errContinueExpired(after, nil)
	default:
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
		keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
			return !selected(objects[key])
		})
	}
	list := &metainternal.List{ListMeta: metav1.ListMeta{ResourceVersion: formatVersion(at)}}
	if limit := int(options.Limit); limit > 0 && limit < len(keys) && !s.ignoresLimit(options) {
		list.Continue = encodeToken(continueToken{Version: at, After: keys[limit-1]})
		// With a selector the apiserver would have to read on to know the count.
		if selected == nil || options.LabelSelector == "" && isNamespace(options.FieldSelector) {
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

// ignoresLimit reports whether the watch cache answers the list. It answers a list at
// version "0" with all objects at once.
func (s *Source) ignoresLimit(options metav1.ListOptions) bool {
	return options.ResourceVersion == "0" && !s.options.NoWatchCache &&
		s.faults.Strike(FaultCacheFilling) == nil
}

func (s *Source) listFault(options metav1.ListOptions, after string) error {
	if s.faults.Strike(FaultListError) != nil {
		return apierrors.NewInternalError(errAsked(FaultListError))
	}
	if options.Continue != "" && s.faults.Strike(FaultExpireContinue) != nil {
		return errContinueExpired(after, errAsked(FaultExpireContinue))
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

// continueToken is the start of the next page. Its text is opaque to clients.
type continueToken struct {
	Version uint64 `json:"rv"`    // 0 for the newest
	After   string `json:"after"` // the last key of the page before
}

func encodeToken(t continueToken) string {
	data, err := json.Marshal(t)
	if err != nil {
		panic(fmt.Sprintf("synthetic: a number and a string cannot be encoded: %v", err))
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

// errContinueExpired contains a token for the rest of the list at a newer version than its
// beginning. A client that accepts that need not start again.
func errContinueExpired(after string, cause error) error {
	message := "the provided continue parameter is too old: begin anew without it, or go on with " +
		"the one in this answer to get the rest as it is now"
	if cause != nil {
		message += ": " + cause.Error()
	}
	err := apierrors.NewResourceExpired(message)
	err.ErrStatus.Continue = encodeToken(continueToken{After: after})
	return err
}

// checkOptions applies the apiserver's own rules for combinations of options, and reports
// whether a watch begins with an ADDED event for each object. By the apiserver's defaults a
// watch from "" and "0" does so even if SendInitialEvents is not set.
func checkOptions(o metav1.ListOptions, isWatch bool) (sendInitialEvents bool, err error) {
	internal := &metainternal.ListOptions{
		Watch: isWatch, ResourceVersion: o.ResourceVersion, ResourceVersionMatch: o.ResourceVersionMatch,
		Continue: o.Continue, SendInitialEvents: o.SendInitialEvents,
	}
	metainternal.SetListOptionsDefaults(internal, true)
	problems := validation.ValidateListOptions(internal, true)
	if len(problems) == 0 {
		return ptr.Deref(internal.SendInitialEvents, false), nil
	}
	return false, apierrors.NewInvalid(metav1.SchemeGroupVersion.WithKind("ListOptions").GroupKind(),
		"", problems)
}

// parseListVersion returns the minimum version that a list needs, whether it must be
// exactly that, and the key after which the list begins. The rules are the table "semantics
// for get and list" of the API concepts: with a limit and no match, a version other than
// "0" means exactly that version.
func parseListVersion(o metav1.ListOptions) (want uint64, exact bool, after string, err error) {
	if _, err := checkOptions(o, false); err != nil {
		return 0, false, "", err
	}
	want, err = parseVersion(o.ResourceVersion)
	if err != nil {
		return 0, false, "", err
	}
	if o.Continue != "" {
		if want > 0 {
			return 0, false, "", apierrors.NewBadRequest(
				"specifying resource version is not allowed when using continue")
		}
		t, err := decodeToken(o.Continue)
		return t.Version, t.Version > 0, t.After, err
	}
	exact = o.ResourceVersionMatch == metav1.ResourceVersionMatchExact ||
		o.ResourceVersionMatch == "" && o.Limit > 0 && want > 0
	return want, exact, "", nil
}

// parseVersion parses a resource version; "" and "0" are 0.
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
