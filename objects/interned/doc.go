// Package interned keeps equal parts of Kubernetes objects once.
//
// Objects that a client decodes have nothing in common in memory, although the pods of a template
// differ in little more than names, addresses and times. [Keeper.Keep] replaces the parts of an
// object - strings, maps, slices, what pointers lead to - by equal ones of earlier objects. It is a
// TransformFunc of client-go's informers and of controller-runtime's cache:
//
//	           labels      containers    volumes
//	pod-1  ------+-------------+------------+---- name, UID, IP
//	             v             v            v
//	          {app: a}   [{image: b}]  [{name: c}]
//	             ^             ^            ^
//	pod-2  ------+-------------+------------+---- name, UID, IP
//
// # Guarantees
//
// No value changes, nor does any nil become empty; only where equal values lie. A Quantity is the
// exception: its String is called, because it writes its result into the Quantity, and readers of
// two objects that share one would race. (AsDec writes too: copy a Quantity first, as in any
// cache.)
//
// Memory that two objects may share is never written to. So objects may be kept again while others
// are read. Keep itself writes to its object, and so the object must be freshly decoded, or a deep
// copy. Its slices may overlap, but then nobody may keep or read other objects meanwhile.
//
// The pool of parts has weak pointers only. A part lives as long as some object has it.
//
// Types and values that the package does not know are left alone: structs with unexported fields
// (such as protobuf messages), functions, channels, interfaces other than any, quantities of more
// than 18 digits, arrays of more than 64 elements. They are equal if they are the same memory.
//
// # How
//
// The first pass hashes each part from the leaves up. The second looks for each in the pool, from
// the root down: a part that is there is replaced as a whole, after it was compared. For a part
// that is not there, a few bits say whether another object had it before. If so, it enters the
// pool; otherwise its own parts are next. So what one object has alone takes four bytes for some
// time, in a table of fixed size, and versions of the object change nothing about that.
//
// Objects that have one generateName are likely to have the same parts. Where a part equals the
// one that such an object had in its place, it is not hashed.
//
// # Costs
//
// Keep takes time by the size of its object, and none by the number of objects. A Keeper takes
// 0.8 MB, and about 130 bytes for each part in the pool. Dead entries go when the pool is rebuilt,
// after at most twice as many additions as there were live parts, and not without additions.
//
// Measured with pods of 64 templates, of which each has for itself what pods of a real cluster
// have: names, addresses, the name of its token's volume, container IDs and times. "alike" are pods
// without the latter three. The pool counts in the bytes; the times are medians of decoding with
// Keep, and of decoding alone, on two cores that others used too:
//
//	              kept        plain       objects        decode + Keep
//	protobuf       6.3 KB     20.0 KB    29 of 228      35 of  22 us    1.6
//	  alike        1.5 KB     20.0 KB     8 of 228      29 of  21 us    1.4
//	JSON           6.3 KB     20.0 KB    29 of 226     149 of 134 us    1.1
//	unstructured  12.5 KB     58.3 KB   129 of 974     186 of 136 us    1.4
//	  alike        3.1 KB     58.3 KB    33 of 974     172 of 128 us    1.35
//
//	go test -run - -bench Bytes -benchtime 1x ./objects/interned
//	go test -run - -bench Keep -benchtime 15000x ./objects/interned
//
// # Designs that lost
//
// Sharing strings alone keeps 15.7 of 20.0 KB (unstructured: 48.1 of 58.3 KB) in as much time.
// Pooling all parts at the first sight keeps 8% more bytes (unstructured: 9%), with 17 entries a
// pod (43) instead of 0.7 (1.3), beside 32 bytes for each that are not in the Go heap. If versions
// of an object count as others, 15,000 updates of 5,000 unlike pods fill the pool with 25,000
// entries instead of none. Without guesses, decoding with Keep takes 1.87 times the decoding
// instead of 1.7 (alike: 1.7 instead of 1.4). Keys of maps took 7 us of an unstructured pod in the
// pool, and take 2 us in a table of their own. Strong pointers save 4 us, but something must then
// drop parts that are in use, and what was dropped is written to when its object is kept again.
package interned
