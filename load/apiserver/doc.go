// Package apiserver serves synthetic.Sources over HTTP as a Kubernetes API server would.
// client-go's typed, dynamic, metadata and discovery clients, its informers, and
// controller-runtime's clients work with it unchanged.
//
//	pods := synthetic.NewSource(synthetic.Generate(spec, seed).All(), synthetic.SourceOptions{})
//	server, err := apiserver.New(map[schema.GroupVersionResource]*synthetic.Source{apiserver.Pods: pods}, apiserver.Options{})
//	...
//	err = server.Start()
//	defer server.Stop()
//	client, err := kubernetes.NewForConfig(server.RESTConfig())
//
// It supports:
//   - discovery (/api, /apis and each group and version; a request for the aggregated
//     form gets the plain one, which clients accept), /version, /healthz, /readyz, /livez;
//   - get, list (limit and continue, resource version rules), watch (bookmarks, initial
//     events), label and field selectors;
//   - create, update, patch (JSON, JSON merge and strategic merge), delete and delete
//     collection, the status subresource, finalizers, preconditions, dry runs and field
//     validation;
//   - bodies in JSON, YAML, and Protobuf for types that have it; on request
//     PartialObjectMetadata, and tables as kubectl prints them. Errors are metav1.Status.
//
// It follows https://kubernetes.io/docs/reference/using-api/api-concepts/.
//
// Names, metadata and options are validated as by a real server. For custom resources the
// answers are those of apiextensions-apiserver v0.37.2: parity_cases_test.go has the
// requests, docs/traces.md the differences.
//
// It does not support authorization, admission, validation of spec and status, defaulting,
// server-side apply, CBOR, schemas (OpenAPI v3 has paths and parameters alone), HTTP
// compression, and subresources other than status.
//
// # Resource versions
//
// Each Source counts its own versions. Each resource therefore has a sequence of its own,
// as if the server kept it in an etcd of its own. Clients must not compare the versions of
// two resources, and client-go's clients do not.
//
// # Faults
//
// A Source fails as an apiserver's watch cache does (synthetic.SourceOptions.Faults).
// Options.Faults adds failures between it and the client: 429, 500, and cut, half-closed
// and slow connections. Both are data, validated and counted.
//
// # Access
//
// The server serves this machine alone. It listens on loopback. It refuses requests whose
// Host or Origin is another machine's, and bodies without a content type, so that no web
// page in a browser can read or write. It limits the requests in flight
// (Options.MaxInFlight), and the times for headers, bodies, unread answers and idle
// connections; watches have no limit.
//
// # Cost
//
// An event is encoded once for each media type, however many clients watch ([Server.Stats]
// has the counts). A list copies n objects shallowly and encodes them as it writes.
package apiserver
