package benchcmd

import (
	"strings"
	"testing"
)

// The shell is offered values for flags, also after a comma.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
		not  string
	}{
		{[]string{"run", "--preset", ""}, []string{"quick", "lock-starvation"}, "clientgo"},
		{[]string{"run", "--preset", "stores,lock"}, []string{"stores,lock-starvation"}, ""},
		{[]string{"run", "--component", ""}, []string{"store", "informer"}, "quick"},
		{[]string{"pair", "--component", "delay", "--impl", ""}, []string{"quadheap"}, "lockfree"},
		{[]string{"verify", "--impl", "clientgo,"}, []string{"clientgo,lockfree", "clientgo,quadheap"},
			""},
		{[]string{"verify", "--clause", "STORE-4"}, []string{"STORE-4\t", "STORE-49\t"}, ""},
		{[]string{"list", "--component", "f"}, []string{"fifo"}, ""},
	} {
		code, out, errOut := benchrun(t, append([]string{"__complete"}, c.args...)...)
		for _, want := range c.want {
			if code != 0 || !strings.Contains("\n"+out, "\n"+want) {
				t.Errorf("%q lacks %q: exit code %d\n%s%s", c.args, want, code, out, errOut)
			}
		}
		if c.not != "" && strings.Contains("\n"+out, "\n"+c.not) {
			t.Errorf("%q offers %s", c.args, c.not)
		}
	}
}

// A name that is nearly right is answered with the right one, or with those that there are.
func TestUnknownNames(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--preset", "lock-starvaton"}, "have quick, lock-starvation"},
		{[]string{"run", "--impl", "lokfree"}, "lockfree"},
		{[]string{"run", "--component", "stores"}, "have store, "},
		{[]string{"verify", "--impl", "quad"}, "quadheap"},
		{[]string{"compar"}, "did you mean compare?"},
	} {
		if code, _, errOut := benchrun(t, c.args...); code != exitBadInput ||
			!strings.Contains(errOut, c.want) {
			t.Errorf("%q: exit code %d, %s, want %q", c.args, code, errOut, c.want)
		}
	}
}
