//go:build !linux

package sysinfo

func (*Environment) readHardware() {}

func loadAverage() float64 { return 0 }

func readCPUTimes() cpuTimes { return cpuTimes{} }

func frequencyMHz() float64 { return 0 }

func swapUsedMB() uint64 { return 0 }
