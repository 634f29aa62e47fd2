// Package sysinfo reads what the system says of this process and of the machine: the
// environment of a run, resource use and allocations, limits of a container. It runs child
// processes and says in what conditions they ran.
//
// What a system does not report is left out: Linux reports everything, other systems less.
package sysinfo

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// Environment describes where a run was made: values that must be equal for two runs to be
// compared, and conditions that may taint a number. A value that the system does not report
// is empty.
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
	// "on" or "off": whether the CPU may exceed its nominal frequency
	Boost    string `json:"boost,omitempty"`
	MemoryMB uint64 `json:"memoryMB,omitempty"`
	// transparent huge pages: "always", "madvise" or "never"
	HugePages string `json:"hugePages,omitempty"`
	// CgroupCPUs and CgroupMemoryMB are a container's limits; 0 without a limit.
	CgroupCPUs     float64 `json:"cgroupCPUs,omitempty"`
	CgroupMemoryMB uint64  `json:"cgroupMemoryMB,omitempty"`
	// HardwareCounters names the metrics that the processor counts; "none: ..." says why it
	// counts nothing.
	HardwareCounters string `json:"hardwareCounters,omitempty"`
	// Awake says whether the processors are kept awake (see KeepAwake): "beside groups", or
	// "no: ..." with the reason.
	Awake string `json:"awake,omitempty"`
	// Procs is the largest GOMAXPROCS of the forks; that of this process until they are known.
	Procs int `json:"procs,omitempty"`

	GoVersion  string            `json:"go"`
	BuildFlags map[string]string `json:"buildFlags,omitempty"`
	GOGC       string            `json:"gogc,omitempty"`
	GOMEMLIMIT string            `json:"gomemlimit,omitempty"`
	GODEBUG    string            `json:"godebug,omitempty"`
	Race       bool              `json:"race,omitempty"`
	Modules    map[string]string `json:"modules,omitempty"` // versions of the measured modules
	// Revision is the git commit that the program was built from, as go build has stamped it.
	// Without a stamp (go run) it is that of the work tree. Where the code differs from the
	// commit, or a folder elsewhere replaces one of its modules, "+dirty-" and a hash follow.
	Revision string `json:"revision,omitempty"`

	// LoadBefore and LoadAfter are the one-minute load averages at start and end.
	// LoadMedian and LoadMax are over the forks and include the forks' own load.
	LoadBefore float64 `json:"loadBefore"`
	LoadAfter  float64 `json:"loadAfter,omitempty"`
	LoadMedian float64 `json:"loadMedian,omitempty"`
	LoadMax    float64 `json:"loadMax,omitempty"`
	// StealPercent is the share of CPU time that the hypervisor gave to other machines
	// during the run.
	StealPercent float64 `json:"stealPercent,omitempty"`
	// OthersMedian and OthersMax are the share of all cores' CPU time that other processes
	// used during a fork (OthersCPU), in percent, over the forks.
	OthersMedian float64 `json:"othersMedian,omitempty"`
	OthersMax    float64 `json:"othersMax,omitempty"`
	// CPU frequency and swap space in use, at start and end.
	MHzBefore    float64 `json:"mhzBefore,omitempty"`
	MHzAfter     float64 `json:"mhzAfter,omitempty"`
	SwapMBBefore uint64  `json:"swapMBBefore,omitempty"`
	SwapMBAfter  uint64  `json:"swapMBAfter,omitempty"`

	before       cpuTimes
	stolenBefore float64 // StealPercent of the part before the run was resumed
}

// MeasuredModules are the modules whose versions a report shows.
var MeasuredModules = []string{"k8s.io/client-go", "k8s.io/apimachinery", "k8s.io/api",
	"k8s.io/utils", "sigs.k8s.io/controller-runtime"}

