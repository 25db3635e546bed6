package cri

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/client-go/tools/remotecommand"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/kubelet/pkg/cri/streaming"
	utilexec "k8s.io/utils/exec"

	"fairlead.dev/tests/cluster/internal/box"
)

// startStreaming starts the HTTP server for exec, attach and port-forward; only
// kubelet speaks to it.
func (s *server) startStreaming() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	cfg := streaming.DefaultConfig
	cfg.Addr = l.Addr().String()
	if s.stream, err = streaming.NewServer(cfg, s); err != nil {
		return err
	}
	go http.Serve(l, s.stream) //nolint:errcheck,gosec // ends with the process
	return nil
}

func (s *server) running(id string) (*container, error) {
	c, err := s.container(id)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state() != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil, status.Errorf(codes.FailedPrecondition, "container %s is not running", id)
	}
	return c, nil
}

// execIn makes the command that runs args in a container.
func execIn(ctx context.Context, c *container, args []string, tty bool) (*exec.Cmd, error) {
	p := c.process
	p.Args, p.TTY = args, tty
	if tty {
		p.Env = append(append([]string{}, p.Env...), "TERM=xterm")
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", box.ExecArg)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Asked to end, the helper kills the program; killed itself, it could not.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	_, err := handOver(cmd, box.ExecSpec{PID: c.pid, Process: p}, false)
	return cmd, err
}

func (s *server) ExecSync(ctx context.Context, r *runtimeapi.ExecSyncRequest) (*runtimeapi.ExecSyncResponse, error) {
	c, err := s.running(r.ContainerId)
	if err != nil {
		return nil, err
	}
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.Timeout)*time.Second)
		defer cancel()
	}
	cmd, err := execIn(ctx, c, r.Cmd, false)
	if err != nil {
		return nil, err
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	code, err := runExec(cmd)
	if ctx.Err() != nil {
		return nil, status.Errorf(codes.DeadlineExceeded, "command %q timed out", r.Cmd)
	}
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ExecSyncResponse{Stdout: out.Bytes(), Stderr: errs.Bytes(), ExitCode: int32(code)}, nil
}

func runExec(cmd *exec.Cmd) (int, error) {
	err := cmd.Start()
	closeChildEnds(cmd)
	if err != nil {
		return 0, err
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return 0, err
	}
	return box.ExitCode(cmd.ProcessState), nil
}

// Exec serves one exec stream.
func (s *server) Exec(ctx context.Context, id string, args []string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	c, err := s.running(id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd, err := execIn(ctx, c, args, tty)
	if err != nil {
		return err
	}
	if tty {
		terminal, slave, err := openTerminal()
		if err != nil {
			return err
		}
		defer terminal.Close()
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		go resizes(terminal, resize)
		if in != nil {
			go io.Copy(terminal, in) //nolint:errcheck
		}
		copied := make(chan struct{})
		go func() { io.Copy(out, terminal); close(copied) }() //nolint:errcheck // EIO at the end
		err = cmd.Start()
		slave.Close()
		closeChildEnds(cmd)
		if err != nil {
			return err
		}
		cmd.Wait() //nolint:errcheck // the state says it
		select {
		case <-copied:
		case <-time.After(time.Second):
		}
		return exitError(box.ExitCode(cmd.ProcessState))
	}
	if in != nil {
		// Not cmd.Stdin: the command's end must not wait for the client's input.
		w, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() { io.Copy(w, in); w.Close() }() //nolint:errcheck
	}
	if out != nil {
		cmd.Stdout = out
	}
	if errs != nil {
		cmd.Stderr = errs
	}
	code, err := runExec(cmd)
	if err != nil {
		return err
	}
	return exitError(code)
}

func exitError(code int) error {
	if code == 0 {
		return nil
	}
	return &utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: code}
}

// Attach serves one attach stream: the container's output from now on.
func (s *server) Attach(ctx context.Context, id string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	c, err := s.running(id)
	if err != nil {
		return err
	}
	writer := func(w io.WriteCloser) io.Writer {
		if w == nil {
			return nil
		}
		return w
	}
	defer c.streams.add(writer(out), writer(errs))()
	if c.tty != nil {
		go resizes(c.tty, resize)
	}
	if in != nil && c.stdin != nil {
		go func() {
			io.Copy(c.stdin, in) //nolint:errcheck
			if c.config.StdinOnce && !c.config.Tty {
				c.stdin.Close()
			}
		}()
	}
	select {
	case <-c.done:
	case <-ctx.Done():
	}
	return nil
}

// PortForward serves one connection to a port inside the pod.
func (s *server) PortForward(_ context.Context, id string, port int32, stream io.ReadWriteCloser) error {
	p, err := s.sandbox(id)
	if err != nil {
		return err
	}
	var conn net.Conn
	err = inNetNS(p.netns, func() (err error) {
		conn, err = net.DialTimeout("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))), 5*time.Second)
		return err
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	go func() {
		io.Copy(conn, stream)            //nolint:errcheck
		conn.(*net.TCPConn).CloseWrite() //nolint:errcheck
	}()
	_, err = io.Copy(stream, conn)
	return err
}

func resizes(terminal *os.File, resize <-chan remotecommand.TerminalSize) {
	for size := range resize {
		unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Height, Col: size.Width}) //nolint:errcheck
	}
}

// openTerminal opens a new pseudo-terminal: our end and the program's.
func openTerminal() (*os.File, *os.File, error) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		terminal.Close()
		return nil, nil, err
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		terminal.Close()
		return nil, nil, err
	}
	return terminal, slave, nil
}

func (s *server) requireRunning(id string) error { _, err := s.running(id); return err }

// The three calls that hand kubelet an address of the streaming server. They
// are methods of another type, as the streaming server needs the same names.
type streamCalls struct{ *server }

func (s streamCalls) Exec(_ context.Context, r *runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	if err := s.requireRunning(r.ContainerId); err != nil {
		return nil, err
	}
	return s.stream.GetExec(r)
}

func (s streamCalls) Attach(_ context.Context, r *runtimeapi.AttachRequest) (*runtimeapi.AttachResponse, error) {
	if err := s.requireRunning(r.ContainerId); err != nil {
		return nil, err
	}
	return s.stream.GetAttach(r)
}

func (s streamCalls) PortForward(_ context.Context, r *runtimeapi.PortForwardRequest) (*runtimeapi.PortForwardResponse, error) {
	if _, err := s.sandbox(r.PodSandboxId); err != nil {
		return nil, err
	}
	return s.stream.GetPortForward(r)
}
