package informer_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
)

// TestMutationIsFound: a handler that changes an object is found, in whatever way the object
// came.
func TestMutationIsFound(t *testing.T) {
	eachOfOurs(t, func(t *testing.T, o informer.Options) {
		var messages []string
		o.MutationDetector = informer.NewMutationDetector(informer.MutationDetectorOptions{
			Name: "pods", OnMutation: func(m string) { messages = append(messages, m) },
		})
		s := newSource(t, 2)
		inf := informer.New(s, &corev1.Pod{}, o)
		var told []*corev1.Pod
		must[cache.ResourceEventHandlerRegistration](t)(
			inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { told = append(told, obj.(*corev1.Pod)) },
				UpdateFunc: func(_, obj any) { told = append(told, obj.(*corev1.Pod)) },
			}))
		stop := start(t, inf)
		// change changes an object as a handler might, in a quiet moment: at the same time as
		// the detector it would be a data race. An object created then comes to it afterwards.
		change := func(i int, created string) {
			synctest.Wait()
			told[i].Labels = map[string]string{"changed": "yes"}
			must[any](t)(s.Create(pod(created)))
			time.Sleep(2 * informer.DefaultDetectionPeriod)
			synctest.Wait()
		}
		synctest.Wait()
		name := told[1].Name
		change(1, "ns/a")
		if len(messages) != 1 || strings.Count(messages[0], "as it was and as it is") != 1 ||
			!strings.Contains(messages[0], name) || !strings.Contains(messages[0], "cache pods") ||
			!strings.Contains(messages[0], "changed") {
			t.Errorf("messages: %q", messages)
		}
		must[any](t)(s.Update(pod("ns/a")))
		synctest.Wait()
		change(3, "ns/b")
		if len(messages) != 2 {
			t.Errorf("%d messages after an updated object was changed", len(messages))
		}
		told[4].Labels = map[string]string{"changed": "yes"}
		stop() // compares once more
		if len(messages) != 3 {
			t.Errorf("%d messages after the stop", len(messages))
		}
	})
}

// TestDetectorForgets: objects are watched for a while only.
func TestDetectorForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		found := 0
		d := informer.NewMutationDetector(informer.MutationDetectorOptions{OnMutation: func(string) {
			found++
		}})
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.Run(stop)
		}()
		defer func() {
			close(stop)
			<-done
		}()
		kept, forgotten := pod("ns/kept"), pod("ns/forgotten")
		d.AddObject(forgotten)
		d.AddObject("no object of Kubernetes")
		time.Sleep(2*informer.DefaultDetectionRetain + 5*time.Second)
		d.AddObject(kept)
		time.Sleep(informer.DefaultDetectionRetain)
		synctest.Wait()
		forgotten.Name = "changed"
		kept.Name = "changed"
		d.AddObject(pod("ns/another")) // what comes before it, the detector sees
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if found != 1 {
			t.Errorf("%d mutations were found, want that of the younger object", found)
		}
	})
}

// TestDetectorVariable: the environment turns the detector on, and then it panics.
func TestDetectorVariable(t *testing.T) {
	for _, value := range []string{"", "false", "true"} {
		t.Setenv(informer.MutationDetectorVariable, value)
		d, on := informer.NewCacheMutationDetector("pods").(*informer.MutationDetector)
		if on != (value == "true") {
			t.Errorf("%s=%q turned the detector on: %t", informer.MutationDetectorVariable, value, on)
		}
		if !on {
			continue
		}
		p := pod("ns/a")
		d.AddObject(p)
		d.Compare()
		p.Name = "b"
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			d.Compare()
		}()
	}
}
