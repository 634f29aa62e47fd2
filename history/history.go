package history

import (
	"fmt"
	"regexp"
	"time"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/stats"
)

// DefaultAlpha bounds the share of false changes, as the verdicts' alpha does.
const DefaultAlpha = 0.01

// DefaultLeast is the smallest relative change that is reported.
const DefaultLeast = 0.01

// Options say what to follow, and what counts as a change.
type Options struct {
	// Match are patterns of names as in gates ("store/*/get/*/ns/op"), of any metric. Without
	// them the metrics with a verdict are followed.
	Match []string
	// Alpha is the share of false changes among those reported, at most; where nothing
	// changes at all, the chance of any. 0 means DefaultAlpha.
	Alpha float64
	// Least is the smallest relative change that is reported: 0.01 is 1 percent. 0 means
	// DefaultLeast.
	Least float64
	// Repo is a folder in the git work tree by whose commits the runs are ordered. "" orders
	// them by the time at which they began.
	Repo string

	match []*regexp.Regexp
}

func (o *Options) fill() error {
	if o.Alpha == 0 {
		o.Alpha = DefaultAlpha
	}
	if o.Least == 0 {
		o.Least = DefaultLeast
	}
	for _, text := range o.Match {
		p, err := compare.Pattern(text)
		if err != nil {
			return fmt.Errorf("pattern %q: %w", text, err)
		}
		o.match = append(o.match, p)
	}
	return nil
}

// History is what many runs say together.
type History struct {
	Folder string `json:"folder"`
	// Order is "time" or "commit".
	Order string  `json:"order"`
	Alpha float64 `json:"alpha"`
	Least float64 `json:"least"`
	// Runs are in order; points refer to them by position.
	Runs     []Run     `json:"runs"`
	Machines []Machine `json:"machines"`
	// Series begin with those that became worse, then those that changed otherwise, the largest
	// change first; the others follow as measured.
	Series []*Series `json:"series"`
	// Tested counts the series with enough runs for a change, which were judged together.
	Tested int `json:"tested"`
	// Small counts the changes that are proved and smaller than Least.
	Small int `json:"small"`
	// Left names what was left out, and why.
	Left []string `json:"left,omitempty"`
}

// Run is one run of a history.
type Run struct {
	Path     string    `json:"path"` // of its folder, within the history's
	Name     string    `json:"name"`
	Preset   string    `json:"preset"`
	Started  time.Time `json:"started"`
	Revision string    `json:"revision,omitempty"` // as in sysinfo.Environment
	Machine  int       `json:"machine"`            // position in Machines
	Schema   int       `json:"schema"`
	Go       string    `json:"go"`
	// Interrupted says how much of a run was measured that did not end; "" for a whole run.
	Interrupted string `json:"interrupted,omitempty"`
	// Plant says what was slowed down on purpose, "" for nothing.
	Plant   string            `json:"plant,omitempty"`
	Modules map[string]string `json:"modules,omitempty"`
}

// Machine is a class of machines whose numbers may be compared.
type Machine struct {
	Text string `json:"text"`
	Runs int    `json:"runs"`
}

// Series is one number over the runs.
type Series struct {
	Name compare.Name `json:"name"`
	// Label is the name with what tells it from other series of the same name, such as the
	// machine.
	Label   string `json:"label"`
	Machine int    `json:"machine"`
	// Against is the reference to which the points are ratios; "" if they are values.
	Against string  `json:"against,omitempty"`
	Points  []Point `json:"points"`
	// Changes are in order. A series that drifts has none.
	Changes []Change `json:"changes,omitempty"`
	Drift   *Shift   `json:"drift,omitempty"`
	// P is that of the clearest change or of a trend, doubled for the choice between the two.
	// Q is P corrected for the number of series. Both are 1 for a series with fewer than
	// stats.FewestRuns points.
	P float64 `json:"p"`
	Q float64 `json:"q"`

	key seriesKey
}

// Changed reports whether the series has a change or a drift.
func (s *Series) Changed() bool { return len(s.Changes) > 0 || s.Drift != nil }

// Point is the number of one run.
type Point struct {
	Run int `json:"run"` // position in Runs
	// Value is a ratio where the series has a reference: the geometric mean over the forks.
	// Else it is the median over the forks, in the metric's unit. The interval is at
	// stats.Confidence; it is Value alone where N is 1.
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	N     int     `json:"n"` // forks
}

// Level is the number between two changes, in the unit of the points, with its interval.
type Level struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	Runs  int     `json:"runs"`
}

// Shift is a change of a level: after to before.
type Shift struct {
	Ratio float64 `json:"ratio"` // stats.FromZero if it was 0 before
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	// Verdict is Better or Worse; NotComparable where neither direction is better.
	Verdict stats.Verdict `json:"verdict"`
}

// Change is a step of a series.
type Change struct {
	// At is the position in Points of the first point with the new level.
	At     int   `json:"at"`
	Before Level `json:"before"`
	After  Level `json:"after"`
	Shift
	P float64 `json:"p"` // corrected for the choice of the place, not for the number of series
	// Notes name what else changed at this place: Go, a measured module, the reference.
	Notes []string `json:"notes,omitempty"`
}
