package deltafifo

// The count behind HasSynced and isInInitialList.

// initialList counts down the items that waited after the first Replace. The FIFO's lock
// guards it; any goroutine may watch the channel.
type initialList struct {
	done  chan struct{} // closed when over becomes true
	begun bool
	left  int
}

// begin is called by every producing method except Resync, with the number of items that
// wait after a Replace, and with 0 otherwise. Only the first call counts.
func (l *initialList) begin(waiting int) {
	if l.begun {
		return
	}
	l.begun, l.left = true, waiting
	if waiting == 0 {
		close(l.done)
	}
}

// over reports whether everything of the initial list was popped.
func (l *initialList) over() bool { return l.begun && l.left == 0 }

// popped is called after the process of each Pop that began before over.
func (l *initialList) popped() {
	if l.left == 0 {
		return
	}
	if l.left--; l.left == 0 {
		close(l.done)
	}
}
