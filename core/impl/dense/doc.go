// Package dense is a store of one RWMutex over slices: the objects lie side by side in one
// []any, the keys in a []string, and the objects of each indexed value in a slice of their
// own. A map leads from a key to a record, which knows where its object stands.
//
//	records                objects          keys
//	"ns/a" -> {0, ...}     0: pod a         "ns/a"
//	"ns/b" -> {1, ...}     1: pod b         "ns/b"
//	            |
//	            places: namespace "ns" at 1, node "n7" at 0
//
//	index "namespace"      objects          records (the owner of each object)
//	"ns" -> bucket         0: pod a         record of "ns/a"
//	                       1: pod b         record of "ns/b"
//
// It shows what layout alone is worth. List and ByIndex copy a slice, and do not walk a map
// with a look-up for each match. But the lock is the baseline's, with the baseline's fault:
// a writer waits for every reader that came before it (kubernetes#130767), only not as long.
//
// Removal swaps the last object of the slice into the hole, and its record is corrected. A
// record also remembers the values that its object is indexed under. So IndexFuncs do not
// run on old objects; the baseline runs them again. New values are computed under a mutex
// of the writers (STORE-48), before the lock is taken.
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
// O(n*i), for which writes that store objects wait, and readers do not; AddIndexers is
// O(n) under the lock. A slice that grows is copied as a whole under the write lock, now
// and then 16n bytes at once. Memory: about 200 bytes for each of 100,000 objects in an
// index of 2,000 matches a value and one of 20, where the baseline has 160. A slice that
// is three quarters empty gives half of its room back. The maps of keys and of index values keep
// their greatest size until the next Replace, as client-go's do.
package dense
