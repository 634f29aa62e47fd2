package cache_test

// Compiled with controller-runtime's tests only: see upstream_test.go. It starts our API server
// where they start a kube-apiserver and etcd.

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

var _ = BeforeSuite(func() {
	inNamespace := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "default", Name: name}
	}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	// What a new cluster has.
	sources := map[schema.GroupVersionResource]*synthetic.Source{}
	for resource, objects := range map[string][]runtime.Object{
		"pods":  nil,
		"nodes": nil,
		"namespaces": {&corev1.Namespace{ObjectMeta: named("default")},
			&corev1.Namespace{ObjectMeta: named("kube-system")}},
		"serviceaccounts": {&corev1.ServiceAccount{ObjectMeta: inNamespace("default")}},
		"services": {
			&corev1.Service{ObjectMeta: inNamespace("kubernetes"),
				Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}}}},
	} {
		example := map[string]runtime.Object{"pods": &corev1.Pod{}, "nodes": &corev1.Node{}}[resource]
		source := synthetic.NewSource(objects, synthetic.SourceOptions{Example: example})
		DeferCleanup(source.Stop)
		sources[corev1.SchemeGroupVersion.WithResource(resource)] = source
	}
	server, err := apiserver.New(sources, apiserver.Options{})
	Expect(err).NotTo(HaveOccurred())
	Expect(server.Start()).To(Succeed())
	DeferCleanup(server.Stop)
	cfg = server.RESTConfig()
})
