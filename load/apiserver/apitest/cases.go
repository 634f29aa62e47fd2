package apitest

// Where widgets are, and the one called w.
const (
	widgets = "namespaces/$ns/widgets"
	one     = widgets + "/w"
)

func widget(metadata, more string) string {
	return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{` + metadata + `}` + more + `}`
}

// w is the widget called w.
func w(metadata string) string { return widget(`"name":"w"`+metadata, "") }

const (
	merge     = "application/merge-patch+json"
	jsonPatch = "application/json-patch+json"
)

// Cases are the questions.
func Cases() []Case {
	create := Step{Do: "POST " + widgets, Body: w(""), Code: 201}
	gone := Step{Do: "GET " + one, Code: 404}
	return []Case{
		{"the count of a page", []Step{
			create,
			{Do: "POST " + widgets, Body: widget(`"name":"x"`, ""), Code: 201},
			{Do: "POST " + widgets, Body: widget(`"name":"y"`, ""), Code: 201},
			{Do: "GET " + widgets + "?limit=1", Code: 200, Has: []string{`"remainingItemCount":2`, `"continue":"`}},
			{Do: "GET " + widgets + "?limit=1&labelSelector=!a", Code: 200, Not: []string{"remainingItemCount"}, Has: []string{`"continue":"`}},
			{Do: "GET " + widgets + "?limit=1&fieldSelector=metadata.name!=a", Code: 200, Not: []string{"remainingItemCount"}, Has: []string{`"continue":"`}},
			{Do: "GET widgets?limit=1&fieldSelector=metadata.namespace=$ns", Code: 200, Not: []string{"remainingItemCount"}, Has: []string{`"continue":"`}},
			{Do: "GET " + widgets + "?limit=3", Code: 200, Not: []string{"remainingItemCount"}},
		}},
		{"the version of an update", []Step{
			{Do: "PUT " + one, Body: w(`,"resourceVersion":"1"`), Code: 404},
			create,
			{Do: "PUT " + one, Body: w(""), Code: 422, Has: []string{"must be specified for an update", "metadata.resourceVersion"}},
			{Do: "PUT " + one, Body: w(`,"resourceVersion":"0"`), Code: 422},
			{Do: "PUT " + one + "/status", Body: w(""), Code: 422},
			{Do: "PATCH " + one, Type: merge, Body: `{"metadata":{"resourceVersion":null,"labels":{"a":"b"}}}`, Code: 422},
			{Do: "PATCH " + one, Type: merge, Body: `{"metadata":{"labels":{"a":"b"}}}`, Code: 200},
			{Do: "PUT " + one, Body: w(`,"resourceVersion":"1"`), Code: 409},
			{Do: "PATCH " + one, Type: merge, Body: `{"metadata":{"resourceVersion":"1"}}`, Code: 409},
			{Do: "PUT " + one, Body: w(`,"resourceVersion":"$rv","uid":"other"`), Code: 409},
			{Do: "PUT " + one, Body: w(`,"resourceVersion":"$rv","uid":"$uid"`), Code: 200, Not: []string{`"labels"`}},
			{Do: "PUT " + one + "?dryRun=All", Body: w(`,"resourceVersion":"$rv","labels":{"c":"d"}`), Code: 200, Has: []string{`"c":"d"`}},
			{Do: "GET " + one, Code: 200, Not: []string{`"c":"d"`}},
		}},
		{"finalizers", []Step{
			{Do: "POST " + widgets, Body: w(`,"finalizers":["example.com/a","example.com/b"]`), Code: 201},
			{Do: "DELETE " + one + "?dryRun=All", Code: 200, Has: []string{`"kind":"Widget"`, "deletionTimestamp"}},
			{Do: "GET " + one, Code: 200, Not: []string{"deletionTimestamp"}},
			{Do: "PATCH " + one, Type: merge, Body: `{"metadata":{"finalizers":["example.com/a","example.com/b","example.com/c"]}}`, Code: 200},
			{Do: "DELETE " + one, Code: 200, Has: []string{`"kind":"Widget"`, "deletionTimestamp", `"deletionGracePeriodSeconds":0`}},
			{Do: "DELETE " + one, Code: 200, Has: []string{`"kind":"Widget"`, "deletionTimestamp"}},
			{Do: "DELETE " + one, Body: `{"apiVersion":"v1","kind":"DeleteOptions","orphanDependents":false}`, Code: 202, Has: []string{`"kind":"Widget"`}},
			{Do: "PATCH " + one, Type: merge, Body: `{"metadata":{"finalizers":["example.com/a","example.com/d"]}}`, Code: 422, Has: []string{"no new finalizers can be added", "example.com/d"}},
			{Do: "PUT " + one, Body: w(`,"resourceVersion":"$rv","finalizers":["example.com/d"]`), Code: 422},
			{Do: "PATCH " + one, Type: merge, Body: `{"metadata":{"finalizers":["example.com/b"]}}`, Code: 200, Has: []string{"deletionTimestamp"}},
			{Do: "PATCH " + one, Type: merge, Body: `{"metadata":{"finalizers":null}}`, Code: 200, Has: []string{`"kind":"Widget"`}},
			gone,
		}},
		{"a deletion", []Step{
			create,
			{Do: "DELETE " + one, Body: `{"preconditions":{"uid":"other"}}`, Code: 409},
			{Do: "DELETE " + one, Body: `{"preconditions":{"resourceVersion":"1"}}`, Code: 409},
			{Do: "DELETE " + one + "?dryRun=All", Code: 200, Has: []string{`"status":"Success"`}},
			{Do: "DELETE " + one, Code: 200, Has: []string{`"kind":"Status"`, `"status":"Success"`, `"uid":"$uid"`, `"kind":"widgets"`}},
			{Do: "DELETE " + one, Code: 404},
			create,
			// The query of a request with a body counts for nothing.
			{Do: "DELETE " + one + "?dryRun=All", Body: `{"apiVersion":"v1","kind":"DeleteOptions"}`, Code: 200},
			gone,
		}},
		{"the options of a deletion", []Step{
			create,
			{Do: "DELETE " + one + "?dryRun=Some", Code: 422, Has: []string{"DeleteOptions.meta.k8s.io", "dryRun"}},
			{Do: "DELETE " + one, Body: `{"dryRun":["Some"]}`, Code: 422},
			{Do: "DELETE " + one, Body: `{"propagationPolicy":"Sideways"}`, Code: 422, Has: []string{"propagationPolicy"}},
			{Do: "DELETE " + one, Body: `{"propagationPolicy":"Background","orphanDependents":true}`, Code: 422},
			{Do: "DELETE " + one, Body: `x`, Code: 400},
			{Do: "DELETE " + one, Body: `{}`, Type: "text/plain", Code: 415},
			{Do: "DELETE " + widgets + "?dryRun=Some", Code: 422},
			{Do: "GET " + one, Code: 200},
			{Do: "DELETE " + widgets, Code: 200, Has: []string{`"kind":"WidgetList"`}},
			gone,
		}},
		{"the options of a watch", []Step{
			create,
			{Do: "GET " + widgets + "?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", Code: 200, Has: []string{`"type":"ADDED"`}, Not: []string{"BOOKMARK"}},
			{Do: "GET " + widgets + "?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", Code: 200, Has: []string{`"type":"ADDED"`, "k8s.io/initial-events-end"}},
			{Do: "GET " + widgets + "?watch=1&timeoutSeconds=1", Code: 200, Has: []string{`"type":"ADDED"`}},
			{Do: "GET " + widgets + "?watch=1&timeoutSeconds=1&sendInitialEvents=true", Code: 422, Has: []string{"resourceVersionMatch"}},
			{Do: "GET " + widgets + "?watch=1&timeoutSeconds=1&resourceVersionMatch=NotOlderThan", Code: 422, Has: []string{"sendInitialEvents"}},
			{Do: "GET " + widgets + "?watch=1&timeoutSeconds=1&continue=x", Code: 422, Has: []string{"continue"}},
			{Do: "GET " + widgets + "?watch=1&timeoutSeconds=1&continue=x&resourceVersion=0", Code: 422},
			{Do: "GET " + widgets + "?watch=1&timeoutSeconds=1&continue=x&resourceVersion=$rv", Code: 200, Not: []string{"ADDED"}},
			{Do: "GET " + widgets + "?watch=1&timeoutSeconds=x", Code: 400},
			{Do: "GET " + widgets + "?watch=1&timeoutSeconds=1&resourceVersion=x", Code: 400},
		}},
		{"the options of a list", []Step{
			{Do: "GET " + widgets + "?sendInitialEvents=true", Code: 422},
			{Do: "GET " + widgets + "?resourceVersionMatch=Exact", Code: 422},
			{Do: "GET " + widgets + "?resourceVersionMatch=Exact&resourceVersion=0", Code: 422},
			{Do: "GET " + widgets + "?resourceVersionMatch=Never&resourceVersion=1", Code: 422},
			{Do: "GET " + widgets + "?continue=x", Code: 400},
			{Do: "GET " + widgets + "?limit=many", Code: 400},
			{Do: "GET " + widgets + "?resourceVersion=x", Code: 400},
			{Do: "GET " + widgets + "?labelSelector=!!", Code: 400},
			{Do: "GET " + widgets + "?fieldSelector=x", Code: 400},
			{Do: "GET " + widgets + "?fieldSelector=spec.size=1", Code: 400, Has: []string{"field label not supported"}},
		}},
		{"the options of a write", []Step{
			{Do: "POST " + widgets + "?dryRun=Some", Body: w(""), Code: 422, Has: []string{"CreateOptions.meta.k8s.io", "dryRun"}},
			{Do: "POST " + widgets + "?fieldValidation=Loud", Body: w(""), Code: 422, Has: []string{"fieldValidation"}},
			{Do: "POST " + widgets + "?fieldManager=%07", Body: w(""), Code: 422, Has: []string{"fieldManager"}},
			{Do: "POST " + widgets + "?dryRun=All", Body: w(""), Code: 201},
			gone,
			create,
			{Do: "PUT " + one + "?dryRun=Some", Body: w(`,"resourceVersion":"$rv"`), Code: 422, Has: []string{"UpdateOptions.meta.k8s.io"}},
			{Do: "PUT " + one + "?fieldValidation=Loud", Body: w(`,"resourceVersion":"$rv"`), Code: 422},
			{Do: "PATCH " + one + "?dryRun=Some", Type: merge, Body: `{}`, Code: 422, Has: []string{"PatchOptions.meta.k8s.io"}},
			{Do: "PATCH " + one + "?fieldValidation=Loud", Type: merge, Body: `{}`, Code: 422},
			{Do: "PATCH " + one + "?force=true", Type: merge, Body: `{}`, Code: 422, Has: []string{"force"}},
			{Do: "PATCH " + one + "?force=true", Type: jsonPatch, Body: `[]`, Code: 422},
			{Do: "PATCH " + one + "?force=often", Type: merge, Body: `{}`, Code: 400, Ours: 422, Why: "to the decoder any value but 0 and false is true"},
		}},
		{"the kind in the body", []Step{
			{Do: "POST " + widgets, Body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"w"}}`, Code: 422, Has: []string{"must be Widget"}},
			{Do: "POST " + widgets, Body: `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"w"}}`, Code: 400, Has: []string{"does not match the expected API version"}},
			{Do: "POST " + widgets, Body: `{"apiVersion":"other.com/v1","kind":"Widget","metadata":{"name":"w"}}`, Code: 400},
			{Do: "POST " + widgets, Body: `{"kind":"Widget","metadata":{"name":"w"}}`, Code: 400},
			{Do: "POST " + widgets, Body: `{"apiVersion":"example.com/v1","metadata":{"name":"w"}}`, Code: 400},
			{Do: "POST " + widgets, Body: `{}`, Code: 400},
			{Do: "POST " + widgets, Body: `[]`, Code: 400},
			{Do: "POST " + widgets, Body: ``, Code: 400},
			create,
			{Do: "PUT " + one, Body: `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"w","resourceVersion":"$rv"}}`, Code: 422},
			{Do: "PUT " + one, Body: `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"w","resourceVersion":"$rv"}}`, Code: 400},
			{Do: "PATCH " + one, Type: merge, Body: `{"kind":"Gadget"}`, Code: 422},
			{Do: "PATCH " + one, Type: merge, Body: `{"apiVersion":"example.com/v2"}`, Code: 400},
		}},
		{"a field twice", []Step{
			{Do: "POST " + widgets + "?fieldValidation=Strict", Body: w(`,"name":"w"`), Code: 400, Has: []string{"duplicate field"}},
			{Do: "POST " + widgets + "?fieldValidation=Warn", Body: w(`,"name":"w"`), Code: 201},
			{Do: "DELETE " + one, Code: 200},
			{Do: "POST " + widgets + "?fieldValidation=Ignore", Body: w(`,"name":"w"`), Code: 201},
		}},
		{"names", []Step{
			{Do: "POST " + widgets, Body: widget(``, ""), Code: 422, Has: []string{"name or generateName is required"}},
			{Do: "POST " + widgets, Body: widget(`"name":"W"`, ""), Code: 422, Has: []string{"RFC 1123 subdomain"}},
			{Do: "POST " + widgets, Body: widget(`"name":".."`, ""), Code: 422},
			{Do: "POST " + widgets, Body: widget(`"name":"a/b"`, ""), Code: 422},
			{Do: "POST " + widgets, Body: widget(`"name":"a%b"`, ""), Code: 422},
			{Do: "POST " + widgets, Body: widget(`"generateName":"a/"`, ""), Code: 422},
			{Do: "POST " + widgets, Body: widget(`"generateName":"a-"`, ""), Code: 201, Has: []string{`"name":"a-`}},
			{Do: "POST " + widgets, Body: w(`,"namespace":"other"`), Code: 400, Has: []string{"namespace"}},
			{Do: "POST namespaces/A_B/widgets", Body: w(""), Code: 422, Has: []string{"RFC 1123 label"}},
			{Do: "POST namespaces/%2e%2e/widgets", Body: w(""), Code: 422},
			{Do: "POST namespaces/a%25b/widgets", Body: w(""), Code: 422},
			{Do: "GET namespaces/A_B/widgets", Code: 200},
			{Do: "GET namespaces/A_B/widgets/w", Code: 404},
			{Do: "GET namespaces/%2e%2e/widgets", Code: 400},
			{Do: "GET namespaces/%2e/widgets", Code: 400},
			{Do: "GET namespaces/%2e%2e/widgets?watch=1&timeoutSeconds=1", Code: 400},
			{Do: "GET namespaces/%2e%2e/widgets/w", Code: 400},
			{Do: "DELETE namespaces/%2e%2e/widgets", Code: 400},
			{Do: "GET " + widgets + "/%2e%2e", Code: 400, Has: []string{"may not be"}},
			{Do: "GET " + widgets + "/%2e", Code: 400},
			{Do: "GET " + widgets + "/a%25b", Code: 400, Has: []string{"may not contain"}},
			{Do: "DELETE " + widgets + "/%2e%2e", Code: 400},
			{Do: "PATCH " + widgets + "/%2e%2e", Type: merge, Body: `{}`, Code: 400},
			{Do: "PUT " + widgets + "/%2e%2e", Body: widget(`"name":"..","resourceVersion":"1"`, ""), Code: 400},
			create,
			create.twice(),
			{Do: "PUT " + one, Body: widget(`"name":"x","resourceVersion":"$rv"`, ""), Code: 400, Has: []string{"does not match the name on the URL"}},
			{Do: "PATCH " + one, Type: merge, Body: `{"metadata":{"name":"x"}}`, Code: 400},
			{Do: "PATCH " + one, Type: merge, Body: `{"metadata":{"namespace":"x"}}`, Code: 400},
		}},
		{"metadata", []Step{
			{Do: "POST " + widgets, Body: w(`,"labels":{"a b":"c"}`), Code: 422, Has: []string{"metadata.labels"}},
			{Do: "POST " + widgets, Body: w(`,"labels":{"a":"b c"}`), Code: 422},
			{Do: "POST " + widgets, Body: w(`,"annotations":{"a b":"c"}`), Code: 422},
			{Do: "POST " + widgets, Body: w(`,"finalizers":["a b"]`), Code: 422},
			{Do: "POST " + widgets, Body: w(`,"ownerReferences":[{"kind":"A"}]`), Code: 422},
			{Do: "POST " + widgets, Body: w(`,"uid":"mine","creationTimestamp":"2001-01-01T00:00:00Z","deletionTimestamp":"2001-01-01T00:00:00Z","deletionGracePeriodSeconds":5`), Code: 201,
				Not: []string{"mine", "2001", "deletion"}},
			{Do: "PATCH " + one, Type: merge, Body: `{"metadata":{"labels":{"a":"b c"}}}`, Code: 422},
			{Do: "PATCH " + one, Type: merge, Body: `{"metadata":{"creationTimestamp":"2001-01-01T00:00:00Z"}}`, Code: 200, Not: []string{"2001"}},
			{Do: "PATCH " + one + "/status", Type: merge, Body: `{"metadata":{"labels":{"a":"b"}},"status":{"c":"d"}}`, Code: 200, Has: []string{`"c":"d"`}, Not: []string{"labels"}},
			{Do: "POST " + widgets, Body: widget(`"name":"v","resourceVersion":"7"`, ""), Code: 500, Ours: 400, Why: "the fault is the client's"},
			{Do: "PUT " + one, Body: w(`,"resourceVersion":"x"`), Code: 500, Ours: 409, Why: "no version that there is"},
		}},
		{"patches", []Step{
			create,
			{Do: "PATCH " + one, Type: merge, Body: `[]`, Code: 400},
			{Do: "PATCH " + one, Type: merge, Body: `{`, Code: 400},
			{Do: "PATCH " + one, Type: jsonPatch, Body: `{}`, Code: 400},
			{Do: "PATCH " + one, Type: jsonPatch, Body: `[{"op":"test","path":"/kind","value":"x"}]`, Code: 422},
			{Do: "PATCH " + one, Type: jsonPatch, Body: `[{"op":"remove","path":"/nope"}]`, Code: 422},
			{Do: "PATCH " + one, Type: "application/strategic-merge-patch+json", Body: `{}`, Code: 415},
			{Do: "PATCH " + one, Body: `{}`, Code: 415},
			{Do: "PATCH " + one, Type: "none", Body: `{}`, Code: 415},
			{Do: "PATCH " + one + "?fieldManager=m", Type: "application/apply-patch+yaml", Body: w(""), Code: 200, Ours: 415, Why: "server-side apply is not served"},
			{Do: "PATCH " + widgets + "/none", Type: merge, Body: `{}`, Code: 404},
		}},
		{"the type of the body", []Step{
			{Do: "POST " + widgets, Type: "text/plain", Body: w(""), Code: 415},
			{Do: "POST " + widgets, Type: "application/x-www-form-urlencoded", Body: w(""), Code: 415},
			{Do: "POST " + widgets, Type: "application/vnd.kubernetes.protobuf", Body: "x", Code: 415},
			{Do: "POST " + widgets, Type: "none", Body: w(""), Code: 201, Ours: 415, Why: "a browser sends that for any page"},
			{Do: "POST " + widgets, Type: "application/yaml", Body: "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: yaml}\n", Code: 201},
			{Do: "POST " + widgets, Type: "application/json; charset=utf-8", Body: widget(`"name":"z"`, ""), Code: 201},
		}},
		{"HEAD", []Step{
			{Do: "HEAD " + one, Code: 404},
			create,
			{Do: "HEAD " + one, Code: 200},
			{Do: "HEAD " + widgets, Code: 200},
			{Do: "HEAD " + one + "/status", Code: 200},
		}},
		{"selectable fields", []Step{
			{Do: "POST " + widgets, Body: widget(`"name":"r"`, `,"spec":{"color":"red"}`), Code: 201},
			{Do: "POST " + widgets, Body: widget(`"name":"g"`, `,"spec":{"color":"green"}`), Code: 201},
			{Do: "POST " + widgets, Body: widget(`"name":"n"`, ``), Code: 201},
			{Do: "GET " + widgets + "?fieldSelector=spec.color=red", Code: 200, Has: []string{`"name":"r"`}, Not: []string{`"name":"g"`, `"name":"n"`}},
			{Do: "GET " + widgets + "?fieldSelector=spec.color!=red", Code: 200, Has: []string{`"name":"g"`, `"name":"n"`}, Not: []string{`"name":"r"`}},
			{Do: "GET " + widgets + "?fieldSelector=spec.color=", Code: 200, Has: []string{`"name":"n"`}, Not: []string{`"name":"r"`, `"name":"g"`}},
			{Do: "GET " + widgets + "?watch=1&timeoutSeconds=1&fieldSelector=spec.color=green", Code: 200, Has: []string{`"name":"g"`}, Not: []string{`"name":"r"`}},
		}},
		{"paths", []Step{
			{Do: "POST widgets", Body: w(""), Code: 404},
			{Do: "DELETE widgets", Code: 404},
			{Do: "GET widgets/w", Code: 404},
			{Do: "PUT " + widgets, Body: w(""), Code: 400, Has: []string{"name must be provided"}},
			{Do: "PATCH " + widgets, Type: merge, Body: `{}`, Code: 400, Has: []string{"name must be provided"}},
			{Do: "OPTIONS " + widgets, Code: 405},
			create,
			{Do: "GET " + one + "/log", Code: 404},
			{Do: "GET " + one + "/scale", Code: 404},
			{Do: "POST " + one + "/status", Body: w(""), Code: 405},
			{Do: "DELETE " + one + "/status", Code: 405},
			{Do: "GET namespaces/$ns/gadgets", Code: 404},
		}},
		{"without namespaces", []Step{
			{Do: "POST galaxies", Body: `{"apiVersion":"example.com/v1","kind":"Galaxy","metadata":{"name":"$ns","namespace":"a"}}`, Code: 201, Not: []string{`"namespace"`}},
			{Do: "GET galaxies?fieldSelector=metadata.name=$ns", Code: 200, Has: []string{`"name":"$ns"`}},
			{Do: "GET galaxies?fieldSelector=metadata.namespace=a", Code: 400, Has: []string{"field label not supported"}},
			{Do: "GET namespaces/a/galaxies", Code: 404},
			{Do: "DELETE galaxies/$ns", Code: 200},
		}},
	}
}

// twice is a create of what there is.
func (s Step) twice() Step {
	s.Code = 409
	return s
}
