//go:build !linux

package engine

import "time"

// alarm is that of Linux; elsewhere there is none.
type alarm struct{}

func newAlarm() *alarm { return nil }

func (*alarm) sleep(time.Time) {}
func (*alarm) close()          {}
