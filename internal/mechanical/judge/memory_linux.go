package main

import "syscall"

// limitMemory bounds what a mutant that allocates for ever can take: the private memory
// of the process, which is what the kernel counts as its data.
func limitMemory(bytes uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
