// Package apiserver serves load.Sources over HTTP as a Kubernetes API server
// would: client-go's typed, dynamic, metadata and discovery clients, its informers,
// and controller-runtime's clients work with it as they are.
//
//	pods := load.NewSource(load.Generate(spec, seed).All(), load.SourceOptions{})
//	server, err := apiserver.New(map[schema.GroupVersionResource]*load.Source{apiserver.Pods: pods}, apiserver.Options{})
//	...
//	err = server.Start()
//	defer server.Stop()
//	client, err := kubernetes.NewForConfig(server.RESTConfig())
//
// What it speaks: discovery (/api, /apis and each group and version; the
// aggregated form is answered by the plain one, which clients take), /version,
// /healthz, /readyz, /livez; get, list (limit and continue, resource version
// rules), watch (bookmarks, initial events), label and field selectors; create,
// update, patch (JSON, JSON merge and strategic merge), delete and delete collection,
// the status subresource, finalizers, preconditions, dry runs and field validation.
// Bodies are JSON, YAML, and Protobuf for types that have it; on request
// PartialObjectMetadata, and tables as kubectl prints them. Errors are metav1.Status
// objects. https://kubernetes.io/docs/reference/using-api/api-concepts/ is what it
// follows.
//
// Names, metadata and options are validated as a real server does. Of custom resources
// it answers what apiextensions-apiserver v0.37.2 answers: package apitest has the
// requests, docs/apiserver.md the differences.
//
// What it leaves out: authorization, admission, validation of spec and status, defaulting,
// server-side apply, CBOR, schemas (OpenAPI v3 has paths and parameters alone), HTTP
// compression, and subresources other than status.
//
// # Resource versions
//
// Each Source counts its own versions, so each resource has a sequence of its
// own, as if the server kept each in an etcd of its own. Clients must not compare
// the versions of two resources, and none of client-go's does.
//
// # Faults
//
// A Source fails as an apiserver's watch cache does (load.SourceOptions.Faults);
// Options.Faults adds what goes wrong between it and the client: 429, 500, cut and
// half-closed and slow connections. Both are data, validated and counted.
//
// # Who may ask
//
// It serves this machine alone. It listens on loopback, and refuses requests whose Host
// or Origin is another machine's, and bodies without a content type, so that no page in
// a browser can read or write. The requests in flight are limited (Options.MaxInFlight),
// as are the times of headers, bodies, unread answers and idle connections; watches have no limit.
//
// # Cost
//
// An event is encoded once for each media type, however many watch
// ([Server.Stats] tells). A list copies n objects shallowly and encodes them as it
// writes. docs/apiserver.md has what was measured.
package apiserver
