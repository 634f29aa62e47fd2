package measure

import "os/exec"

// isolate does nothing: a console sends Ctrl-C to every process of its group, and the
// parent tells a fork that ended so from one that failed.
func isolate(*exec.Cmd) {}
