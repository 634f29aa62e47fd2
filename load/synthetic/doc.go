// Package synthetic makes Kubernetes objects of realistic size, and a list/watch source
// that stands in for an API server.
//
// Everything is a function of a seed: the same spec and the same seed give the same objects
// and the same faults, on every machine.
//
//   - [Generate] and [Objects.Mutate] make pods and nodes. 100,000 pods of 9 KB as JSON
//     take about 150 MB of heap, because pods share their constant parts.
//   - [Source] answers list and watch as an API server does, and can fail in the ways an
//     API server fails ([Fault]). Package load/apiserver serves it over HTTP.
package synthetic