// ReadEnvironment describes this machine and this build. dir is a folder in the
// git work tree, or "" if there is none.
func ReadEnvironment(dir string) Environment {
	host, _ := os.Hostname()
	e := Environment{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Host: host, Cores: runtime.NumCPU(),
		Procs:     runtime.GOMAXPROCS(0),
		GoVersion: runtime.Version(),
		GOGC:      os.Getenv("GOGC"), GOMEMLIMIT: os.Getenv("GOMEMLIMIT"), GODEBUG: os.Getenv("GODEBUG"),
		HardwareCounters: hardwareText(), Awake: awakeText(),

		Race: raceEnabled,
	}
	bi, ok := debug.ReadBuildInfo()
	if !ok {
		bi = &debug.BuildInfo{}
	}
	e.Modules, e.Revision = modules(bi), revision(bi, dir)
	if ok {
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
	e.MHzBefore, e.SwapMBBefore = frequencyMHz(), swapUsedMB()
	e.before = readCPUTimes()
	return e
}

// Resume makes Finish count stolen CPU time and swapped memory from here on: what others did since
// the run was interrupted does not belong to it. What they did before does.
func (e *Environment) Resume(here *Environment) {
	swapped := uint64(0)
	if e.SwapMBAfter > e.SwapMBBefore {
		swapped = e.SwapMBAfter - e.SwapMBBefore
	}
	e.SwapMBBefore = here.SwapMBBefore - min(swapped, here.SwapMBBefore)
	e.before, e.stolenBefore = here.before, e.StealPercent
}

// Finish reads the changing values again, and summarises the conditions of the run's child
// processes: the Values of each.
func (e *Environment) Finish(conditions []map[string]float64) {
	e.LoadAfter, e.MHzAfter, e.SwapMBAfter = loadAverage(), frequencyMHz(), swapUsedMB()
	if now := readCPUTimes(); now.total > e.before.total {
		e.StealPercent = max(e.stolenBefore,
			100*float64(now.stolen-e.before.stolen)/float64(now.total-e.before.total))
	}
	e.LoadMedian, e.LoadMax = over(conditions, metrics.MachineLoad)
	e.OthersMedian, e.OthersMax = over(conditions, metrics.OthersCPU)
}

// Worst describes machines of one class (SameMachine) whose runs were joined: what they have
// in common, and the worst conditions of any. The Host is "", unless all have the same.
// conditions are those of all child processes, as in Finish.
func Worst(machines []Environment, conditions []map[string]float64) Environment {
	out := machines[0]
	for _, e := range machines[1:] {
		if e.Host != out.Host {
			out.Host = ""
		}
		out.LoadBefore, out.LoadAfter = max(out.LoadBefore, e.LoadBefore), max(out.LoadAfter, e.LoadAfter)
		out.StealPercent = max(out.StealPercent, e.StealPercent)
		if int64(e.SwapMBAfter)-int64(e.SwapMBBefore) > int64(out.SwapMBAfter)-int64(out.SwapMBBefore) {
			out.SwapMBBefore, out.SwapMBAfter = e.SwapMBBefore, e.SwapMBAfter
		}
	}
	out.LoadMedian, out.LoadMax = over(conditions, metrics.MachineLoad)
	out.OthersMedian, out.OthersMax = over(conditions, metrics.OthersCPU)
	return out
}

// over returns the median and the maximum of one of the values over the conditions that
// have it, 0 if none has.
func over(conditions []map[string]float64, name string) (median, most float64) {
	var values []float64
	for _, c := range conditions {
		if v, ok := c[name]; ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, 0
	}
	return stats.MedianOf(values), slices.Max(values)
}

// Warnings returns the conditions that taint the numbers of a run made here.
func (e *Environment) Warnings() []string {
	var w []string
	if e.Race {
		w = append(w, "built with -race: times mean nothing")
	}
	if flags := e.BuildFlags["-gcflags"]; unoptimised.MatchString(flags) {
		w = append(w, "built without optimisations (-gcflags="+flags+"): times mean nothing")
	}
	if e.StealPercent > 2 {
		w = append(w, fmt.Sprintf("the hypervisor took %.1f%% of the CPU time", e.StealPercent))
	}
	// The load average of the last minute has the run before this one in it. What others used
	// during the forks says more, where the system reports it.
	if e.OthersMax == 0 && e.LoadBefore > 0.5*float64(e.Cores) {
		w = append(w, fmt.Sprintf("the machine was busy at the start: load %.1f on %d cores",
			e.LoadBefore, e.Cores))
	}
	if e.OthersMedian > DisturbedPercent {
		w = append(w, fmt.Sprintf(
			"other processes used %.0f%% of all cores' time during the median fork, %.0f%% at most",
			e.OthersMedian, e.OthersMax))
	}
	if e.SwapMBAfter > e.SwapMBBefore {
		w = append(w, fmt.Sprintf("memory was short: %d MB were swapped out during the run",
			e.SwapMBAfter-e.SwapMBBefore))
	}
	if e.Cores < 2 {
		w = append(w, "one core: contention cannot show")
	}
	if e.CgroupCPUs > 0 && e.CgroupCPUs < float64(e.Procs) {
		w = append(w, fmt.Sprintf(
			"the container may use %.3g CPUs and GOMAXPROCS is %d: the kernel stops the process when its "+
				"share is used up", e.CgroupCPUs, e.Procs))
	}
	if g := e.Governor; g != "" && g != "performance" {
		w = append(w, "CPU frequency governor is "+g)
	}
	return w
}

// unoptimised matches compiler flags, such as "all=-N -l", that turn optimisations
// or inlining off.
var unoptimised = regexp.MustCompile(`(^|[ =])-[Nl]( |$)`)

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

// modules are the versions of the modules that a reader of a report asks for: MeasuredModules, this
// project's where the program is somebody else's, and those that a folder elsewhere replaces.
// A measured module that a folder of the program replaces has that folder.
func modules(bi *debug.BuildInfo) map[string]string {
	out := map[string]string{}
	for _, m := range bi.Deps {
		switch {
		case isElsewhere(m):
			out[m.Path] = "from " + m.Replace.Path
		case m.Replace != nil && m.Replace.Version == "": // by a folder of the program's own module
			if slices.Contains(MeasuredModules, m.Path) {
				out[m.Path] = "from " + m.Replace.Path
			}
		case slices.Contains(MeasuredModules, m.Path),
			strings.HasPrefix(m.Path+"/", "github.com/informerbench/informerbench/"):
			out[m.Path] = m.Version
			if m.Replace != nil {
				out[m.Path] = m.Replace.Version
			}
		}
	}
	return out
}

// isElsewhere reports whether a folder outside of the program's own module replaces m.
func isElsewhere(m *debug.Module) bool {
	return m.Replace != nil && m.Replace.Version == "" && !filepath.IsLocal(m.Replace.Path)
}

// revision is that of the program's code. The commit does not tell of what changes in a folder that
// replaces a module, so a hash of the program does.
func revision(bi *debug.BuildInfo, dir string) string {
	rev := builtFrom(bi)
	stamped := rev != ""
	if !stamped && dir != "" {
		rev = ofWorkTree(dir)
	}
	dirty := strings.Contains(rev, "+dirty")
	if rev == "" || stamped && dirty || !slices.ContainsFunc(bi.Deps, isElsewhere) {
		return rev // a stamp that is dirty has the program's hash already
	}
	if !dirty {
		rev += "+dirty"
	}
	return rev + hashOfProgram()
}

// ofWorkTree is the commit of a folder's work tree, "" if there is none.
func ofWorkTree(dir string) string {
	git := func(args ...string) (string, error) {
		for tries := 3; ; tries-- {
			out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
			// Ctrl-C ends git too, and without the revision the run could not be resumed.
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() || tries == 1 {
				return strings.TrimSpace(string(out)), err
			}
		}
	}
	rev, err := git("rev-parse", "HEAD")
	if err != nil {
		return ""
	}
	// The hash distinguishes two edited trees of the same commit. Pages and results are no code.
	diff, err := git("diff", "HEAD", "--", ".", ":(exclude)*.md", ":(exclude)docs",
		":(exclude)results")
	names, otherErr := git("ls-files", "--others", "--exclude-standard", "-z", "--", "*.go")
	added := contents(dir, strings.Split(names, "\x00"))
	if err != nil || otherErr != nil || diff+added != "" {
		rev += fmt.Sprintf("+dirty-%.6x", sha256.Sum256([]byte(diff+added)))
	}
	return rev
}

// contents are the names and texts of files. One that cannot be read has its name only.
func contents(dir string, names []string) string {
	var out strings.Builder
	for _, name := range names {
		if name != "" {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			fmt.Fprintf(&out, "%s\x00%s\x00", name, text)
		}
	}
	return out.String()
}

// builtFrom is the commit that this program was built from, as go build has stamped it, "" if it
// has not. The work tree may have moved on since.
func builtFrom(bi *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range bi.Settings {
		settings[s.Key] = s.Value
	}
	rev := settings["vcs.revision"]
	if rev != "" && settings["vcs.modified"] == "true" {
		rev += "+dirty" + hashOfProgram()
	}
	return rev
}

// hashOfProgram is "-" and a hash of this program's file, "" if it cannot be read.
func hashOfProgram() string {
	path, err := thisProgram()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return ""
	}
	return fmt.Sprintf("-%.6x", hash.Sum(nil))
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
