package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A part that ends is started again, as a kubelet does it with the parts of a control plane: after a second, and not for ever.
const (
	restartAfter = time.Second
	livedLong    = 10 * time.Second
	mostRestarts = 10 // in a row, of a part that did not live long
)

// start runs a part of the cluster, again when it ends. Before the cluster is ready an end is a failure.
func (c *Cluster) start(p program, ended chan<- error) error {
	cmd, err := c.launch(p)
	if err != nil {
		return err
	}
	go func() { ended <- c.keep(p, cmd) }()
	return nil
}

// keep waits for the part and starts it again; it returns when that is of no use.
func (c *Cluster) keep(p program, cmd *exec.Cmd) error {
	for restarts := 0; ; restarts++ {
		began := time.Now()
		why := fmt.Errorf("%s ended: %v; see %s", p.name, cmd.Wait(), c.path("log", p.name+".log"))
		if time.Since(began) > livedLong {
			restarts = 0
		}
		if !c.booted.Load() || restarts == mostRestarts {
			return why
		}
		fmt.Fprintln(os.Stderr, time.Now().Format("15:04:05.000"), why)
		time.Sleep(restartAfter)
		var err error
		if cmd, err = c.launch(p); err != nil {
			return err
		}
	}
}

func (c *Cluster) launch(p program) (*exec.Cmd, error) {
	log, err := os.OpenFile(c.path("log", p.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME="+c.run())
	for _, proxy := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"} {
		cmd.Env = append(cmd.Env, proxy+"=")
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(p.argv[0]), err)
	}
	return cmd, nil
}
