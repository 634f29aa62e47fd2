package record

// Halves reports whether base and head are the two halves of one pair, so that head's ratios to
// the base are those to this base. benchrun pair gives both the same time of start, to the
// nanosecond, and names of their own.
//
// A pair of two programs had two times of start until this was so. Nothing else in its records
// tells its halves from those of another pair, so it counts as none.
func Halves(base, head *Run) bool {
	return base.Settings.Pair && head.Settings.Pair && base.Name != head.Name &&
		base.Started.Equal(head.Started)
}
