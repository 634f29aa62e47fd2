// Package record watches resources of a cluster and writes what it sees into a
// trace (load.Trace), to be replayed against stores, FIFOs and informers.
//
// [Connect] takes a kubeconfig, [Cluster.Resolve] finds the resources that were
// asked for, and [File] records them into a file:
//
//   - It only lists and watches. It lists once at the start, page by page, and again
//     only where the server has forgotten the history that it needs.
//   - Nothing is lost: a watch that breaks off goes on at the version where it was;
//     after a 410 the resource is listed again and what differs is written as events.
//     Steps between two versions, and the times of these changes, are then unknown. The
//     trace's notes say when that was.
//   - The file is made when every resource was listed and watched for a try, so that a
//     mistake leaves none. From then on it grows by a block each FlushEvery or
//     each megabyte of JSON, and is readable at any time up to its last block: a process
//     that is killed, or a disk that is full, costs no more than what came since. (A
//     file that appears whole at the end would lose an hour's recording.)
//   - Secrets are refused unless their data is left out; see [Options].
//
// Memory is what load.TraceWriter keeps for each live object (its key, UID, version and a
// digest of each field), and a page of a list for each resource. An event costs the JSON
// of its object and the compression of what changed.
package record
