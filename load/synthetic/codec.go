package synthetic

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Encode returns a pod or a node as a server sends it: by protobuf. It panics for other objects.
func Encode(obj runtime.Object) []byte {
	m, ok := obj.(interface{ Marshal() ([]byte, error) })
	if !ok {
		panic(fmt.Sprintf("synthetic: Encode of a %T: want a pod or a node", obj))
	}
	b, err := m.Marshal()
	if err != nil {
		panic(fmt.Sprintf("synthetic: encoding a %T: %v", obj, err))
	}
	return b
}

// Decode returns the object that Encode made b of, which shares no memory with any other. like is
// an object of its type.
func Decode(like runtime.Object, b []byte) runtime.Object {
	var obj interface {
		runtime.Object
		Unmarshal([]byte) error
	}
	switch like.(type) {
	case *corev1.Pod:
		obj = &corev1.Pod{}
	case *corev1.Node:
		obj = &corev1.Node{}
	default:
		panic(fmt.Sprintf("synthetic: Decode of a %T: want a pod or a node", like))
	}
	if err := obj.Unmarshal(b); err != nil {
		panic(fmt.Sprintf("synthetic: decoding a %T: %v", like, err))
	}
	return obj
}
