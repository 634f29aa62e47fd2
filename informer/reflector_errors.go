package informer

import (
	"context"
	"errors"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// errIncompleteStream is a streaming list that ended before it was complete.
var errIncompleteStream = errors.New(
	"the stream of initial events ended without its bookmark: the server must send one annotated " +
		metav1.InitialEventsAnnotationKey)

// errStalledStream is a streaming list that brings nothing more, and not its bookmark.
var errStalledStream = errors.New("the stream of initial events brought none for " +
	streamPatience.String() + " and no bookmark that ends them, annotated " +
	metav1.InitialEventsAnnotationKey + ": a proxy may strip it, or the server does not stream")

// DefaultWatchErrorHandler logs an error of ListAndWatchWithContext by its kind:
// a version that is gone and the end of a connection are everyday and appear at
// higher verbosity only; the rest goes to utilruntime.HandleErrorWithContext.
func DefaultWatchErrorHandler(ctx context.Context, r *Reflector, err error) {
	switch logger := klog.FromContext(ctx); {
	case isExpired(err):
		logger.V(4).Info("Watch closed", "reflector", r.name, "type", r.typeDescription, "err", err)
	case err == io.ErrUnexpectedEOF: //nolint:errorlint // a wrapped one is another fault, and is reported
		logger.V(1).Info("Watch closed with unexpected EOF", "reflector", r.name, "type",
			r.typeDescription, "err", err)
	case err == io.EOF: //nolint:errorlint // as above
		// The server closed the connection, as it may.
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to watch", "reflector", r.name, "type",
			r.typeDescription)
	}
}

// listError is a list that failed.
type listError struct {
	typeDescription string
	err             error
}

func (e *listError) Error() string {
	return "failed to list " + e.typeDescription + ": " + e.err.Error()
}
func (e *listError) Unwrap() error { return e.err }

// isExpired reports whether the version is older than the server remembers. Servers before
// Kubernetes 1.18 gave the reason Gone.
func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// isTooLarge reports whether the version is newer than the server has seen. Servers before
// Kubernetes 1.18.6 told it by the text of the message or of a cause only.
func isTooLarge(err error) bool {
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return true
	}
	const text = "Too large resource version"
	var status apierrors.APIStatus
	if !apierrors.IsTimeout(err) || !errors.As(err, &status) {
		return false
	}
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			if cause.Message == text {
				return true
			}
		}
	}
	return strings.Contains(status.Status().Message, text)
}

// isUnreachable reports whether the server is down or overloaded. The known version stays
// good, so a watch is tried again after a wait and nothing is listed.
func isUnreachable(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}
