//go:build !linux

package measure

func (*Environment) readHardware() {}

func loadAverage() float64 { return 0 }

func stealAndTotal() (steal, total float64) { return 0, 0 }
