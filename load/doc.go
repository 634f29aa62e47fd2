// Package load says what is measured: workloads (the operations, their goroutines and
// rates), presets of them, and traces that are replayed. The objects, and the source that
// stands in for an API server, are those of package synthetic.
//
// Everything is a function of a seed: the same workload and the same seed give the same
// operations in the same order, on every machine.
//
//   - [Workload] is data. It comes from a YAML file ([ReadWorkload]), which is
//     read strictly, or from a preset (load/presets), which cites its source. Both
//     pass the same [Workload.Validate].
//   - [Trace] is the history of a cluster's objects, with the time of each event. It is
//     recorded (load/recorder, [TraceWriter]), or made from a production cluster's pod
//     lifecycles ([ImportCSV], [PodTrace]). [ReadTraceFile] reads both, [Play] applies one
//     to Sources.
package load
