//go:build !linux

package sysinfo

// PinThread does nothing here.
func PinThread(int) (unpin func()) { return func() {} }
