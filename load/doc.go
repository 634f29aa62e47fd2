// Package load makes what the harness measures with: Kubernetes objects of
// realistic size, workloads (what is done, by how many, how fast), a list/watch
// source that stands in for an apiserver, and replayable traces.
//
// Everything is a function of a seed: the same spec and the same seed give the
// same objects, the same trace and the same faults, on every machine.
//
//   - [Generate] and [Mutate] make pods and nodes. 100,000 pods of 9 KB as JSON
//     take about 150 MB of heap, because pods share what never changes.
//   - [Workload] is data. It comes from a YAML file ([ReadWorkload]), which is
//     read strictly, or from a preset ([Presets]), which cites its source. Both
//     pass the same [Workload.Validate].
//   - [Source] answers list and watch as an apiserver does, and can be asked to
//     fail in the ways an apiserver fails ([Fault]). Package load/apiserver serves
//     it over HTTP.
//   - [Trace] is what happened to the objects of a cluster, with the time of each
//     event: recorded (load/record, [TraceWriter]), or made of a production cluster's pod
//     lifecycles ([ImportCSV], [PodTrace]). [ReadTraceFile] reads both, [Play] applies one
//     to Sources.
package load
