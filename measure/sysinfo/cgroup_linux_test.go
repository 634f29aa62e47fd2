package sysinfo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/procfs"
)

func TestReadCgroups(t *testing.T) {
	t.Parallel()
	v2 := []procfs.Cgroup{{Path: "/kube/pod"}}
	v1 := []procfs.Cgroup{{HierarchyID: 1, Controllers: []string{"cpu", "cpuacct"}, Path: "/kube"},
		{HierarchyID: 2, Controllers: []string{"memory"}, Path: "/kube"}}
	for _, c := range []struct {
		name   string
		groups []procfs.Cgroup
		files  map[string]string
		want   cgroupLimits
	}{
		{"none", v2, nil, cgroupLimits{}},
		{"no limit", v2, map[string]string{"kube/pod/cpu.max": "max 100000",
			"kube/pod/memory.max": "max"}, cgroupLimits{}},
		{"a limit", v2, map[string]string{"kube/pod/cpu.max": "150000 100000",
			"kube/pod/memory.max": "1048576"}, cgroupLimits{1.5, 1 << 20}},
		{"the parent's is stricter", v2,
			map[string]string{"kube/cpu.max": "50000 100000", "kube/pod/cpu.max": "150000 100000"},
			cgroupLimits{cpus: 0.5}},
		{"in a container, whose group is the root", v2, map[string]string{"cpu.max": "200000 100000"},
			cgroupLimits{cpus: 2}},
		{"version 1", v1, map[string]string{"cpu,cpuacct/kube/cpu.cfs_quota_us": "150000",
			"cpu,cpuacct/kube/cpu.cfs_period_us": "100000", "memory/kube/memory.limit_in_bytes": "2097152"},
			cgroupLimits{1.5, 2 << 20}},
		{"version 1 without limits", v1,
			map[string]string{"cpu/kube/cpu.cfs_quota_us": "-1", "cpu/kube/cpu.cfs_period_us": "100000",
				"memory/kube/memory.limit_in_bytes": "9223372036854771712"}, cgroupLimits{}},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := readCgroups(root, c.groups); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := chosen("always [madvise] never"); got != "madvise" || chosen("") != "" {
		t.Errorf("chosen %q", got)
	}
}
