package contract

var delayClauses = []Clause{}
