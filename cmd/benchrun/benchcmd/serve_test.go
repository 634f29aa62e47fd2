package benchcmd

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// TestServe is a user's way: serve, open the printed address, Ctrl-C.
func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := record.CreateJournal(filepath.Join(dir, "a-run"),
		recordtest.Run(recordtest.Spec{Forks: 3,
			Impls: []recordtest.Impl{{Name: "clientgo", NsPerOp: 100}, {Name: "lockfree", NsPerOp: 50}}}))
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r, w := io.Pipe()
	code := make(chan int, 1)
	var errOut strings.Builder
	go func() {
		code <- execute(ctx, []string{"serve", dir, "--addr", "localhost:0"}, strings.NewReader(""), w,
			&errOut)
		_ = w.Close()
	}()
	line := make([]byte, 1024)
	n, err := r.Read(line)
	if err != nil {
		t.Fatalf("%v: %s", err, errOut.String())
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	url := regexp.MustCompile(`http://[^ ;]+`).FindString(string(line[:n]))
	if !strings.Contains(string(line[:n]), "Ctrl-C ends this") || url == "" {
		t.Fatalf("it printed %q, want an address and how to end it", line[:n])
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(res.Body)
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(page), "a-run") {
		t.Errorf("%s, %v; want the run: %s", res.Status, err, page)
	}
	interrupt()
	if got := <-code; got != 0 || errOut.Len() > 0 {
		t.Errorf("exit code %d after Ctrl-C, want 0: %s", got, errOut.String())
	}
}

func TestServeRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{dir, "--addr", "0.0.0.0:0"},
			"--addr: address \"0.0.0.0:0\" is not on the loopback interface"},
		{[]string{dir, "--addr", "localhost"}, "use HOST:PORT"},
		{[]string{dir, "--max-requests-inflight", "-1"}, "use 1 or more, or 0 for no limit"},
		{[]string{filepath.Join(dir, "nothing")}, "make a run first"},
		{[]string{dir, dir}, "wants at most one folder DIR of runs (default results), and got 2"},
	} {
		var errOut strings.Builder
		if code := execute(t.Context(), append([]string{"serve"}, c.args...), strings.NewReader(""),
			io.Discard, &errOut); code != exitBadInput || !strings.Contains(errOut.String(), c.want) {
			t.Errorf("%q: exit code %d, want 2 and a word about %q: %s", c.args, code, c.want,
				errOut.String())
		}
	}
}
