package engine

import "time"

// Timetable waits until something is due, and keeps the generator's own lateness apart from
// the subject's delay.
//
// An idle goroutine sleeps, and may wake up too late because of the machine's timer or a
// busy processor, not because of the subject. An operation's delay therefore counts from
// its due time or the generator's last wake-up, whichever is later. The lateness of the
// wake-up is recorded by itself.
//
// The zero Timetable sleeps by the runtime's timers. One goroutine at a time may use it.
type Timetable struct {
	woke  time.Time // end of the last sleep
	alarm *alarm    // nil: time.Sleep
}

// NewTimetable returns one that wakes up as a request from the network does, where the system can.
// The caller closes it.
func NewTimetable() *Timetable {
	if time.Now().Year() <= 2000 { // in a synctest bubble, whose time the kernel does not know
		return &Timetable{}
	}
	return &Timetable{alarm: newAlarm()}
}

// Close gives back what NewTimetable took.
func (t *Timetable) Close() {
	if t.alarm != nil {
		t.alarm.close()
	}
}

// Await sleeps until due. It returns the time from which the operation's delay counts, and
// the lateness of the generator: how much of the delay does not count because it slept too
// long. That is so of every operation that was due while it slept.
func (t *Timetable) Await(due time.Time) (from time.Time, late time.Duration) {
	for wait := time.Until(due); wait > 0; wait = due.Sub(t.woke) {
		if t.alarm == nil {
			time.Sleep(wait)
		} else {
			t.alarm.sleep(due)
		}
		t.woke = time.Now()
	}
	if t.woke.After(due) {
		return t.woke, t.woke.Sub(due)
	}
	return due, 0
}

// pacer says when the operations of one goroutine of an open loop are due.
//
// Operation i is due at start + phase + i*interval, whatever happened before. A slow
// operation makes the next ones late and does not reduce their number (no coordinated
// omission).
type pacer struct {
	*Timetable
	next     time.Time
	interval time.Duration
}

// newPacer spreads the n goroutines of a group evenly over one interval.
func newPacer(t *Timetable, start time.Time, rate float64, who, n int) *pacer {
	interval := time.Duration(float64(n) / rate * float64(time.Second))
	return &pacer{Timetable: t, next: start.Add(interval * time.Duration(who) / time.Duration(n)),
		interval: interval}
}

// operation waits until the next operation is due and returns the results of await. ok is
// false if none is due before end.
func (p *pacer) operation(end time.Time) (from time.Time, late time.Duration, ok bool) {
	due := p.next
	if !due.Before(end) {
		return due, 0, false
	}
	p.next = due.Add(p.interval)
	from, late = p.Await(due)
	return from, late, true
}

// owed records the operations due before end and not done, and returns their number.
func (p *pacer) owed(end time.Time, record func(due, end time.Time)) (n int) {
	for due := p.next; due.Before(end); due = due.Add(p.interval) {
		record(due, end)
		n++
	}
	return n
}
