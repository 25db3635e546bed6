// Command kubebox runs a Kubernetes cluster of one node on this machine without
// containers: the real programs, with pods as host processes in namespaces.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"fairlead.dev/tests/cluster/internal/box"
	"fairlead.dev/tests/cluster/internal/cluster"
	"fairlead.dev/tests/cluster/internal/cri"
)

func init() {
	// The node's first thread stays with the main goroutine. Goroutines that enter
	// a pod's network give up their thread; if that were the first one, it would
	// live on there, and /proc/1/ns/net would be that pod's network.
	if len(os.Args) > 1 && os.Args[1] == cluster.NodeArg {
		runtime.LockOSThread()
	}
}

const usage = `usage: kubebox COMMAND [--dir DIR] ...
  up [--images FILE] [--api ADDRESS] [--apiserver-flag FLAG]... [--attended]
                            start an empty cluster, print its kubeconfig's path when it is ready
                            --images: the table of what stands in for container images
                            --api: an address of the host at which the API server is reached, 127.0.0.1:0 for any port
                            --apiserver-flag: one more flag of kube-apiserver
                            --attended: stay, and end the cluster when standard input ends or at a signal
  down                      end it; nothing stays behind but logs
  exec [--node] -- CMD...   run a program in the cluster's network (--node: and with the node's files and processes)
  images [--images FILE]    list the image table, and what of it is missing
  status                    processes, CPU time and memory
DIR has everything of the cluster; else it is $KUBEBOX_DIR, or /tmp/kubebox.
`

// list is a flag that may come several times.
type list []string

func (l *list) String() string     { return fmt.Sprint(*l) }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	// The two programs that run inside a container's namespaces.
	switch os.Args[1] {
	case box.InitArg:
		box.InitMain()
	case box.ExecArg:
		box.ExecMain()
	}
	c := cluster.Cluster{}
	flags := flag.NewFlagSet("kubebox "+os.Args[1], flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flags.StringVar(&c.Dir, "dir", cluster.DefaultDir(), "")
	flags.StringVar(&c.Images, "images", "", "")
	flags.StringVar(&c.API, "api", "", "")
	flags.Var((*list)(&c.APIFlags), "apiserver-flag", "")
	flags.BoolVar(&c.Attended, "attended", false, "")
	node := flags.Bool("node", false, "")
	flags.Parse(os.Args[2:]) //nolint:errcheck // exits by itself
	if err := run(os.Args[1], &c, flags.Args(), *node); err != nil {
		fmt.Fprintln(os.Stderr, "kubebox:", err)
		os.Exit(1)
	}
}

func run(command string, c *cluster.Cluster, args []string, node bool) (err error) {
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return err
	}
	if c.Images != "" {
		if c.Images, err = filepath.Abs(c.Images); err != nil {
			return err
		}
	}
	switch command {
	case "up":
		return c.Up()
	case "down":
		return c.Down()
	case "exec":
		return c.Exec(args, node)
	case "images":
		return cri.PrintImages(os.Stdout, c.Images)
	case "status":
		return c.Status(os.Stdout)
	case cluster.NodeArg:
		return c.Node()
	}
	fmt.Fprint(os.Stderr, usage)
	os.Exit(2)
	return nil
}
