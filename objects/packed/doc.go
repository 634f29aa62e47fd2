// Package packed keeps Kubernetes objects as compressed bytes and decodes them when they are read.
// It is for caches that hold many objects and read few of them: a decoded pod of 6.3 KB in
// protobuf takes 20 KB of heap in 228 heap objects, a record of it 0.7 KB in three.
//
// # Guarantees
//
//   - [Keeper] is a contract.ObjectKeeper. Object returns an object equal to the one that was kept
//     by equality.Semantic. While someone holds that object, or one that an earlier call returned,
//     Object returns the same pointer. A record knows them by a weak pointer; up to 512 that are
//     read over and over are hot, and have a plain pointer until the next collection.
//   - A record passes meta.Accessor without decoding: namespace, name, UID, resource version.
//   - An object that bytes would change stays as it is, and Keep returns it.
//   - The package starts no goroutine. Memory goes with the records: a record and its bytes are two
//     allocations of the Go heap, and the bytes have no pointers to scan. So there are no slabs to
//     compact and nothing to close.
//
// # How objects are encoded
//
//   - Types with protobuf: protobuf. A check, made once for each type, finds the values that
//     protobuf loses: fractions of a second, monotonic clocks, quantities finer than 1n, a TypeMeta
//     inside the object, an Object in a RawExtension. The TypeMeta of the object itself is kept
//     beside the bytes. The first 16 objects of each kind are also compared after a round trip.
//   - Unstructured objects: a binary format of this package. It keeps nil, bool, int64, float64,
//     string, []any and map[string]any exactly. Objects share their frequent strings.
//   - Other types: JSON. Each object is decoded and compared in Keep, since tags and methods can
//     lose anything.
//
// S2 compresses the result with a dictionary for each type, apiVersion and kind: 64 KiB of typical
// objects. The first dictionary comes with the 32nd object. The next ones are made from samples
// when there are eight times as many objects, or when 1,024 objects pack 1.25 times worse than the
// first 1,024 of the dictionary did; a new one must save 5%. A record refers to the dictionary that
// it was packed with. A dictionary without records is collected.
//
// # Costs
//
// Measured on two shared cores of a Xeon with pods of 64 deployments, each decoded on its own:
// go test -run xxx -bench . ./objects/packed.
//
//	                               typed pod          unstructured pod
//	bytes, decoded                 19,976             58,269
//	bytes, packed                  694  (0.035)       532  (0.009)
//	heap objects, decoded          228                974
//	heap objects, packed           3.0  (0.013)       3.2  (0.003)
//	GC of 20,000, decoded          563 ms             2,188 ms
//	GC of 20,000, packed           12 ms              21 ms
//	Keep                           17 us              43 us
//	  encode + compress            10 + 3.4 us        37 + 2.7 us
//	Object, hot                    2 ns               2 ns
//	Object, decoded one in use     13 ns              13 ns
//	Object, cold                   26 us              43 us (JSON: 225 us)
//	  decompress + decode          1.1 + 23 us        0.7 + 41 us
//
// Time does not grow with the number of objects. What is hot stays for one collection after its
// last read, in which others would have gone. Beside the records, each kind has about 100 KB for
// a dictionary in use, up to 0.5 MB for the strings of unstructured objects, and at most 96 records
// as samples. A Keep that makes a dictionary takes some milliseconds; each uses 64 KB of its
// goroutine's stack. A JSON object of 10 KB costs some 560 us to keep and 330 us to read. Index
// values, see [Keeper.Values], are lists that records share, up to 4,096 of them.
//
// Limits:
//
//   - A weak pointer to an element of an array costs about 5 ns for each element before it that has
//     one. Pass objects that are allocated on their own, as client-go's Reflector does. Unstructured
//     objects have 8 bytes, and 1,024 of them share a span as an array does: some 3 us in Keep.
//   - A stateful set that came as JSON has a TypeMeta in its claim templates. It is not packed.
//   - Who holds a name or UID from a record's metadata keeps the record's bytes.
//   - Objects packed before the first dictionary stay larger, in the bytes of 32 objects of a kind.
//   - Only the first 64 KiB of an object could use a dictionary: larger ones are compressed alone.
//   - A record of the 4,097th kind does not exist: such objects are kept as they are.
//
// # Designs that lost
//
// All for the 6,253 bytes of a pod: bytes, time to compress, time to decompress.
//
//	s2, dictionary of 64 KB of pods     518     3.3 us    0.9 us   chosen
//	s2 better, the same                 446      19 us    0.8 us
//	zstd 1, raw dictionary of 64 KB     280      18 us    4.4 us
//	zstd 1, raw dictionary of 512 KB    178      27 us    2.4 us   64 deployments fit into it
//	zstd 3, raw dictionary of 64 KB     275     171 us    5.6 us
//	zstd 1, dictionary by BuildDict     906      27 us    8.8 us
//	zstd 1, none                      2,301      23 us    6.4 us
//	flate 6, dictionary of 32 KB        349      89 us    8.0 us
//
// Zstd would save 240 bytes of a record's 694, which is 1.2% of a decoded pod. It costs 3.5 us of
// each cold read, twice the time of Keep, and 9.7 MB for two encoders; S2 keeps no state but the
// dictionary. A dictionary of the passages that several pods share, once each, made records
// twice as large (985 bytes): copies of short pieces cost more than a far copy of a long one.
//
// A pointer to a weak pointer instead of the swap of its word adds a heap object to each record. An
// interface made by reflection instead of from its words takes 26 ns for a hot Object, not 13.
// Verifying each object after a round trip, instead of the check of its type (1.5 us), adds a
// decode and a comparison to each Keep.
package packed
