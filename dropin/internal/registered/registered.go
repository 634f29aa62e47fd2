// Package registered finds the metrics that another package has registered with Prometheus, so
// that our queues publish through them.
package registered

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Family is a collector of metrics with labels, whose zero value makes metrics that do nothing
// if it is of component-base's.
type Family[V any] interface {
	*V
	prometheus.Collector
}

// Find stores in to the collector that r has for the family with that name. It fails if there is
// none, or one of another type; to is a new zero value then.
func Find[V any, C Family[V]](r prometheus.Registerer, name string, to *C) error {
	*to = new(V)
	all, ok := r.(prometheus.Collector)
	if !ok {
		return fmt.Errorf("%s: the registry is a %T, which does not describe its metrics", name, r)
	}
	descs := make(chan *prometheus.Desc)
	go func() {
		defer close(descs)
		all.Describe(descs)
	}()
	var family *prometheus.Desc
	for d := range descs {
		// A descriptor has no method that tells its name.
		if strings.Contains(d.String(), "fqName: "+strconv.Quote(name)+",") {
			family = d
		}
	}
	var already prometheus.AlreadyRegisteredError
	if family == nil || !errors.As(r.Register(described{family}), &already) {
		return fmt.Errorf("%s is not registered", name)
	}
	found, ok := already.ExistingCollector.(C)
	if !ok {
		return fmt.Errorf("%s is a %T, want a %T", name, already.ExistingCollector, *to)
	}
	*to = found
	return nil
}

// described is a collector with another collector's descriptor. A registry refuses to
// register it, and its error holds the other collector.
type described struct{ desc *prometheus.Desc }

func (d described) Describe(ch chan<- *prometheus.Desc) { ch <- d.desc }
func (described) Collect(chan<- prometheus.Metric)      {}
