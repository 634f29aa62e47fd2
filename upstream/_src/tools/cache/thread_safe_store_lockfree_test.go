/*
Copyright The Kubernetes Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package cache

import (
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgofeaturegate "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
)

func TestLockFreeStoreIsChosenByTheGate(t *testing.T) {
	for _, on := range []bool{false, true} {
		clientfeaturestesting.SetFeatureDuringTest(t, clientgofeaturegate.LockFreeThreadSafeStore, on)
		_, is := NewThreadSafeStore(Indexers{}, Indices{}).(*lockFreeStore)
		if is != on {
			t.Errorf("gate %t: lock-free store: %t", on, is)
		}
	}
}

// withoutLockFreeStore makes the tests of threadSafeMap have one, whatever the gate is.
func withoutLockFreeStore(t *testing.T) {
	t.Helper()
	clientfeaturestesting.SetFeatureDuringTest(t, clientgofeaturegate.LockFreeThreadSafeStore, false)
}

// newLockFreeStore takes from a threadSafeMap what options set. A new field may be one more.
func TestLockFreeStoreTakesAllOptions(t *testing.T) {
	var fields []string
	of := reflect.TypeOf(threadSafeMap{})
	for i := range of.NumField() {
		fields = append(fields, of.Field(i).Name)
	}
	if diff := cmp.Diff([]string{"lock", "items", "index", "rv", "metrics"}, fields); diff != "" {
		t.Errorf("the fields of threadSafeMap are others (-known +now): if a ThreadSafeStoreOption "+
			"sets one, hand it to newLockFreeStore in NewThreadSafeStore:\n%s", diff)
	}
}

// lockFreeAndMap returns an empty store of each kind, with one index.
func lockFreeAndMap(t *testing.T) [2]ThreadSafeStoreWithTransaction {
	t.Helper()
	var stores [2]ThreadSafeStoreWithTransaction
	for i, on := range []bool{false, true} {
		clientfeaturestesting.SetFeatureDuringTest(t, clientgofeaturegate.LockFreeThreadSafeStore, on)
		stores[i] = NewThreadSafeStore(Indexers{"namespace": MetaNamespaceIndexFunc},
			Indices{}).(ThreadSafeStoreWithTransaction)
	}
	return stores
}

// TestLockFreeStoreAgreesWithMap makes the same random writes to both stores, and compares
// all that can be read after each.
func TestLockFreeStoreAgreesWithMap(t *testing.T) {
	clientfeaturestesting.SetFeatureDuringTest(t, clientgofeaturegate.AtomicFIFO, true)
	const keys, namespaces, writes = 12, 3, 400
	for seed := range int64(20) {
		stores := lockFreeAndMap(t)
		random := rand.New(rand.NewSource(seed))
		version := 0
		object := func() *metav1.ObjectMeta {
			version++
			return &metav1.ObjectMeta{Namespace: fmt.Sprintf("n%d", random.Intn(namespaces)),
				ResourceVersion: strconv.Itoa(version)}
		}
		key := func() string { return fmt.Sprintf("k%d", random.Intn(keys)) }
		for i := range writes {
			write := randomWrite(random, key, object)
			for _, s := range stores {
				write(s)
			}
			if diff := cmp.Diff(readAll(stores[0]), readAll(stores[1])); diff != "" {
				t.Fatalf("seed %d, after write %d (-map +lockfree):\n%s", seed, i, diff)
			}
		}
	}
}

// randomWrite returns a write that does the same to each store it is given.
func randomWrite(random *rand.Rand, key func() string,
	object func() *metav1.ObjectMeta) func(ThreadSafeStoreWithTransaction) {
	k, obj := key(), object()
	switch random.Intn(20) {
	case 0:
		items := []ThreadSafeStoreTransaction{}
		for range random.Intn(6) {
			items = append(items, ThreadSafeStoreTransaction{Key: key(),
				Transaction: Transaction{Object: object()}})
		}
		rv := obj.ResourceVersion
		return func(s ThreadSafeStoreWithTransaction) {
			replacement := map[string]interface{}{} // of each store's own: it keeps the map
			for _, item := range items {
				replacement[item.Key] = item.Object
			}
			s.Replace(replacement, rv)
		}
	case 1:
		return func(s ThreadSafeStoreWithTransaction) { s.Bookmark(obj.ResourceVersion) }
	case 2, 3, 4, 5:
		types := []TransactionType{TransactionTypeAdd, TransactionTypeUpdate, TransactionTypeDelete}
		var txns []ThreadSafeStoreTransaction
		for range random.Intn(8) {
			txns = append(txns, ThreadSafeStoreTransaction{Key: key(),
				Transaction: Transaction{Type: types[random.Intn(3)], Object: object()}})
		}
		return func(s ThreadSafeStoreWithTransaction) { s.Transaction(txns...) }
	case 6, 7, 8, 9:
		return func(s ThreadSafeStoreWithTransaction) { s.DeleteWithObject(k, obj) }
	case 10:
		return func(s ThreadSafeStoreWithTransaction) { s.Delete(k) }
	case 11, 12:
		return func(s ThreadSafeStoreWithTransaction) { s.Add(k, obj) }
	default:
		return func(s ThreadSafeStoreWithTransaction) { s.Update(k, obj) }
	}
}

// readAll returns the answers of all reading calls, in an order of their own.
func readAll(s ThreadSafeStore) map[string][]string {
	answers := map[string][]string{"version": {s.LastStoreSyncResourceVersion()}}
	keep := func(call string, answer []string, err error) {
		slices.Sort(answer)
		answers[call] = append(answer, fmt.Sprint("error: ", err != nil))
	}
	versions := func(objects []interface{}) (all []string) {
		for _, obj := range objects {
			all = append(all, obj.(*metav1.ObjectMeta).ResourceVersion)
		}
		return all
	}
	keep("List", versions(s.List()), nil)
	keep("ListKeys", s.ListKeys(), nil)
	keep("ListIndexFuncValues", s.ListIndexFuncValues("namespace"), nil)
	for _, key := range s.ListKeys() {
		item, _ := s.Get(key)
		keep("Get "+key, versions([]interface{}{item}), nil)
	}
	if item, exists := s.Get("none"); item != nil || exists {
		answers["Get none"] = []string{"found"}
	}
	for _, index := range []string{"namespace", "unknown"} {
		for _, value := range []string{"n0", "n1", "n2", "none"} {
			objects, err := s.ByIndex(index, value)
			keep("ByIndex "+index+" "+value, versions(objects), err)
			keys, err := s.IndexKeys(index, value)
			keep("IndexKeys "+index+" "+value, keys, err)
			objects, err = s.Index(index, &metav1.ObjectMeta{Namespace: value})
			keep("Index "+index+" "+value, versions(objects), err)
		}
	}
	return answers
}

// TestLockFreeStoreAgreesOnLargeReplaces: several goroutines work on a large Replace. It
// stores what the map stores, and nothing if an IndexFunc panics.
func TestLockFreeStoreAgreesOnLargeReplaces(t *testing.T) {
	clientfeaturestesting.SetFeatureDuringTest(t, clientgofeaturegate.AtomicFIFO, true)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const objects, groups = 20_000, 7
	stores := lockFreeAndMap(t)
	for _, s := range stores {
		// Objects of no group, of one, and of several.
		if err := s.AddIndexers(Indexers{"group": func(obj interface{}) (found []string, err error) {
			n := len(obj.(*metav1.ObjectMeta).Name)
			if n == 0 {
				return nil, errors.New("an object without a name")
			}
			for i := range n % 4 {
				found = append(found, strconv.Itoa((n+i)%groups))
			}
			return found, nil
		}}); err != nil {
			t.Fatal(err)
		}
	}
	content := func(round int) map[string]interface{} {
		items := map[string]interface{}{}
		for i := range objects {
			items[strconv.Itoa(i+round*objects/2)] = &metav1.ObjectMeta{
				Namespace: fmt.Sprintf("n%d", (i+round)%3), Name: strings.Repeat("x", 1+(i+round)%(4*groups)),
				ResourceVersion: strconv.Itoa(round*objects + i + 1),
			}
		}
		return items
	}
	read := func(s ThreadSafeStore) map[string][]string {
		answers := readAll(s)
		for group := range groups {
			keys, err := s.IndexKeys("group", strconv.Itoa(group))
			slices.Sort(keys)
			answers["group "+strconv.Itoa(group)] = append(keys, fmt.Sprint(err))
		}
		return answers
	}
	for round := range 3 {
		for _, s := range stores {
			s.Replace(content(round), strconv.Itoa(1000+round)) // the map keeps what it is given
		}
		if !reflect.DeepEqual(read(stores[0]), read(stores[1])) {
			t.Fatalf("after Replace %d the stores differ", round)
		}
	}
	before := read(stores[1])
	broken := content(3)
	broken["broken"] = &metav1.ObjectMeta{}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a failing IndexFunc did not panic")
			}
		}()
		stores[1].Replace(broken, "2000")
	}()
	if !reflect.DeepEqual(before, read(stores[1])) {
		t.Error("a Replace whose IndexFunc panics changed the store")
	}
}

func TestLockFreeStoreIndexers(t *testing.T) {
	for i, s := range lockFreeAndMap(t) {
		s.Add("a", &metav1.ObjectMeta{Name: "a", Namespace: "x"})
		if err := s.AddIndexers(Indexers{"namespace": MetaNamespaceIndexFunc}); err == nil {
			t.Errorf("store %d: an index was added twice", i)
		}
		byName := func(obj interface{}) ([]string, error) {
			return []string{obj.(*metav1.ObjectMeta).Name}, nil
		}
		if err := s.AddIndexers(Indexers{"name": byName}); err != nil {
			t.Errorf("store %d: %v", i, err)
		}
		if found, err := s.ByIndex("name", "a"); len(found) != 1 || err != nil {
			t.Errorf("store %d: found %v, %v by an index that was added later", i, found, err)
		}
		if n := len(s.GetIndexers()); n != 2 {
			t.Errorf("store %d: %d indexers, want 2", i, n)
		}
	}
}

// TestLockFreeStoreListsWholeTransactions has readers beside a writer whose transactions
// give all objects the same resource version. A list must find one version only.
func TestLockFreeStoreListsWholeTransactions(t *testing.T) {
	s := lockFreeAndMap(t)[1]
	const objects, transactions = 300, 300
	write := func(version int) {
		var txns []ThreadSafeStoreTransaction
		for i := range objects {
			obj := &metav1.ObjectMeta{Namespace: strconv.Itoa(version % 2),
				ResourceVersion: strconv.Itoa(version)}
			txns = append(txns, ThreadSafeStoreTransaction{Key: strconv.Itoa(i),
				Transaction: Transaction{Type: TransactionTypeUpdate, Object: obj}})
		}
		s.Transaction(txns...)
	}
	write(0)
	done := make(chan struct{})
	failures := make(chan error, 4)
	for range 4 {
		go func() {
			for {
				if err := wholeTransaction(s, objects); err != nil {
					failures <- err
					return
				}
				select {
				case <-done:
					failures <- nil
					return
				default:
				}
			}
		}()
	}
	for version := range transactions {
		write(version + 1)
	}
	close(done)
	for range 4 {
		if err := <-failures; err != nil {
			t.Error(err)
		}
	}
}

func wholeTransaction(s ThreadSafeStore, objects int) error {
	list := s.List()
	if len(list) != objects {
		return fmt.Errorf("a list of %d objects, want %d", len(list), objects)
	}
	for _, obj := range list {
		if first, other := list[0].(*metav1.ObjectMeta).ResourceVersion,
			obj.(*metav1.ObjectMeta).ResourceVersion; first != other {
			return fmt.Errorf("a list with objects of transactions %s and %s", first, other)
		}
	}
	for _, namespace := range []string{"0", "1"} {
		list, err := s.ByIndex("namespace", namespace)
		if err != nil || len(list) != 0 && len(list) != objects {
			return fmt.Errorf("%d objects of one namespace, want none or %d: %v", len(list), objects, err)
		}
	}
	return nil
}

type versionGauge struct {
	noopInformerMetricsProvider
	value float64
}

func (g *versionGauge) NewStoreResourceVersionMetric(InformerNameAndResource) GaugeMetric {
	return g
}
func (g *versionGauge) Set(value float64) {
	g.value = value
}

func TestLockFreeStoreSetsTheGauge(t *testing.T) {
	gauge := &versionGauge{}
	s := newLockFreeStore(Indexers{}, &storeMetrics{storeResourceVersion: gauge})
	at := func(rv string) *metav1.ObjectMeta { return &metav1.ObjectMeta{ResourceVersion: rv} }
	known := []string{ // methods that set no gauge, then those that are tried
		"Get", "List", "ListKeys", "Index", "ByIndex", "IndexKeys", "ListIndexFuncValues",
		"GetIndexers", "AddIndexers", "Resync", "LastStoreSyncResourceVersion",
	}
	steps := []struct {
		name  string
		write func()
		want  float64
	}{
		{"Add", func() { s.Add("a", at("1")) }, 1},
		{"Update", func() { s.Update("a", at("2")) }, 2},
		{"object without metadata", func() { s.Update("b", "no metadata") }, 2},
		{"version that is no number", func() { s.Update("b", at("newest")) }, 2},
		{"DeleteWithObject", func() { s.DeleteWithObject("a", at("3")) }, 3},
		{"Delete", func() { s.Delete("b") }, 3},
		{"Bookmark", func() { s.Bookmark("4") }, 4},
		{"Replace", func() { s.Replace(map[string]interface{}{}, "5") }, 5},
		{"Transaction", func() {
			s.(ThreadSafeStoreWithTransaction).Transaction(
				ThreadSafeStoreTransaction{Key: "a",
					Transaction: Transaction{Type: TransactionTypeAdd, Object: at("6")}})
		}, 6},
	}
	for _, step := range steps {
		if step.write(); gauge.value != step.want {
			t.Errorf("%s: the gauge is %v, want %v", step.name, gauge.value, step.want)
		}
		known = append(known, step.name)
	}
	// A write that measuredLockFreeStore does not have is its embedded store's, and sets no gauge.
	methods := reflect.TypeFor[ThreadSafeStoreWithTransaction]()
	for i := range methods.NumMethod() {
		if name := methods.Method(i).Name; !slices.Contains(known, name) {
			t.Errorf("%s is neither known to read only nor made here: does it set the gauge?", name)
		}
	}
}
