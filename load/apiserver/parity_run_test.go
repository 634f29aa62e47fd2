package apiserver

// Requests that clients send for custom resources, and requests that they should not send, with
// a real server's answers.
//
// The answers are those of apiextensions-apiserver v0.37.2, found by running the table there.
// Where serve-api differs on purpose, the table says how and why. One table therefore tests both:
// serve-api here, and a real server where PARITY_KUBECONFIG leads to one (e2e's TestParity).

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// parityServer is the server under test.
type parityServer struct {
	Client *http.Client // trusts and authenticates; nil for http.DefaultClient
	URL    string       // such as http://127.0.0.1:8080
	Real   bool         // it is a real API server rather than serve-api
}

// parityStep is a request and a real server's answer.
type parityStep struct {
	// Do is the method and the path below /apis/example.com/v1/. $ns stands for a namespace
	// of this case alone; $rv and $uid for those of the object answered last.
	Do   string
	Type string // of the body; JSON if "", none at all if "none"
	Body string // with $ns, $rv and $uid too
	Code int
	Has  []string // texts that the answer contains
	Not  []string // texts that it does not contain
	// Ours is the code of serve-api where it differs, and Why the reason.
	Ours int
	Why  string
}

// parityCase is a sequence of requests.
type parityCase struct {
	Name  string
	Steps []parityStep
}

// perStep is how long a request may take; watches in the table end after a second.
const perStep = time.Minute

// runParity sends the requests of parityCases, each case as a subtest.
func runParity(t *testing.T, s parityServer) {
	if s.Client == nil {
		s.Client = http.DefaultClient
	}
	client := *s.Client
	client.Timeout = perStep
	s.Client = &client
	for _, c := range parityCases() {
		t.Run(strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			vars := map[string]string{
				"$ns": "apitest-" + strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(c.Name))}
			for i, step := range c.Steps {
				if err := s.ask(step, vars); err != nil {
					t.Errorf("step %d: %s %.200s: %v", i, expand(step.Do, vars), expand(step.Body, vars), err)
				}
			}
		})
	}
}

// ask sends the request of a step; the error says how the answer differs.
func (s parityServer) ask(step parityStep, vars map[string]string) error {
	method, path, _ := strings.Cut(expand(step.Do, vars), " ")
	req, err := http.NewRequest(method, s.URL+"/apis/example.com/v1/"+path,
		strings.NewReader(expand(step.Body, vars)))
	if err != nil {
		return err
	}
	switch step.Type {
	case "":
		req.Header.Set("Content-Type", "application/json")
	case "none":
	default:
		req.Header.Set("Content-Type", step.Type)
	}
	res, err := s.Client.Do(req)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // the body was read to its end, or err says why not
	if err != nil {
		return err
	}
	remember(body, vars)
	want, has, not := step.Code, step.Has, step.Not
	if step.Ours != 0 && !s.Real {
		want, has, not = step.Ours, nil, nil
	}
	if res.StatusCode != want {
		return fmt.Errorf("answered %d, want %d: %.400s", res.StatusCode, want, body)
	}
	for _, text := range has {
		if !strings.Contains(string(body), expand(text, vars)) {
			return fmt.Errorf("the answer does not say %s: %.1000s", text, body)
		}
	}
	for _, text := range not {
		if strings.Contains(string(body), expand(text, vars)) {
			return fmt.Errorf("the answer says %s: %.1000s", text, body)
		}
	}
	return nil
}

func expand(text string, vars map[string]string) string {
	for name, value := range vars {
		text = strings.ReplaceAll(text, name, value)
	}
	return text
}

// remember takes version and UID from an answer that is an object.
func remember(body []byte, vars map[string]string) {
	var obj struct {
		Kind     string
		Metadata struct{ ResourceVersion, UID string }
	}
	if json.Unmarshal(body, &obj) == nil && obj.Metadata.UID != "" {
		vars["$rv"], vars["$uid"] = obj.Metadata.ResourceVersion, obj.Metadata.UID
	}
}

// parityDefinitions are the CustomResourceDefinitions of the resources in parityCases: widgets,
// which
// are namespaced, and galaxies, which are not.
func parityDefinitions() []string {
	const schema = `{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true,` +
		`"properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"color":{"type":"string"}}}}}}`
	definition := func(scope, kind, plural string) string {
		return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"%[3]s.example.com"},
"spec":{"group":"example.com","scope":%[1]q,"names":{"kind":%[2]q,"plural":%[3]q,"singular":%[4]q,"listKind":"%[2]sList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":%[5]s,"subresources":{"status":{}},
"selectableFields":[{"jsonPath":".spec.color"}]}]}}`, scope, kind, plural, strings.ToLower(kind),
			schema)
	}
	return []string{definition("Namespaced", "Widget", "widgets"),
		definition("Cluster", "Galaxy", "galaxies")}
}
