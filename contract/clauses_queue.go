package contract

var queueClauses = []Clause{}
