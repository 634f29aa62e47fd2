package apiserver

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kubernetes' own resources differ from custom ones, and from each other, in the rules of
// their registries (pkg/registry in kubernetes/kubernetes) for writes and the answers to
// deletions. These are the differences that clients see; resources not listed follow the
// general rule.

// conditional are the resources of Kubernetes whose updates must name the resource version
// they are based on. Updates of its other resources may leave it out; those of custom
// resources may not.
var conditional = map[schema.GroupResource]bool{
	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicies"}:         true,
	{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicybindings"}:   true,
	{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"}:     true,
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicies"}:       true,
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicybindings"}: true,
	{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"}:   true,
	{Group: "coordination.k8s.io", Resource: "leases"}:                                     true,
	{Group: "node.k8s.io", Resource: "runtimeclasses"}:                                     true,
	{Group: "policy", Resource: "poddisruptionbudgets"}:                                    true,
	{Group: "storage.k8s.io", Resource: "csidrivers"}:                                      true,
	{Group: "storage.k8s.io", Resource: "csinodes"}:                                        true,
	{Group: "storage.k8s.io", Resource: "csistoragecapacities"}:                            true,
	{Group: "storage.k8s.io", Resource: "volumeattachments"}:                               true,
}

func (r *resource) unconditional() bool { return !r.custom && !conditional[r.gvr.GroupResource()] }

// returned are the resources of Kubernetes whose deletion is answered with the object's
// last state. The deletion of any other is answered with a Status.
var returned = map[schema.GroupResource]bool{
	{Resource: "persistentvolumeclaims"}:                     true,
	{Resource: "persistentvolumes"}:                          true,
	{Resource: "pods"}:                                       true,
	{Resource: "podtemplates"}:                               true,
	{Resource: "resourcequotas"}:                             true,
	{Resource: "serviceaccounts"}:                            true,
	{Resource: "services"}:                                   true,
	{Group: "storage.k8s.io", Resource: "csidrivers"}:        true,
	{Group: "storage.k8s.io", Resource: "csinodes"}:          true,
	{Group: "storage.k8s.io", Resource: "storageclasses"}:    true,
	{Group: "storage.k8s.io", Resource: "volumeattachments"}: true,
}

func (r *resource) returnsDeleted() bool { return returned[r.gvr.GroupResource()] }
