package contract

var limiterClauses = []Clause{}
