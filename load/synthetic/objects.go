package synthetic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Objects are generated objects and the source of their later versions.
//
// Objects are shared and share parts with each other: do not change one. All methods are
// safe for concurrent use.
type Objects struct {
	spec    ObjectSpec
	objects []runtime.Object
	keys    []string
	nodes   []string
	version atomic.Uint64 // the newest resource version given out
}

// Generate makes the objects of a spec. The same spec and seed give the same objects. The
// spec must be valid; missing counts have their defaults.
//
// Object i is pod-00000i (or node-0000i). Pods go to the namespaces in turn: pod i is in
// namespace i modulo their number. For the nodes, the pods are ranked by namespace, then by
// number. A pod's node is its rank modulo the number of nodes, rotated by the seed. So a
// node has Count/Nodes pods, give or take one, and the pods of a namespace are on as many
// nodes as possible. Resource versions are 1 to Count.
//
// The cost is about 1 us and 1.5 KB of heap for each pod; 150 bytes for a key.
func Generate(spec ObjectSpec, seed uint64) *Objects {
	rng := rand.New(rand.NewPCG(seed, 0))
	o := &Objects{spec: spec, keys: make([]string, spec.Count),
		nodes: nodeNames(max(2, spec.NodeCount()))}
	if spec.Kind != KindKey {
		o.objects = make([]runtime.Object, spec.Count)
	}
	place := newPlacement(spec, rng)
	var pods []*PodTemplate
	var nodes []*corev1.Node
	switch spec.Kind {
	case KindPod, KindUnstructured:
		pods = NewPodTemplates(rng)
	case KindNode:
		nodes = newNodeTemplates(rng)
	}
	if spec.Production {
		for _, t := range pods {
			t.enlarge()
		}
		for _, n := range nodes {
			enlargeNode(n, rng)
		}
	}
	for i := range spec.Count {
		namespace, node := place.of(i)
		name := fmt.Sprintf("pod-%06d", i)
		version := strconv.Itoa(i + 1)
		switch spec.Kind {
		case KindPod, KindUnstructured:
			t := pods[rng.IntN(len(pods))]
			o.objects[i] = t.Pod(namespace, name, version, o.nodes[node], t.Running, rng)
		case KindSmall:
			o.objects[i] = &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: newUID(rng),
					ResourceVersion: version},
				Spec: corev1.PodSpec{NodeName: o.nodes[node]},
			}
		case KindNode:
			name = fmt.Sprintf("node-%05d", i)
			o.objects[i] = newNode(nodes[rng.IntN(len(nodes))], name, version, i, rng)
		}
		if spec.Decoded && spec.Kind != KindKey {
			o.objects[i] = spec.Kind.Decode(spec.Kind.Encode(Own(o.objects[i], rng)))
		}
		o.keys[i] = name
		if spec.Kind != KindNode {
			o.keys[i] = namespace + "/" + name
		}
	}
	o.version.Store(uint64(spec.Count))
	return o
}

// ObjectsOf wraps existing objects, such as those of a trace. They are not copied; Mutate
// is for pods and nodes only.
func ObjectsOf(spec ObjectSpec, objects []runtime.Object) *Objects {
	spec.Count = len(objects)
	o := &Objects{spec: spec, objects: objects, keys: make([]string, len(objects)),
		nodes: nodeNames(max(2, spec.NodeCount()))}
	for i, obj := range objects {
		o.keys[i] = Key(obj)
		o.version.Store(max(o.version.Load(), VersionOf(obj)))
	}
	return o
}

// placement spreads pods over namespaces and nodes by the rule of Generate.
type placement struct {
	count, nodes, offset int
	namespaces           []string
}

func newPlacement(spec ObjectSpec, rng *rand.Rand) placement {
	p := placement{count: spec.Count, nodes: spec.NodeCount(),
		namespaces: make([]string, spec.NamespaceCount())}
	for i := range p.namespaces {
		p.namespaces[i] = fmt.Sprintf("ns-%02d", i)
	}
	p.offset = rng.IntN(p.nodes)
	return p
}

func (p placement) of(i int) (namespace string, node int) {
	column, row := i%len(p.namespaces), i/len(p.namespaces)
	each, extra := p.count/len(p.namespaces), p.count%len(p.namespaces)
	rank := column*each + min(column, extra) + row
	return p.namespaces[column], (rank + p.offset) % p.nodes
}

func nodeNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node-%05d", i)
	}
	return names
}

// Pod makes a pod of the template. It allocates only the parts that the template does not
// share.
func (t *PodTemplate) Pod(namespace, name, version, node string, status corev1.PodStatus,
	rng *rand.Rand) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, GenerateName: t.owners[0].Name + "-", UID: newUID(rng),
			ResourceVersion:   version,
			CreationTimestamp: metav1.NewTime(Epoch.Add(time.Duration(rng.IntN(86_400)) * time.Second)),
			Labels:            t.labels, Annotations: t.annotations, OwnerReferences: t.owners,
			ManagedFields: t.managed,
		},
		Spec:   t.Spec,
		Status: status,
	}
	p.Spec.NodeName = node
	if node != "" {
		ip := rng.Uint32()
		p.Status.PodIP = fmt.Sprintf("10.%d.%d.%d", ip>>16&0xff, ip>>8&0xff, ip&0xff)
		p.Status.PodIPs = []corev1.PodIP{{IP: p.Status.PodIP}}
		p.Status.HostIP = "172.16.0.1"
	}
	return p
}

