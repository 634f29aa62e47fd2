// Command benchrun compares implementations of the machinery inside Kubernetes
// controllers: stores, FIFOs, delay heaps, workqueues and informers. Run it with --help.
// Package benchcmd says what the exit codes mean.
package main

import "github.com/informerbench/informerbench/cmd/benchrun/benchcmd"

func main() { benchcmd.Main() }
