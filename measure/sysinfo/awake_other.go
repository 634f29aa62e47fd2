//go:build !linux

package sysinfo

import "errors"

func canKeepAwake() error { return errors.New("it is done on Linux only") }

// KeepAwake returns an error: it keeps the processors awake on Linux only.
func KeepAwake(func()) error { return canKeepAwake() }
