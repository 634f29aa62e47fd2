//go:build !race

package sysinfo

const raceEnabled = false
