package synthetic

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Encode returns a pod or a node as a server sends it: by JSON for KindUnstructured, else by
// protobuf. It panics for other objects.
func (k ObjectKind) Encode(obj runtime.Object) []byte {
	var b []byte
	var err error
	if k == KindUnstructured {
		if pod, is := obj.(*corev1.Pod); is {
			named := *pod
			named.Kind, named.APIVersion = "Pod", "v1"
			obj = &named
		}
		b, err = json.Marshal(obj)
	} else {
		b, err = obj.(interface{ Marshal() ([]byte, error) }).Marshal()
	}
	if err != nil {
		panic(fmt.Sprintf("synthetic: encoding a %T: %v", obj, err))
	}
	return b
}

// Decode returns the object that Encode made b of. It shares no memory with any other.
func (k ObjectKind) Decode(b []byte) runtime.Object {
	var obj runtime.Object
	var err error
	switch k {
	case KindUnstructured:
		u := &unstructured.Unstructured{}
		obj, err = u, u.UnmarshalJSON(b)
	case KindNode:
		node := &corev1.Node{}
		obj, err = node, node.Unmarshal(b)
	default:
		pod := &corev1.Pod{}
		obj, err = pod, pod.Unmarshal(b)
	}
	if err != nil {
		panic(fmt.Sprintf("synthetic: decoding a %s: %v", k, err))
	}
	return obj
}
