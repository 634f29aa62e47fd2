package apiserver

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/load/synthetic"
)

// BenchmarkWatch is one event from the source to the end of a connection whose bytes are
// not decoded: the cost of the server alone, with the kernel's part at both ends.
func BenchmarkWatch(b *testing.B) {
	for _, kind := range []synthetic.ObjectKind{synthetic.KindSmall, synthetic.KindPod} {
		for _, form := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
			for _, watchers := range []int{1, 10} {
				b.Run(fmt.Sprintf("object=%s/form=%s/watchers=%d", kind, form, watchers), func(b *testing.B) {
					benchmarkWatch(b, kind, form, watchers)
				})
			}
		}
	}
}

func benchmarkWatch(b *testing.B, kind synthetic.ObjectKind, form string, watchers int) {
	objects := synthetic.Generate(synthetic.ObjectSpec{Kind: kind, Count: 1000}, 1)
	source := synthetic.NewSource(objects.All(), synthetic.SourceOptions{Window: b.N + 1})
	defer source.Stop()
	server, err := New(map[schema.GroupVersionResource]*synthetic.Source{Pods: source}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	for range b.N {
		if _, err := source.Update(objects.At(0)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	done := make(chan error, watchers)
	for range watchers {
		go func() { done <- drain(server, form, "1000") }()
	}
	look := time.NewTicker(time.Millisecond) // at the counts, which costs nothing
	defer look.Stop()
	for server.Stats().Events < int64(b.N*watchers) {
		select {
		case err := <-done:
			b.Fatal(err)
		case <-look.C:
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N*watchers)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(server.Stats().Bytes)/float64(b.N*watchers), "B/event")
	server.Stop()
	for range watchers {
		err := <-done
		_ = err // Stop cuts it off
	}
}

// drain reads and discards a watch until the server ends it.
func drain(s *Server, form, from string) error {
	req, err := http.NewRequest(http.MethodGet, s.URL()+"/api/v1/pods?watch=1&resourceVersion="+from,
		nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", form)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return errors.Join(err, res.Body.Close())
}

// BenchmarkList is one list of 10,000 pods to the end of the connection.
func BenchmarkList(b *testing.B) {
	for _, form := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		b.Run("form="+form, func(b *testing.B) {
			source := synthetic.NewSource(
				synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 10_000}, 1).All(),
				synthetic.SourceOptions{})
			defer source.Stop()
			server, err := New(map[schema.GroupVersionResource]*synthetic.Source{Pods: source}, Options{})
			if err != nil {
				b.Fatal(err)
			}
			if err := server.Start(); err != nil {
				b.Fatal(err)
			}
			defer server.Stop()
			b.ReportAllocs()
			defer http.DefaultClient.CloseIdleConnections()
			for b.Loop() {
				req, err := http.NewRequest(http.MethodGet, server.URL()+"/api/v1/pods", nil)
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("Accept", form)
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				n, err := io.Copy(io.Discard, res.Body)
				if err != nil {
					b.Fatal(err)
				}
				_ = res.Body.Close()
				b.SetBytes(n)
			}
		})
	}
}
