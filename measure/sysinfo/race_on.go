//go:build race

package sysinfo

const raceEnabled = true
