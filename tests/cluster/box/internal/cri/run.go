package cri

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"fairlead.dev/tests/cluster/internal/box"
)

// start runs the container's first process; c.mu is held.
func (s *server) start(c *container) error {
	if c.log != nil {
		if err := c.log.open(); err != nil {
			return err
		}
	}
	cmd := exec.Command("/proc/self/exe", box.InitArg)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Setsid:     true,
	}
	sp := s.spec(c)
	if c.pod.host {
		sp.Hostname = s.cfg.Hostname
	}
	failure, err := handOver(cmd, sp, true)
	if err != nil {
		return err
	}
	defer failure.Close()

	var copies sync.WaitGroup
	sink := func(name string) io.Writer { return io.MultiWriter(newLineWriter(c.log, name), c.streams.writer(name)) }
	if c.config.Tty {
		terminal, slave, err := openTerminal()
		if err != nil {
			return err
		}
		defer slave.Close()
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		cmd.SysProcAttr.Setctty = true
		c.tty, c.stdin = terminal, terminal
		copies.Add(1)
		go func() { defer copies.Done(); io.Copy(sink("stdout"), terminal) }() //nolint:errcheck
	} else {
		if c.config.Stdin {
			if c.stdin, err = cmd.StdinPipe(); err != nil {
				return err
			}
		}
		// Own pipes: the log ends with the last holder of the write end, and a
		// child left over must not hold up the container's end (see finish).
		for _, n := range []string{"stdout", "stderr"} {
			rd, wr, err := os.Pipe()
			if err != nil {
				return err
			}
			defer wr.Close()
			if n == "stdout" {
				cmd.Stdout = wr
			} else {
				cmd.Stderr = wr
			}
			copies.Add(1)
			go func() { defer copies.Done(); defer rd.Close(); io.Copy(sink(n), rd) }() //nolint:errcheck
		}
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	closeChildEnds(cmd)
	if message, _ := io.ReadAll(failure); len(message) > 0 {
		cmd.Wait() //nolint:errcheck // the message says it
		return errors.New(string(message))
	}
	c.pid, c.started = cmd.Process.Pid, now()
	go c.finish(cmd, &copies)
	return nil
}

// handOver gives the child its description on descriptor 3 and, if wanted, a
// pipe for failures on 4, whose other end is returned.
func handOver(cmd *exec.Cmd, spec any, failures bool) (*os.File, error) {
	data, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	// A pipe holds 64 KiB; a goroutine feeds it in case of more.
	rd, wr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() { wr.Write(data); wr.Close() }() //nolint:errcheck
	cmd.ExtraFiles = []*os.File{rd}
	if !failures {
		return nil, nil
	}
	frd, fwr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, fwr)
	return frd, nil
}

func closeChildEnds(cmd *exec.Cmd) {
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
}

// finish waits for the process, then for what is left of its output.
func (c *container) finish(cmd *exec.Cmd, copies *sync.WaitGroup) {
	cmd.Wait() //nolint:errcheck // the state says it
	drained := make(chan struct{})
	go func() { copies.Wait(); close(drained) }()
	select {
	case <-drained:
	case <-time.After(time.Second):
	}
	c.mu.Lock()
	c.finished, c.exitCode, c.reason = now(), box.ExitCode(cmd.ProcessState), "Completed"
	if c.exitCode != 0 {
		c.reason = "Error"
	}
	if c.tty != nil {
		c.tty.Close()
	}
	c.mu.Unlock()
	c.streams.close()
	if c.log != nil {
		c.log.close()
	}
	close(c.done)
}

// stop ends the container: it asks first, and forces after the grace period.
func (c *container) stop(grace time.Duration) {
	c.mu.Lock()
	running, pid := c.state() == runtimeapi.ContainerState_CONTAINER_RUNNING, c.pid
	c.mu.Unlock()
	if !running {
		return
	}
	if grace > 0 {
		sig := syscall.SIGTERM
		if n := c.config.GetStopSignal(); n != runtimeapi.Signal_RUNTIME_DEFAULT {
			if v, ok := signals[n]; ok {
				sig = v
			}
		}
		syscall.Kill(pid, sig) //nolint:errcheck // it may just have ended
		select {
		case <-c.done:
			return
		case <-time.After(grace):
		}
	}
	syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // likewise
	<-c.done
}

var signals = map[runtimeapi.Signal]syscall.Signal{
	runtimeapi.Signal_SIGHUP: syscall.SIGHUP, runtimeapi.Signal_SIGINT: syscall.SIGINT,
	runtimeapi.Signal_SIGQUIT: syscall.SIGQUIT, runtimeapi.Signal_SIGKILL: syscall.SIGKILL,
	runtimeapi.Signal_SIGUSR1: syscall.SIGUSR1, runtimeapi.Signal_SIGUSR2: syscall.SIGUSR2,
	runtimeapi.Signal_SIGTERM: syscall.SIGTERM,
}
