package prometheus_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/informerbench/informerbench/dropin/cache"
	_ "github.com/informerbench/informerbench/dropin/cache/prometheus"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gathered is what component-base publishes of an informer, with INFORMER in place of its name.
func gathered(t *testing.T, name string) string {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "informer_") {
			if _, err := expfmt.MetricFamilyToText(&all, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out strings.Builder
	for line := range strings.Lines(all.String()) {
		if strings.HasPrefix(line, "#") || strings.Contains(line, `name="`+name+`"`) {
			out.WriteString(strings.ReplaceAll(line, name, "INFORMER"))
		}
	}
	return out.String()
}

// A program of component-base's publishes the same metrics of an informer before it changes an
// import and after: of tools/cache, or of a factory, which makes informers by informer.New. Ours are
// first here, so that they have the families registered.
func TestSameMetricsAsClientGos(t *testing.T) {
	got := map[string]string{}
	for _, c := range []struct {
		name string
		make func(clientgo.ListerWatcher, clientgo.InformerNameAndResource) clientgo.SharedIndexInformer
	}{
		{"of a factory", func(lw clientgo.ListerWatcher,
			id clientgo.InformerNameAndResource) clientgo.SharedIndexInformer {
			return informer.New(lw, &corev1.Pod{}, informer.Options{Identifier: id})
		}},
		{"ours", func(lw clientgo.ListerWatcher,
			id clientgo.InformerNameAndResource) clientgo.SharedIndexInformer {
			return cache.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{},
				cache.SharedIndexInformerOptions{Identifier: id})
		}},
		{"theirs", func(lw clientgo.ListerWatcher,
			id clientgo.InformerNameAndResource) clientgo.SharedIndexInformer {
			return clientgo.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{},
				clientgo.SharedIndexInformerOptions{Identifier: id})
		}},
	} {
		name, err := clientgo.NewInformerName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			source := synthetic.NewSource([]runtime.Object{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: "a", ResourceVersion: "1"}}}, synthetic.SourceOptions{})
			defer source.Stop()
			ctx, cancel := context.WithCancel(t.Context())
			i := c.make(source, name.WithResource(corev1.SchemeGroupVersion.WithResource("pods")))
			ended := make(chan struct{})
			go func() { defer close(ended); i.RunWithContext(ctx) }()
			synctest.Wait()
			got[c.name] = gathered(t, c.name)
			cancel()
			<-ended
		})
		name.Release()
	}
	if lines := strings.Count(got["theirs"], "{"); lines != 17 || got["ours"] != got["theirs"] ||
		got["of a factory"] != got["theirs"] {
		t.Errorf("%d lines, want 17: client-go's are\n%s\nours are\n%s\na factory's are\n%s", lines,
			got["theirs"], got["ours"], got["of a factory"])
	}
}
