// Package cluster starts and stops the cluster: one process of ours that is
// process 1 of its own namespaces, with the real Kubernetes programs below it.
package cluster

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// Addresses inside the cluster's own network namespace; nothing outside sees them.
const (
	nodeName     = "kubebox"
	nodeIP       = "172.30.0.2"
	nodeNet      = "172.30.0.2/24"
	lbNet        = "172.30.1.0/24" // for services of type LoadBalancer
	podGateway   = "10.244.0.1/16"
	podNet       = "10.244.0.0/16"
	serviceNet   = "10.96.0.0/16"
	apiServiceIP = "10.96.0.1"
	dnsIP        = "10.96.0.10"
	domain       = "cluster.local"
	coreDNSImage = "registry.k8s.io/coredns/coredns"
	shellImage   = "kubebox/shell" // the host's own programs, and nothing to do
	apiAddress   = "127.0.0.1:6443"
)

// marker is the file by which a cluster's directory is known.
const marker = ".kubebox"

// NodeArg is the argument by which Up calls the program again as process 1.
const NodeArg = "node"

// Cluster is one cluster: everything of it lies below Dir.
type Cluster struct {
	Dir      string
	Images   string   // the image table; "" for the images that need none
	API      string   // the host's address at which the API server is to be reached too; "" for none
	APIFlags []string // more flags of kube-apiserver
	Attended bool     // the cluster ends with the program that started it

	booted atomic.Bool
	life   *os.File // open until the program that started the cluster ends
}

// DefaultDir is where a cluster lives if no one says otherwise.
func DefaultDir() string {
	if d := os.Getenv("KUBEBOX_DIR"); d != "" {
		return d
	}
	return "/tmp/kubebox"
}

// BesideProgram is a file in this program's directory.
func BesideProgram(name string) string {
	self, err := os.Executable()
	if err != nil {
		return name
	}
	return filepath.Join(filepath.Dir(self), name)
}

func (c *Cluster) path(parts ...string) string {
	return filepath.Join(append([]string{c.Dir}, parts...)...)
}

// run is a path on the cluster's own file system in memory.
func (c *Cluster) run(parts ...string) string {
	return c.path(append([]string{"run"}, parts...)...)
}

// Kubeconfig is the administrator's, for use outside of the cluster's network if the API server is reached from there.
func (c *Cluster) Kubeconfig() string { return c.path("kubeconfig") }

// inside is the administrator's within the cluster's network.
func (c *Cluster) inside() string { return c.path("conf", "admin.kubeconfig") }

// pid returns the cluster's process 1 as seen here, or 0. The process's start
// time is compared, so that a number used again is not taken for it.
func (c *Cluster) pid() int {
	data, err := os.ReadFile(c.path("pid"))
	if err != nil {
		return 0
	}
	number, started, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	pid, err := strconv.Atoi(number)
	if err != nil || startTime(pid) != started || started == "" {
		return 0
	}
	return pid
}

// startTime is the process's start time in clock ticks after boot; "" if it is gone.
func startTime(pid int) string {
	f := procStat(pid)
	if len(f) < 20 || f[0] == "Z" {
		return ""
	}
	return f[19]
}

// procStat returns the fields of /proc/PID/stat from the state on.
func procStat(pid int) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	i := strings.LastIndexByte(string(data), ')')
	return strings.Fields(string(data[i+1:]))
}
