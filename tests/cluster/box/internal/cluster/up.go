package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fairlead.dev/tests/cluster/internal/box"
)

// Up starts the cluster and returns when it is ready. An attended cluster it ends when standard input ends, or at a signal.
func (c *Cluster) Up() error {
	if pid := c.pid(); pid != 0 {
		return fmt.Errorf("the cluster in %s runs already (process %d)", c.Dir, pid)
	}
	if os.Getuid() != 0 {
		return fmt.Errorf("this needs root, for namespaces and mounts")
	}
	if err := c.emptyDirs(); err != nil {
		return err
	}
	began := time.Now()
	cmd, progress, err := c.startNode()
	if err != nil {
		return err
	}
	over := make(chan struct{})
	if c.Attended {
		go c.attend(over)
	}
	lines := bufio.NewScanner(progress)
	for lines.Scan() {
		fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(began).Seconds(), lines.Text())
		if lines.Text() != ready {
			continue
		}
		fmt.Println(c.Kubeconfig())
		if !c.Attended {
			return nil
		}
		cmd.Wait() //nolint:errcheck // the log says it
		select {
		case <-over:
			return c.Down()
		default:
			return fmt.Errorf("the cluster ended: see %s", c.path("log", "node.log"))
		}
	}
	cmd.Wait() //nolint:errcheck // the log says it
	c.Down()   //nolint:errcheck // likewise
	return fmt.Errorf("the cluster did not start: see %s", c.path("log"))
}

// ownDirs are what a cluster has in its directory, besides files.
var ownDirs = []string{"log", "pki", "conf", "run"}

// emptyDirs makes the cluster's directories, without what an earlier cluster left there. A directory that has some of
// these and was never a cluster's is left alone.
func (c *Cluster) emptyDirs() error {
	if _, err := os.Stat(c.path(marker)); err != nil {
		for _, d := range ownDirs {
			if _, err := os.Stat(c.path(d)); err == nil {
				return fmt.Errorf("%s exists and is not of a cluster: give a directory of its own", c.path(d))
			}
		}
		if err := os.MkdirAll(c.Dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(c.path(marker), nil, 0o644); err != nil {
			return err
		}
	}
	for _, d := range ownDirs {
		if err := os.RemoveAll(c.path(d)); err != nil {
			return err
		}
		if err := os.MkdirAll(c.path(d), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// startNode starts process 1 of the cluster; it tells its progress, line by line.
func (c *Cluster) startNode() (*exec.Cmd, *os.File, error) {
	log, err := os.Create(c.path("log", "node.log"))
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	progress, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer theirs.Close()
	listener, err := c.listen()
	if err != nil {
		return nil, nil, err
	}
	defer listener.Close()
	starter, life, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	c.life = life
	defer starter.Close()
	args := []string{NodeArg, "--dir", c.Dir, "--images", c.Images, "--api", c.API, fmt.Sprintf("--attended=%t", c.Attended)}
	for _, f := range c.APIFlags {
		args = append(args, "--apiserver-flag", f)
	}
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{theirs, listener, starter}
	cmd.Env = append(os.Environ(), "KUBEBOX_PROGRAM="+BesideProgram(""))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Setsid:     true,
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	pid := cmd.Process.Pid
	return cmd, progress, os.WriteFile(c.path("pid"), fmt.Appendf(nil, "%d %s\n", pid, startTime(pid)), 0o644)
}

// listen opens the API server's address on the host; its port may be 0. Without one it is a file that means nothing.
func (c *Cluster) listen() (*os.File, error) {
	if c.API == "" {
		return os.Open(os.DevNull)
	}
	l, err := net.Listen("tcp", c.API)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	c.API = l.Addr().String()
	return l.(*net.TCPListener).File()
}

// attend ends the cluster when standard input ends, or at a signal.
func (c *Cluster) attend(over chan<- struct{}) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	input := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin) //nolint:errcheck // its end is what counts
		close(input)
	}()
	select {
	case <-signals:
	case <-input:
	}
	close(over)
	c.Down() //nolint:errcheck // Up says how it ended
}

// Down stops the cluster. Its namespaces end with their process 1, and with
// them every process, mount, interface and firewall rule of it.
func (c *Cluster) Down() error {
	pid := c.pid()
	if pid != 0 {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	for end := time.Now().Add(10 * time.Second); c.pid() != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("process %d does not end", pid)
		}
	}
	if _, err := os.Stat(c.path("pid")); err != nil {
		return nil // nothing was started here, or another call has cleared it
	}
	if err := os.RemoveAll(c.path("run")); err != nil {
		return err
	}
	if err := os.Remove(c.path("pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Exec runs a program in the cluster's network, with the cluster's DNS and
// kubeconfig; the files are the caller's. With node set, it also gets the node's
// files and processes. It ends the calling program as the other one ends.
func (c *Cluster) Exec(args []string, node bool) error {
	pid := c.pid()
	if pid == 0 {
		return fmt.Errorf("no cluster runs in %s", c.Dir)
	}
	if len(args) == 0 {
		return fmt.Errorf("no command")
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	os.Setenv("KUBECONFIG", c.inside())
	os.Setenv("PATH", filepath.Join(c.Dir, "bin")+":"+os.Getenv("PATH"))
	runtime.LockOSThread()
	if node {
		if err := box.Enter(pid, "net", "ipc", "uts", "pid", "mnt"); err != nil {
			return err
		}
	} else {
		if err := box.Enter(pid, "net"); err != nil {
			return err
		}
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return err
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
			return err
		}
		resolv, err := filepath.EvalSymlinks("/etc/resolv.conf")
		if err != nil {
			return err
		}
		if err := unix.Mount(c.path("conf", "resolv.conf"), resolv, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	os.Chdir(dir) //nolint:errcheck // else stay in the root
	program, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	cmd := exec.Command(program, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if !node { // with a process namespace between, Go's check of the parent fails
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
	code, err := box.Run(cmd, func(s os.Signal) os.Signal { return s })
	if err != nil {
		return err
	}
	os.Exit(code)
	return nil
}
