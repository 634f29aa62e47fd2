package mechanical

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// maxRefusals bounds how often the build is repeated without the refused mutants.
const maxRefusals = 40

// Build rewrites the target's package and builds the judge over it in tmp, a folder of the
// caller. The tree stays unchanged.
func Build(ctx context.Context, root string, target Target, tmp string) (judge string, mutants []Mutant, err error) {
	p, err := Load(root, target.Dir)
	if err != nil {
		return "", nil, err
	}
	overlay := filepath.Join(tmp, "overlay.json")
	spoiled := map[Place]bool{}
	for range maxRefusals {
		in, err := Instrument(p, target.Dir, spoiled)
		if err != nil {
			return "", nil, err
		}
		if err := writeOverlay(overlay, tmp, in.Files); err != nil {
			return "", nil, err
		}
		// -e reports every error, not only the first ten.
		said, err := goBuild(ctx, root, "-overlay", overlay, "-gcflags=-e", module+"/"+target.Dir)
		if err == nil {
			judge = filepath.Join(tmp, "judge")
			if said, err := goBuild(ctx, root, "-overlay", overlay, "-o", judge, "./internal/mechanical/judge"); err != nil {
				return "", nil, fmt.Errorf("building the judge: %w\n%s", err, said)
			}
			return judge, in.Mutants, nil
		}
		if !refused(root, said, originals(tmp, in.Files), spoiled) {
			return "", nil, fmt.Errorf("building %s with its mutants: %w\n%s", target.Dir, err, said)
		}
	}
	return "", nil, fmt.Errorf("%s: the compiler still refuses what is left after %d attempts", target.Dir, maxRefusals)
}

func goBuild(ctx context.Context, root string, args ...string) (said string, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build"}, args...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func writeOverlay(path, tmp string, files map[string][]byte) error {
	replace := map[string]string{}
	for original, text := range files {
		copied := rewritten(tmp, original)
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			return err
		}
		replace[original] = copied
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// rewritten is the path of a file's overlay.
func rewritten(tmp, original string) string {
	return filepath.Join(tmp, "overlay-"+filepath.Base(original))
}

// originals maps overlays to the original files, because the compiler names the overlays.
func originals(tmp string, files map[string][]byte) map[string]string {
	out := map[string]string{}
	for original := range files {
		out[rewritten(tmp, original)] = original
	}
	return out
}

var compileError = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: `)

// refused records the lines with compile errors, and reports whether any is new.
func refused(root, said string, originals map[string]string, spoiled map[Place]bool) (more bool) {
	for _, m := range compileError.FindAllStringSubmatch(said, -1) {
		path := m[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		if original, ok := originals[path]; ok {
			path = original
		}
		line, _ := strconv.Atoi(m[2])
		if place := (Place{path, line}); !spoiled[place] {
			spoiled[place], more = true, true
		}
	}
	return more
}
