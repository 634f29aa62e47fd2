// Package e2e runs the project against a real API server: the released
// apiextensions-apiserver over an embedded etcd, with custom resources.
//
// It holds tests only, and is a module of its own, so that the root module does not
// gain the server's dependencies. The test binary starts itself again as the server,
// in a process that the tests may kill. See docs/informer.md.
//
//	go test -short -timeout 6m .     # what CI runs
//	go test -race -timeout 60m .     # everything, as make e2e
package e2e
