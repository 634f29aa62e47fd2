package suggest

import (
	"slices"
	"testing"
)

func TestOrAll(t *testing.T) {
	t.Parallel()
	have := []string{"quick", "lock-starvation", "stores", "stores-scaling", "informer"}
	for name, want := range map[string]string{
		"lock-starvaton": "did you mean lock-starvation?",
		"LOCK":           "did you mean lock-starvation?",
		"store":          "did you mean stores or stores-scaling?",
		"informers":      "did you mean informer?",
		"zebra":          "have quick, lock-starvation, stores, stores-scaling, informer",
		"":               "have quick, lock-starvation, stores, stores-scaling, informer",
	} {
		if got := OrAll(name, have); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"kitten", "sitting", 3}, {"pods", "pod", 1}, {"ab", "ba", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if got := DidYouMean(slices.Repeat([]string{"b", "a"}, 2)); got != "did you mean a or b?" {
		t.Error(got)
	}
}
