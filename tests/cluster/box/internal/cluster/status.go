package cluster

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Status lists the cluster's processes with their CPU time and memory.
func (c *Cluster) Status(w io.Writer) error {
	pid := c.pid()
	if pid == 0 {
		return fmt.Errorf("no cluster runs in %s", c.Dir)
	}
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if p, err := strconv.Atoi(e.Name()); err == nil {
			if f := procStat(p); len(f) > 1 {
				parent, _ := strconv.Atoi(f[1])
				children[parent] = append(children[parent], p)
			}
		}
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "PID\tCPU s\tRSS MiB\tCOMMAND\t")
	var cpu, rss float64
	var walk func(int)
	walk = func(p int) {
		f := procStat(p)
		if len(f) < 22 {
			return
		}
		user, _ := strconv.ParseFloat(f[11], 64)
		system, _ := strconv.ParseFloat(f[12], 64)
		pages, _ := strconv.ParseFloat(f[21], 64)
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p))
		argv := strings.Split(string(cmdline), "\x00")
		name := filepath.Base(argv[0])
		if len(argv) > 1 && (name == "kube" || name == "exe" || name == "kubebox") {
			name += " " + argv[1]
		}
		mib := pages * float64(os.Getpagesize()) / (1 << 20)
		fmt.Fprintf(tw, "%d\t%.2f\t%.0f\t%s\t\n", p, (user+system)/100, mib, name)
		cpu, rss = cpu+(user+system)/100, rss+mib
		sort.Ints(children[p])
		for _, ch := range children[p] {
			walk(ch)
		}
	}
	walk(pid)
	fmt.Fprintf(tw, "\t%.2f\t%.0f\tall\t\n", cpu, rss)
	return tw.Flush()
}
