package measure

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Environment is where a run was made: what must be the same for two runs to be
// compared, and what may taint a number. What the system does not tell is left
// empty.
type Environment struct {
	OS             string `json:"os"`
	Arch           string `json:"arch"`
	Kernel         string `json:"kernel,omitempty"`
	Host           string `json:"host,omitempty"`
	CPU            string `json:"cpu,omitempty"`
	Cores          int    `json:"cores"`
	CacheKB        string `json:"caches,omitempty"` // "L1d 48K, L2 1024K, L3 32768K"
	Governor       string `json:"governor,omitempty"`
	Virtualisation string `json:"virtualisation,omitempty"`
	MemoryMB       uint64 `json:"memoryMB,omitempty"`

	GoVersion  string            `json:"go"`
	BuildFlags map[string]string `json:"buildFlags,omitempty"`
	GOGC       string            `json:"gogc,omitempty"`
	GOMEMLIMIT string            `json:"gomemlimit,omitempty"`
	GODEBUG    string            `json:"godebug,omitempty"`
	Race       bool              `json:"race,omitempty"`
	Modules    map[string]string `json:"modules,omitempty"`  // versions of what is measured
	Revision   string            `json:"revision,omitempty"` // git commit, "+dirty-" and a hash where the tree differs from it

	// LoadBefore and LoadAfter are the one-minute load averages at start and end.
	LoadBefore float64 `json:"loadBefore"`
	LoadAfter  float64 `json:"loadAfter,omitempty"`
	// StealPercent is the share of CPU time that the hypervisor gave to others during the run.
	StealPercent float64 `json:"stealPercent,omitempty"`

	stealBefore, totalBefore float64
}

// MeasuredModules are those whose versions a reader of a report asks for.
var MeasuredModules = []string{"k8s.io/client-go", "k8s.io/apimachinery", "k8s.io/api", "k8s.io/utils", "sigs.k8s.io/controller-runtime"}

// ReadEnvironment describes this machine and this build. dir is a folder in the
// git work tree, or "" if there is none.
func ReadEnvironment(dir string) Environment {
	host, _ := os.Hostname()
	e := Environment{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Host: host, Cores: runtime.NumCPU(),
		GoVersion: runtime.Version(),
		GOGC:      os.Getenv("GOGC"), GOMEMLIMIT: os.Getenv("GOMEMLIMIT"), GODEBUG: os.Getenv("GODEBUG"),
		Race:     raceEnabled,
		Modules:  map[string]string{},
		Revision: revision(dir),
	}
	if bi, ok := debug.ReadBuildInfo(); ok {
		for _, want := range MeasuredModules {
			for _, m := range bi.Deps {
				if m.Path == want {
					e.Modules[want] = m.Version
				}
			}
		}
		for _, s := range bi.Settings {
			if strings.HasPrefix(s.Key, "-") {
				if e.BuildFlags == nil {
					e.BuildFlags = map[string]string{}
				}
				e.BuildFlags[s.Key] = s.Value
			}
		}
	}
	e.Kernel = readTrimmed("/proc/sys/kernel/osrelease")
	e.Governor = readTrimmed("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	e.CacheKB = caches()
	e.readHardware()
	e.LoadBefore = loadAverage()
	e.stealBefore, e.totalBefore = stealAndTotal()
	return e
}

// Resume makes Finish count from here: what the hypervisor took since the
// interrupted run began is not this one's.
func (e *Environment) Resume(here *Environment) {
	e.stealBefore, e.totalBefore = here.stealBefore, here.totalBefore
}

// Finish reads again what changes during a run.
func (e *Environment) Finish() {
	e.LoadAfter = loadAverage()
	if steal, total := stealAndTotal(); total > e.totalBefore {
		e.StealPercent = 100 * (steal - e.stealBefore) / (total - e.totalBefore)
	}
}

// Warnings says what taints the numbers of a run made here.
func (e *Environment) Warnings() []string {
	var w []string
	if e.Race {
		w = append(w, "built with -race: times mean nothing")
	}
	if e.StealPercent > 2 {
		w = append(w, fmt.Sprintf("the hypervisor took %.1f%% of the CPU time", e.StealPercent))
	}
	if e.LoadBefore > 0.5*float64(e.Cores) {
		w = append(w, fmt.Sprintf("the machine was busy at the start: load %.1f on %d cores", e.LoadBefore, e.Cores))
	}
	if e.Cores < 2 {
		w = append(w, "one core: contention cannot show")
	}
	if g := e.Governor; g != "" && g != "performance" {
		w = append(w, "CPU frequency governor is "+g)
	}
	return w
}

// SameMachine says why the numbers of two environments may not be compared, or
// returns nil.
func (e *Environment) SameMachine(other *Environment) error {
	for _, d := range []struct{ what, a, b string }{
		{"CPU", e.CPU, other.CPU},
		{"cores", strconv.Itoa(e.Cores), strconv.Itoa(other.Cores)},
		{"OS", e.OS + "/" + e.Arch, other.OS + "/" + other.Arch},
		{"Go", e.GoVersion, other.GoVersion},
		{"race detector", strconv.FormatBool(e.Race), strconv.FormatBool(other.Race)},
		{"GOGC", e.GOGC, other.GOGC},
		{"GOMEMLIMIT", e.GOMEMLIMIT, other.GOMEMLIMIT},
	} {
		if d.a != d.b {
			return fmt.Errorf("%s differs: %q against %q", d.what, d.a, d.b)
		}
	}
	return nil
}

func revision(dir string) string {
	if dir == "" {
		return ""
	}
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	rev, err := git("rev-parse", "HEAD")
	if err != nil {
		return ""
	}
	// Two edited trees are told apart by what was edited.
	if diff, err := git("diff", "HEAD"); err != nil || diff != "" {
		rev += fmt.Sprintf("+dirty-%.6x", sha256.Sum256([]byte(diff)))
	}
	return rev
}

func caches() string {
	dirs, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	var out []string
	for _, d := range dirs {
		level, kind, size := readTrimmed(d+"/level"), readTrimmed(d+"/type"), readTrimmed(d+"/size")
		if level == "" || size == "" || kind == "Instruction" {
			continue
		}
		name := "L" + level
		if kind == "Data" {
			name += "d"
		}
		out = append(out, name+" "+size)
	}
	return strings.Join(out, ", ")
}

func readTrimmed(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Stamp formats the UTC time that a run's folder begins with.
func Stamp(t time.Time) string { return t.UTC().Format("20060102T150405Z") }
