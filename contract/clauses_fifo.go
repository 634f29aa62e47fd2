package contract

var fifoClauses = []Clause{}
