package cluster

import (
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Descriptors that Up gives to Node.
const (
	progressFD = 3 // lines of what is done
	listenerFD = 4 // a listener in the host's network
	starterFD  = 5 // ends with the program that started the cluster
)

// publish passes connections from the host's network on to the API server. A listener stays in the network namespace
// that it was made in.
func publish(file *os.File) error {
	l, err := net.FileListener(file)
	if err != nil {
		return fmt.Errorf("the API server's address on the host: %w", err)
	}
	file.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				time.Sleep(100 * time.Millisecond) // too many open files pass
				continue
			}
			go forward(conn.(*net.TCPConn))
		}
	}()
	return nil
}

// forward passes on bytes and each side's end, until both sides have ended.
func forward(from *net.TCPConn) {
	defer from.Close()
	conn, err := net.DialTimeout("tcp", apiAddress, 5*time.Second)
	if err != nil {
		return
	}
	to := conn.(*net.TCPConn)
	defer to.Close()
	done := make(chan struct{})
	pass := func(out, in *net.TCPConn) {
		_, err := io.Copy(out, in)
		if err != nil { // a reset is passed on as an end of both sides
			out.Close()
			in.Close()
		}
		out.CloseWrite() //nolint:errcheck // it may be closed
		done <- struct{}{}
	}
	go pass(to, from)
	go pass(from, to)
	<-done
	<-done
}
