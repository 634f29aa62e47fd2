package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// mutations are accidents that may happen to a file. Each returns changed bytes, or nil
// where it does not apply.
var mutations = map[string]func(*rand.Rand, []byte) []byte{
	"bit flip": func(rng *rand.Rand, b []byte) []byte {
		b = bytes.Clone(b)
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		return b
	},
	"truncation": func(rng *rand.Rand, b []byte) []byte { return b[:rng.IntN(len(b))] },
	"lines swapped": func(rng *rand.Rand, b []byte) []byte {
		lines := bytes.Split(b, []byte("\n"))
		i, j := rng.IntN(len(lines)), rng.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		return bytes.Join(lines, []byte("\n"))
	},
	"line duplicated": func(rng *rand.Rand, b []byte) []byte {
		lines := bytes.Split(b, []byte("\n"))
		i := rng.IntN(len(lines))
		return bytes.Join(append(append(append([][]byte{}, lines[:i+1]...), lines[i]), lines[i+1:]...),
			[]byte("\n"))
	},
	"line dropped": func(rng *rand.Rand, b []byte) []byte {
		lines := bytes.Split(b, []byte("\n"))
		i := rng.IntN(len(lines))
		return bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), []byte("\n"))
	},
	"digit changed": func(rng *rand.Rand, b []byte) []byte {
		return replaceOne(rng, b, regexp.MustCompile(`[0-9]`), func(old byte) []byte {
			return []byte{'0' + (old-'0'+1+byte(rng.IntN(9)))%10}
		})
	},
	"digit added": func(rng *rand.Rand, b []byte) []byte {
		return replaceOne(rng, b, regexp.MustCompile(`[1-9]`), func(old byte) []byte {
			return []byte{old, '0' + byte(rng.IntN(10))}
		})
	},
	"field renamed": func(rng *rand.Rand, b []byte) []byte {
		return replaceOne(rng, b, regexp.MustCompile(`[a-z]":`), func(old byte) []byte {
			return []byte{old, 'x'}
		})
	},
	"letter's case": func(rng *rand.Rand, b []byte) []byte {
		return replaceOne(rng, b, regexp.MustCompile(`[a-z]`), func(old byte) []byte {
			return []byte{old - 'a' + 'A'}
		})
	},
	"field added": func(rng *rand.Rand, b []byte) []byte {
		return replaceOne(rng, b, regexp.MustCompile(`\{`), func(old byte) []byte {
			return []byte(`{"speed": 3, `)
		})
	},
}

// replaceOne replaces the first byte of one of the matches.
func replaceOne(rng *rand.Rand, b []byte, what *regexp.Regexp, by func(byte) []byte) []byte {
	at := what.FindAllIndex(b, -1)
	if len(at) == 0 {
		return nil
	}
	i := at[rng.IntN(len(at))][0]
	return append(append(bytes.Clone(b[:i]), by(b[i])...), b[i+1:]...)
}

// After any change to a byte of a file, reading it either fails with the file's name or
// returns the run that was written.
func TestMutatedFilesAreRefused(t *testing.T) {
	t.Parallel()
	const each = 40 // of each kind, in each of the two files
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	complete, _ := written(t)
	interrupted := begun(t, 1)
	forks, err := filepath.Glob(filepath.Join(interrupted, forksDir, "*.json"))
	if err != nil || len(forks) != 1 {
		t.Fatal(forks, err)
	}
	for _, c := range []struct {
		dir, path string
	}{{complete, filepath.Join(complete, RunFile)}, {interrupted, forks[0]}} {
		good, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := ReadRun(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		refused, same := 0, 0
		for kind, mutate := range mutations {
			for range each {
				b := mutate(rng, good)
				if err := os.WriteFile(c.path, b, 0o644); err != nil {
					t.Fatal(err)
				}
				got, err := ReadRun(c.dir)
				switch {
				case err != nil && strings.HasPrefix(err.Error(), c.path+": "):
					refused++
				case err != nil:
					t.Errorf("%s: the error does not name %s: %v", kind, c.path, err)
				case reflect.DeepEqual(got, want):
					same++
				default:
					t.Errorf("%s was read as another run:\n%s", kind, difference(good, b))
				}
			}
		}
		t.Logf("%s: %d refused, %d changed nothing", filepath.Base(c.path), refused, same)
		if refused == 0 {
			t.Error("nothing was refused: the test changes nothing")
		}
	}
}

// difference is the first line in which two texts differ.
func difference(a, b []byte) string {
	as, bs := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("line %d: %.120q\nbecame:  %.120q", i+1, as[i], bs[i])
		}
	}
	return fmt.Sprintf("%d lines became %d", len(as), len(bs))
}

