package indexing

import "slices"

// Bucket holds the objects that have one value in one index; the zero value is no bucket.
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

// Places is all places of one object. A store that keeps Places need not compute an
// object's former index values again. Most objects have one value in each of two indexes,
// and cost no allocation. The store's lock guards it.
type Places[B Bucket] struct {
	first [2]Place[B] // a place without a bucket is free
	more  *further[B] // the places after the first two; nil: none
}

// further is the places of an object beyond the first.
type further[B Bucket] struct {
	list []Place[B]
	at   map[B]int // positions in list; made by the first call of in on a list longer than Few
}

func (f *further[B]) in(bucket B) *Place[B] {
	if len(f.list) <= Few {
		return &f.list[slices.IndexFunc(f.list, func(place Place[B]) bool {
			return place.Bucket == bucket
		})]
	}
	if f.at == nil {
		f.at = make(map[B]int, len(f.list))
		for i, place := range f.list {
			f.at[place.Bucket] = i
		}
	}
	return &f.list[f.at[bucket]]
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
		room = append(room, p.more.list...)
	}
	return room
}

// Set replaces all places by a copy of places.
func (p *Places[B]) Set(places []Place[B]) {
	n := copy(p.first[:], places)
	clear(p.first[n:])
	p.more = nil
	if n < len(places) {
		p.more = &further[B]{list: slices.Clone(places[n:])}
	}
}

// In returns the place in a bucket; the object must be in it. O(1), except for the first
// call after the places have changed, which is O(places).
func (p *Places[B]) In(bucket B) *Place[B] {
	for i := range p.first {
		if p.first[i].Bucket == bucket {
			return &p.first[i]
		}
	}
	return p.more.in(bucket)
}

// Leave calls leave for all places. It does not forget them: the object is deleted anyway.
func (p *Places[B]) Leave(leave func(Place[B])) {
	var room [stackPlaces]Place[B]
	for _, place := range p.Append(room[:0]) {
		leave(place)
	}
}

// Move brings the object into the buckets of values, a list for every index with each
// value once. It calls leave for places in buckets of other values, renew where the object
// stays, and enter for each new value. O(values), former and new.
func (p *Places[B]) Move(values Values, renew, leave func(Place[B]),
	enter func(index int, value string) Place[B]) {
	var room [stackPlaces]Place[B]
	former := p.Append(room[:0])
	wanted := values.Count()
	if max(wanted, len(former)) > Few {
		p.moveMany(former, values, renew, leave, enter)
		return
	}
	stays := former[:0]
	for _, place := range former {
		if index, value := place.Bucket.Of(); slices.Contains(values.List(index), value) {
			renew(place)
			stays = append(stays, place)
		} else {
			leave(place)
		}
	}
	if wanted == len(stays) && wanted == len(former) { // none came or went
		return
	}
	for index := range values.Len() {
		for _, value := range values.List(index) {
			if !slices.ContainsFunc(stays, func(place Place[B]) bool { return place.isOf(index, value) }) {
				stays = append(stays, enter(index, value))
			}
		}
	}
	p.Set(stays)
}

// moveMany is Move for an object of more than Few values.
func (p *Places[B]) moveMany(former []Place[B], values Values, renew, leave func(Place[B]),
	enter func(index int, value string) Place[B]) {
	wanted := NewWanted(values)
	stays := former[:0]
	for _, place := range former {
		if wanted.Take(place.Bucket.Of()) {
			renew(place)
			stays = append(stays, place)
		} else {
			leave(place)
		}
	}
	if len(wanted) == 0 && len(stays) == len(former) { // none came or went
		return
	}
	for index := range values.Len() {
		for _, value := range values.List(index) {
			if wanted.Take(index, value) {
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
