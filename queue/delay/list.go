package delay

// list is an array in pieces. Growing by one element copies at most one piece, and
// shrinking gives memory back.
//
// It keeps at most one empty piece. So a list whose length goes back and forth over the
// border of two pieces allocates nothing.
type list[E any] struct {
	// pieces are full but for the last that is not empty. The first begins small; the
	// others are made at their size.
	pieces [][]E
	n      int
}

const (
	pieceLen  = 1 << pieceBits
	pieceMask = pieceLen - 1
	// keptPieces is how many pointers to pieces are kept for nothing.
	keptPieces = 64
)

// at points to element i, which must be there.
func (l *list[E]) at(i uint32) *E { return &l.pieces[i>>pieceBits][i&pieceMask] }

// four returns the elements from i on, at most four of them; i is a multiple of four,
// so that they lie in one piece.
func (l *list[E]) four(i uint32) []E {
	piece, from := l.pieces[i>>pieceBits], int(i&pieceMask)
	return piece[from:min(from+4, len(piece))]
}

// push puts an element behind the last. It allocates once for pieceLen elements.
func (l *list[E]) push(e E) {
	p := l.n >> pieceBits
	if p == len(l.pieces) {
		var piece []E
		if p > 0 {
			piece = make([]E, 0, pieceLen)
		}
		l.pieces = append(l.pieces, piece)
	}
	l.pieces[p] = append(l.pieces[p], e)
	l.n++
}

// pop drops the last element, and keeps no reference that it held.
func (l *list[E]) pop() {
	l.n--
	p := l.n >> pieceBits
	piece := l.pieces[p]
	last := len(piece) - 1
	clear(piece[last:])
	l.pieces[p] = piece[:last]
	if last == 0 && p+1 < len(l.pieces) {
		l.drop()
	}
}

// drop drops the last piece, which is empty.
func (l *list[E]) drop() {
	last := len(l.pieces) - 1
	l.pieces[last] = nil
	l.pieces = l.pieces[:last]
	if c := cap(l.pieces); c > keptPieces && last < c/4 {
		l.pieces = append(make([][]E, 0, c/2), l.pieces...)
	}
}
