// Package interned keeps equal parts of Kubernetes objects once.
//
// Objects that a client decodes have nothing in common in memory, although the pods of a template
// differ in little more than names, addresses and times. [Keeper.Keep] replaces the parts of an
// object - strings, maps, slices, what pointers lead to - by equal ones of earlier objects. It is a
// TransformFunc of client-go's informers and of controller-runtime's cache:
//
//	pods:  cache of 100,000        labels  {app: a}  containers [...]  volumes [...]
//	         pod-1 ----------------------^----------------^----------------^
//	         pod-2 ----------------------|----------------|----------------|
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
// Keep takes time by the size of the object, not by the number of objects: TIMES.
// A Keeper takes 1.3 MB, and about 100 bytes for each part of the pool; dead entries go when as
// many parts again have been added.
//
// Of 20,000 pods, made from 64 templates, with a volume name, container IDs and times that each
// has alone (go test -run - -bench 'Keep|Bytes' -benchtime 1x; see BenchmarkKeep and
// BenchmarkBytes):
//
//	TABLE
//
// # Designs that lost
//
// LOST
package interned
