// Package pieces has [List], an array that grows and shrinks piece by piece: no push copies more
// than one piece, and what was popped gives its memory back. The hash tables and heaps of
// queue/delay and queue/workqueue stand on it.
package pieces

const (
	pieceLen  = 1 << pieceBits
	pieceMask = pieceLen - 1
	// kept is how many pointers to pieces are kept for nothing.
	kept = 64
)

// List is an array in pieces. The zero value is empty. A pointer to an element is valid until the
// next Push or Pop.
//
// It keeps at most one empty piece. So a list whose length goes back and forth over the
// border of two pieces allocates nothing.
type List[E any] struct {
	// of are full but for the last that is not empty. The first begins small; the
	// others are made at their size.
	of [][]E
	n  int
}

// Len returns how many elements there are.
func (l *List[E]) Len() int { return l.n }

// At points to element i, which must be there.
func (l *List[E]) At(i uint32) *E { return &l.of[i>>pieceBits][i&pieceMask] }

// Four returns the elements from i on, at most four of them; i is a multiple of four,
// so that they lie in one piece.
func (l *List[E]) Four(i uint32) []E {
	piece, from := l.of[i>>pieceBits], int(i&pieceMask)
	return piece[from:min(from+4, len(piece))]
}

// Push puts an element behind the last. It allocates once for the elements of a piece.
func (l *List[E]) Push(e E) {
	p := l.n >> pieceBits
	if p == len(l.of) {
		var piece []E
		if p > 0 {
			piece = make([]E, 0, pieceLen)
		}
		l.of = append(l.of, piece)
	}
	l.of[p] = append(l.of[p], e)
	l.n++
}

// Pop drops the last element, and keeps no reference that it held.
func (l *List[E]) Pop() {
	l.n--
	p := l.n >> pieceBits
	piece := l.of[p]
	last := len(piece) - 1
	clear(piece[last:])
	l.of[p] = piece[:last]
	if last == 0 && p+1 < len(l.of) {
		l.drop()
	}
}

// drop drops the last piece, which is empty.
func (l *List[E]) drop() {
	last := len(l.of) - 1
	l.of[last] = nil
	l.of = l.of[:last]
	if c := cap(l.of); c > kept && last < c/4 {
		l.of = append(make([][]E, 0, c/2), l.of...)
	}
}
