package synthetic

// ObjectKind is the kind of a generated object.
type ObjectKind string

// The kinds of objects.
const (
	KindPod   ObjectKind = "pod"   // *corev1.Pod, about 9 KB as JSON
	KindNode  ObjectKind = "node"  // *corev1.Node, about 13 KB as JSON
	KindSmall ObjectKind = "small" // *corev1.Pod with metadata only
	KindKey   ObjectKind = "key"   // no object, only a key: for delay heaps and queues
	// KindUnstructured is the pod of KindPod, encoded as JSON and decoded without its type.
	KindUnstructured ObjectKind = "unstructured"
)

// ObjectSpec specifies the objects to generate.
type ObjectSpec struct {
	// Kind is by default pod for stores and FIFOs, key for delay heaps and queues.
	Kind ObjectKind `yaml:"kind,omitempty"`
	// Count is the number of objects (or keys), at least 1.
	Count int `yaml:"count"`
	// Namespaces is the number of namespaces of the pods; the default is DefaultNamespaces.
	// Nodes have no namespace.
	Namespaces int `yaml:"namespaces,omitempty"`
	// Nodes is the number of nodes that pods run on. 0 derives it from PerNode.
	Nodes int `yaml:"nodes,omitempty"`
	// PerNode is the number of pods on each node where Nodes is 0, so that the node index
	// has equally many matches at every Count of a sweep. The default is DefaultPerNode.
	PerNode int `yaml:"per_node,omitempty"`
	// Decoded makes each object, and each later version, by decoding bytes of its own, as a client
	// does with what a server sends; see Own. Else objects share the parts that templates give them,
	// which spares memory and the collector.
	Decoded bool `yaml:"decoded,omitempty"`
	// Production gives pods and nodes the size that they have in large clusters, two fifths of it
	// managedFields. A pod has the 9 to 10 KB by protobuf of the exemplar of upstream's load tests
	// (kubernetes/perf-tests#3947). A node has the medians of NVIDIA/NVSentinel#1705: 50 KB, 183
	// labels, 48 conditions, 50 images. Small pods and keys have no size to change.
	Production bool `yaml:"production,omitempty"`
}

// The defaults of a spec.
const (
	DefaultNamespaces = 10
	DefaultPerNode    = 30 // 150,000 pods on 5,000 nodes, the largest cluster that Kubernetes supports
)

// NamespaceCount is the number of namespaces in use, at most the number of objects.
func (s ObjectSpec) NamespaceCount() int {
	n := s.Namespaces
	if n <= 0 {
		n = DefaultNamespaces
	}
	return max(1, min(n, s.Count))
}

// NodeCount is the number of nodes that the pods run on.
func (s ObjectSpec) NodeCount() int {
	if s.Nodes > 0 {
		return s.Nodes
	}
	per := s.PerNode
	if per <= 0 {
		per = DefaultPerNode
	}
	return max(1, (s.Count+per-1)/per)
}

// BytesEach estimates the memory that each object takes in a process that holds them in a store:
// measured with client-go's at 100,000 to 400,000 objects, rounded down.
func (s ObjectSpec) BytesEach() uint64 {
	switch {
	case s.Kind == KindKey:
		return 150
	case s.Kind == KindUnstructured && s.Production:
		return 82_000
	case s.Kind == KindUnstructured:
		return 58_000
	case !s.Decoded || s.Kind == KindSmall:
		return 2800
	case s.Production && s.Kind == KindNode:
		return 75_000
	case s.Production:
		return 24_000
	}
	return 21_000
}
