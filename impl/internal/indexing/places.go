package indexing

import "slices"

// Bucket is what a store keeps the objects in that have one value in one index; the
// zero value is no bucket.
type Bucket interface {
	comparable
	// Of returns the number of the index, and the value.
	Of() (index int, value string)
}

// Place is where an object stands in a bucket.
type Place[B Bucket] struct {
	Bucket B
	At     int
}

// Places is all places of one object, for a store in which an object remembers them,
// so that its former index values need not be computed again. Most objects have one
// value in each of two indexes, and cost no allocation. The store's lock guards it.
type Places[B Bucket] struct {
	first [2]Place[B] // those without a bucket are free
	more  *[]Place[B] // the others
}

// stackPlaces is how many places a write handles without allocating.
const stackPlaces = 8

// Append appends the places to room.
func (p *Places[B]) Append(room []Place[B]) []Place[B] {
	var none B
	for _, place := range p.first {
		if place.Bucket != none {
			room = append(room, place)
		}
	}
	if p.more != nil {
		room = append(room, *p.more...)
	}
	return room
}

// Set makes places, which are copied, all that there are.
func (p *Places[B]) Set(places []Place[B]) {
	n := copy(p.first[:], places)
	clear(p.first[n:])
	p.more = nil
	if n < len(places) {
		more := slices.Clone(places[n:])
		p.more = &more
	}
}

// In returns the place in a bucket in which there is one.
func (p *Places[B]) In(bucket B) *Place[B] {
	for i := range p.first {
		if p.first[i].Bucket == bucket {
			return &p.first[i]
		}
	}
	more := *p.more
	return &more[slices.IndexFunc(more, func(place Place[B]) bool { return place.Bucket == bucket })]
}

// Leave leaves all places, which stay remembered: the object is gone with them.
func (p *Places[B]) Leave(leave func(Place[B])) {
	var room [stackPlaces]Place[B]
	for _, place := range p.Append(room[:0]) {
		leave(place)
	}
}

// Move brings the object into the buckets of values, a list for every index with each
// value once: it leaves those of other values, renews where it stays, and enters the
// others. Cost: the values, former and new, against each other.
func (p *Places[B]) Move(values [][]string, renew, leave func(Place[B]), enter func(index int, value string) Place[B]) {
	var room [stackPlaces]Place[B]
	former := p.Append(room[:0])
	stays := former[:0]
	for _, place := range former {
		if index, value := place.Bucket.Of(); slices.Contains(values[index], value) {
			renew(place)
			stays = append(stays, place)
		} else {
			leave(place)
		}
	}
	wanted := 0
	for _, list := range values {
		wanted += len(list)
	}
	if wanted == len(stays) && wanted == len(former) { // none came or went
		return
	}
	for index, list := range values {
		for _, value := range list {
			if !slices.ContainsFunc(stays, func(place Place[B]) bool { return place.isOf(index, value) }) {
				stays = append(stays, enter(index, value))
			}
		}
	}
	p.Set(stays)
}

func (p Place[B]) isOf(index int, value string) bool {
	i, v := p.Bucket.Of()
	return i == index && v == value
}
