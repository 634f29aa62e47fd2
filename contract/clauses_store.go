package contract

var storeClauses = []Clause{}