// Older schemas have no checksum. A file of an older schema with a checksum was changed,
// and so was one of this schema without.
func TestChecksumBelongsToTheSchema(t *testing.T) {
	t.Parallel()
	dir, text := written(t)
	path := filepath.Join(dir, RunFile)
	without := sealed.ReplaceAllString(text, "\n}\n")
	for _, c := range []struct{ name, text, want string }{
		{"old schema with a checksum", strings.Replace(text, schemaField, `"schema": 3`, 1),
			"schema 3 has none"},
		{"no checksum", without, "checksum: missing"},
		{"formatted anew", strings.ReplaceAll(text, "\t", "  "), "checksum: missing"},
		{"retired field", string(edited(text, `"ns/op": 41`, `"ns/op": 41}, "rounds": {"x": 1`)),
			`unknown field "forks[1].series[0].rounds"`},
		{"edited", strings.Replace(text, `"ns/op": 41`, `"ns/op": 14`, 1), "checksum: it does not fit"},
		{"unknown field", strings.Replace(without, schemaField, `"schema": 3, "speed": 1`, 1),
			`unknown field "speed"`},
		{"unknown field further in",
			string(edited(text, `"ns/op": 41`, `"ns/op": 41}, "speed": {"x": 1`)),
			`unknown field "forks[1].series[0].speed"`},
		{"field twice", strings.Replace(without, schemaField, `"schema": 3, "name": "q"`, 1),
			`duplicate field "name"`},
		{"metric twice", string(edited(text, `"ns/op": 41`, `"ns/op": 41, "ns/op": 40`)),
			`duplicate field "forks[1].series[0].values.ns/op"`},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadRun(dir); err == nil || !strings.HasPrefix(err.Error(), path+": ") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s and %q", c.name, err, path, c.want)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Replace(without, schemaField, `"schema": 3`, 1)),
		0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRun(dir); err != nil {
		t.Errorf("a run of schema 3: %v", err)
	}
}

// Every run in results/ can be read, whatever its schema.
func TestCommittedRunsAreRead(t *testing.T) {
	t.Parallel()
	runs, err := filepath.Glob("../../results/*/" + PackedFile)
	if err != nil || len(runs) == 0 {
		t.Fatal("no run in results/", err)
	}
	schemas := map[int]int{}
	for _, path := range runs {
		r, err := ReadRun(filepath.Dir(path))
		if err != nil {
			t.Error(err)
			continue
		}
		schemas[r.Schema]++
	}
	t.Logf("runs by schema: %v", schemas)
}

func TestSameNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b int
		same bool
	}{{3, 4, true}, {4, 3, true}, {4, 4, true}, {1, 1, true}, {2, 3, false}, {2, 4, false},
		{1, 2, false}, {4, 5, false}, {4, 6, false}, {6, 6, true}, {7, 8, true}, {8, 7, true},
		{6, 8, false}, {3, 8, false}, {9, 10, true}, {10, 7, true}} {
		if got := SameNumbers(c.a, c.b); got != c.same {
			t.Errorf("SameNumbers(%d, %d) = %v", c.a, c.b, got)
		}
	}
}
