// Package recorder watches resources of a cluster and writes their events into a trace
// (load.Trace), for replay against stores, FIFOs and informers.
//
// [Connect] takes a kubeconfig, [Cluster.Resolve] finds the requested resources, and [File]
// records them into a file:
//
//   - It only lists and watches. It lists once at the start, page by page, and again
//     only where the server has forgotten the history that it needs.
//   - No change is lost. A watch that breaks off continues at its last version. After a
//     410 the resource is listed again, and the differences are written as events. The
//     states between two versions, and the times of these changes, are then unknown; the
//     trace's notes say when that was.
//   - The file is created after a first list and watch of every resource has
//     succeeded, so that a mistake leaves no file. From then on it grows by a block each
//     FlushEvery or each megabyte of JSON, and is always readable up to its last block. A
//     killed process or a full disk loses only the events since then. (A file that
//     appeared whole at the end could lose an hour's recording.)
//   - Secrets are refused unless their data is left out; see [Options].
//
// Memory is that of load.TraceWriter for each live object (its key, UID, version and a
// digest of each field), and a page of a list for each resource. An event costs the JSON of
// its object and the compression of the changed fields.
package recorder
