package indexing

// objectsInPage is how many objects lie in a page of 4 KB.
const objectsInPage = 256

// Copy copies src into dst, which is as long, as copy does. It is for lists in memory that nobody
// has touched: while the collector marks, copy reads what it is about to overwrite. The first read
// of a page maps the kernel's page of zeros, and the write that follows takes a second fault, which
// interrupts the other processors: beside a collection, the p99 of 2,400 lists a second of 10,000
// objects took five times as long. So each page is written to first. An assignment writes an
// object's type, which the collector does not look at, before its pointer.
func Copy(dst, src []any) {
	if len(src) == 0 {
		return
	}
	for i := 0; i < len(src); i += objectsInPage {
		dst[i] = src[i]
	}
	last := len(src) - 1
	dst[last] = src[last]
	copy(dst, src)
}
