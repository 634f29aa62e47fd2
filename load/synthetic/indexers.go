package synthetic

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// The indexes that workloads read.
const (
	IndexNamespace = cache.NamespaceIndex // by metadata.namespace
	IndexNode      = "node"               // by spec.nodeName; pods without a node are left out
)

// Indexers returns the standard indexes, IndexNamespace and IndexNode. The map
// is new at each call.
func Indexers() contract.Indexers {
	return contract.Indexers{
		IndexNamespace: cache.MetaNamespaceIndexFunc,
		IndexNode:      byNode,
	}
}

// byNode indexes pods by their node; nodes have no value in this index. Objects of a
// recording are unstructured: every object with spec.nodeName counts as a pod.
func byNode(obj any) ([]string, error) {
	switch o := obj.(type) {
	case *corev1.Pod:
		if o.Spec.NodeName == "" {
			return nil, nil
		}
		return []string{o.Spec.NodeName}, nil
	case *corev1.Node:
		return nil, nil
	case *unstructured.Unstructured:
		spec, _ := o.Object["spec"].(map[string]any)
		if node, _ := spec["nodeName"].(string); node != "" {
			return []string{node}, nil
		}
		return nil, nil
	default:
		return nil, fmt.Errorf("index %s: %T is neither a pod nor a node", IndexNode, obj)
	}
}
