package mechanical

import "github.com/informerbench/informerbench/core/contract"

// Target is a package to mutate, and the entries of the catalog that use it.
type Target struct {
	Dir       string
	Component contract.Component
	Entries   []string // names within the component
}

// Targets are the packages that have mechanical mutants.
func Targets() []Target {
	return []Target{
		{"core/impl/mutexmap", contract.ComponentStore, []string{"mutexmap"}},
		{"core/impl/dense", contract.ComponentStore, []string{"dense"}},
		{"core/queue/delay", contract.ComponentDelay, []string{"binaryheap", "quadheap", "wheel", "bucketwheel", "pairingheap"}},
		{"core/queue/deltafifo", contract.ComponentFIFO, []string{"deltafifo", "coalescing", "inorder", "inorder-atomic"}},
		{"core/queue/workqueue", contract.ComponentQueue, []string{"workqueue", "priority", "workqueue-oneheap"}},
	}
}
