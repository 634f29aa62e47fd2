// Package dense is a store of one RWMutex over slices: the objects lie side by side
// in one []any and the keys in another, and so do the objects of each indexed
// value. A map leads from a key to a record, which knows where its object stands.
//
//	records                objects          keys
//	"ns/a" -> {0, ...}     0: pod a         "ns/a"
//	"ns/b" -> {1, ...}     1: pod b         "ns/b"
//	            |
//	            places: namespace "ns" at 1, node "n7" at 0
//
//	index "namespace"      objects          records (whose the object is)
//	"ns" -> bucket         0: pod a         record of "ns/a"
//	                       1: pod b         record of "ns/b"
//
// It shows what layout alone is worth. List and ByIndex are copies of a slice, and
// not walks over a map with a look-up for each match. But the lock is the
// baseline's, and so is its fault: a writer waits for every reader that came before
// it (kubernetes#130767), only for less long.
//
// What is deleted gives its place to the last one of the slice, whose record is
// told. The record also remembers the values that the object was indexed under, so
// the IndexFunc is not run on an old object, as the baseline does; new values are
// computed under a mutex of the writers (STORE-48), before the lock is taken.
//
// It keeps every STORE clause. Values are computed before anything is touched, and
// after that nothing can fail, so nothing is ever half written.
//
// Costs, for n objects and i indexes. Get is a map lookup and one step to the
// record, O(1), no allocation. Add, Update and Delete are O(i) under the write
// lock; an Add allocates the record, an Update whose index values stay nothing
// beside the IndexFunc. An object of many values costs O(values). List and
// ListKeys copy n entries under the read lock, into memory that was asked for
// before. ByIndex copies its matches, IndexKeys collects and sorts them. Replace is
// O(n*i), for which writers wait and readers do not; AddIndexers is O(n) under the
// lock. A slice that grows is copied as a whole under the
// write lock, now and then 16n bytes at once. Memory: about 200 bytes for each of
// 100,000 objects in an index of 2,000 matches a value and one of 20, where the
// baseline has 160. A slice that three quarters have left gives half of its room
// back.
package dense
