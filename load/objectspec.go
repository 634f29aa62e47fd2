package load

// ObjectKind says what a generated object is.
type ObjectKind string

// The kinds of objects.
const (
	KindPod   ObjectKind = "pod"   // *corev1.Pod, about 9 KB as JSON
	KindNode  ObjectKind = "node"  // *corev1.Node, about 13 KB as JSON
	KindSmall ObjectKind = "small" // *corev1.Pod with metadata only
	KindKey   ObjectKind = "key"   // no object, only a key: for delay heaps and queues
)

// ObjectKinds lists the kinds, for messages and checks.
func ObjectKinds() []ObjectKind { return []ObjectKind{KindPod, KindNode, KindSmall, KindKey} }

// ObjectSpec says which objects to generate.
type ObjectSpec struct {
	// Kind is pod for stores and FIFOs unless given, key for delay heaps and queues.
	Kind ObjectKind `yaml:"kind,omitempty"`
	// Count is how many objects (or keys) there are; at least 1.
	Count int `yaml:"count"`
	// Namespaces is how many namespaces pods are spread over; the default is
	// DefaultNamespaces. Nodes have no namespace.
	Namespaces int `yaml:"namespaces,omitempty"`
	// Nodes is how many nodes pods run on. 0 means as many as PerNode asks for.
	Nodes int `yaml:"nodes,omitempty"`
	// PerNode is how many pods run on each node where Nodes is 0, so that a
	// sweep over Count keeps the number of matches of the node index; the
	// default is DefaultPerNode.
	PerNode int `yaml:"per_node,omitempty"`
}

// What a spec has where it says nothing.
const (
	DefaultNamespaces = 10
	DefaultPerNode    = 30 // 150,000 pods on 5,000 nodes, the largest cluster that Kubernetes supports
)

// NamespaceCount is the number of namespaces in use: never more than objects.
func (s ObjectSpec) NamespaceCount() int {
	n := s.Namespaces
	if n <= 0 {
		n = DefaultNamespaces
	}
	return max(1, min(n, s.Count))
}

// NodeCount is the number of nodes that pods are spread over.
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