func newNode(t *corev1.Node, name, version string, i int, rng *rand.Rand) *corev1.Node {
	n := *t
	n.Name, n.ResourceVersion, n.UID = name, version, newUID(rng)
	n.CreationTimestamp = metav1.NewTime(Epoch.Add(time.Duration(rng.IntN(86_400)) * time.Second))
	if len(n.Status.Images) > nodeImages {
		n.Status.Images = someImages(n.Status.Images, rng)
	}
	n.Spec.PodCIDR = fmt.Sprintf("10.%d.%d.0/24", i>>8&0xff, i&0xff)
	n.Spec.PodCIDRs = []string{n.Spec.PodCIDR}
	n.Spec.ProviderID = "example:///zone-a/i-" + name
	n.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("172.16.%d.%d", i>>8&0xff, i&0xff)},
		{Type: corev1.NodeHostName, Address: name},
	}
	return &n
}

// Spec returns the spec that the objects were made from.
func (o *Objects) Spec() ObjectSpec { return o.spec }

// Len returns how many objects there are.
func (o *Objects) Len() int { return len(o.keys) }

// At returns object i in its first version. It panics for KindKey, which has no objects.
func (o *Objects) At(i int) runtime.Object { return o.objects[i] }

// Key returns the key of object i, as Key(o.At(i)) would, without computing it.
func (o *Objects) Key(i int) string { return o.keys[i] }

// All returns the objects in their order. The slice belongs to the caller; its
// length is 0 for KindKey.
func (o *Objects) All() []runtime.Object { return slices.Clone(o.objects) }

// Keys returns the keys in the order of the objects. The slice belongs to the caller.
func (o *Objects) Keys() []string { return slices.Clone(o.keys) }

// Items returns the objects as FIFOs take them in a Replace. The slice belongs to the caller.
func (o *Objects) Items() []any {
	items := make([]any, len(o.objects))
	for i, obj := range o.objects {
		items[i] = obj
	}
	return items
}

// Map returns the objects by key, as stores take them in a Replace. The map
// belongs to the caller.
func (o *Objects) Map() map[string]any {
	m := make(map[string]any, len(o.objects))
	for i, obj := range o.objects {
		m[o.keys[i]] = obj
	}
	return m
}

// IndexedValues returns the values of an index over the generated objects, sorted; nil for
// an index other than IndexNamespace and IndexNode.
func (o *Objects) IndexedValues(index string) []string {
	f, ok := Indexers()[index]
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	var values []string
	for _, obj := range o.objects {
		found, err := f(obj)
		if err != nil {
			continue // cannot happen: Generate makes pods and nodes only
		}
		for _, v := range found {
			if !seen[v] {
				seen[v] = true
				values = append(values, v)
			}
		}
	}
	slices.Sort(values)
	return values
}

// Version returns the newest resource version given out.
func (o *Objects) Version() string { return strconv.FormatUint(o.version.Load(), 10) }

// Mutate returns a later version of obj, which must be a pod or a node of o: a
// shallow copy with the next resource version, unique among all of o. With
// changeIndexed a pod runs on another node, which moves it in IndexNode. It costs
// a few hundred nanoseconds, most of it the copy, or some 30 us where ObjectSpec.Decoded is set; rng
// is used only with changeIndexed.
func (o *Objects) Mutate(obj runtime.Object, rng *rand.Rand, changeIndexed bool) runtime.Object {
	later := o.mutate(obj, rng, changeIndexed)
	if o.spec.Decoded {
		later = o.spec.Kind.Decode(o.spec.Kind.Encode(later))
	}
	return later
}

func (o *Objects) mutate(obj runtime.Object, rng *rand.Rand, changeIndexed bool) runtime.Object {
	version := strconv.FormatUint(o.version.Add(1), 10)
	switch old := obj.(type) {
	case *corev1.Pod:
		p := *old
		p.ResourceVersion = version
		if changeIndexed {
			// One of the other nodes: the last takes the present node's number.
			n := rng.IntN(len(o.nodes) - 1)
			if o.nodes[n] == p.Spec.NodeName {
				n = len(o.nodes) - 1
			}
			p.Spec.NodeName = o.nodes[n]
		}
		return &p
	case *corev1.Node:
		n := *old
		n.ResourceVersion = version
		return &n
	default:
		panic(fmt.Sprintf("synthetic: Mutate of a %T: want a pod or a node", obj))
	}
}

// Key returns the key of an object, "namespace/name" or "name". It panics for a value that
// is not a Kubernetes object.
func Key(obj any) string {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		panic(fmt.Sprintf("synthetic: key of a %T: %v", obj, err))
	}
	return key
}
