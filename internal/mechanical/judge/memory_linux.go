package main

import "syscall"

// limitMemory bounds the memory of a mutant that allocates without end: the private memory
// of the process, which the kernel counts as its data.
func limitMemory(bytes uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
