// Package load makes the inputs of the measurements: Kubernetes objects of realistic size,
// workloads (the operations, their goroutines and rates), a list/watch source that stands
// in for an apiserver, and replayable traces.
//
// Everything is a function of a seed: the same spec and the same seed give the
// same objects, the same trace and the same faults, on every machine.
//
//   - [Generate] and [Objects.Mutate] make pods and nodes. 100,000 pods of 9 KB as JSON
//     take about 150 MB of heap, because pods share their constant parts.
//   - [Workload] is data. It comes from a YAML file ([ReadWorkload]), which is
//     read strictly, or from a preset ([Presets]), which cites its source. Both
//     pass the same [Workload.Validate].
//   - [Source] answers list and watch as an apiserver does, and can fail in the ways
//     an apiserver fails ([Fault]). Package load/apiserver serves it over HTTP.
//   - [Trace] is the history of a cluster's objects, with the time of each event. It is
//     recorded (load/record, [TraceWriter]), or made from a production cluster's pod
//     lifecycles ([ImportCSV], [PodTrace]). [ReadTraceFile] reads both, [Play] applies one
//     to Sources.
package load
