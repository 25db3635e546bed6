// A soak: the streams stay while a command changes the mesh; at the end each proxy must hold what a new one gets.
package main

import (
	"context"
	"fmt"
	"hash/maphash"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// holding is what a proxy has of a type: a hash of each resource's content by its name.
type holding map[uint32]uint64

// keep takes over a response's resources where the run will compare what is held.
func (p *proxy) keep(l *load, t int, r *response) {
	if !l.compares {
		return
	}
	whole := !l.delta && (t == cds || t == lds)
	if p.held[t] == nil || whole {
		p.held[t] = holding{}
	}
	for _, resource := range r.resources {
		content := resource
		if l.delta {
			content = field(resource, 2)
		}
		name := field(field(content, 2), 1) // the first field of all four types' messages
		if l.delta {
			name = field(resource, 3)
		}
		p.held[t][idOf(name)] = maphash.Bytes(seed, content)
	}
	for _, name := range r.removed {
		delete(p.held[t], idOf(name))
	}
}

// differs tells in what a proxy that stayed connected is not like a new one; "": in nothing. What it still holds of
// types that are asked for by name and the new one does not ask for, it has let go of.
func (p *proxy) differs(fresh *proxy) string {
	for t := range nTypes {
		for name, hash := range fresh.held[t] {
			switch had, ok := p.held[t][name]; {
			case !ok:
				return fmt.Sprintf("lacks %s %s", typeNames[t], nameOf(name))
			case had != hash:
				return fmt.Sprintf("has another %s %s", typeNames[t], nameOf(name))
			}
		}
		if (t == cds || t == lds) && len(p.held[t]) != len(fresh.held[t]) {
			return fmt.Sprintf("has %d of %s instead of %d", len(p.held[t]), typeNames[t], len(fresh.held[t]))
		}
	}
	return ""
}

// Soak is the phase in which the mesh changes all the time.
type Soak struct {
	Seconds float64   `json:"seconds"`
	RSS     []float64 `json:"server_rss_mb"` // each ten seconds, and after it
	Differ  int       `json:"differ"`        // proxies that do not hold what a new one gets
	First   string    `json:"first_difference,omitempty"`
	Phase
}

// soak lets the command run for a time, then compares.
func (l *load) soak(ctx context.Context, command string, d time.Duration, compare func() ([]*proxy, error), quiet time.Duration, pid int) (*Soak, error) {
	m := l.measure(pid)
	start := time.Now()
	wait, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	cmd := exec.CommandContext(wait, "sh", "-c", "exec "+command)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	s := &Soak{}
	var err error
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for running := true; running; {
		select {
		case err = <-done:
			running = false
		case <-tick.C:
		}
		_, rss := procStat(pid)
		s.RSS = append(s.RSS, rss)
	}
	if wait.Err() == nil {
		return nil, fmt.Errorf("the changes ended early: %v", err)
	}
	s.Seconds = time.Since(start).Seconds()
	l.lastResponse.Store(time.Now().UnixNano())
	l.quiet(ctx, quiet)
	s.Phase = m.end()
	fresh, err := compare()
	if err != nil {
		return s, err
	}
	for i, p := range l.proxies {
		if text := p.differs(fresh[i]); text != "" {
			if s.Differ++; s.First == "" {
				s.First = p.name + " " + text
			}
		}
	}
	if s.Differ > 0 {
		return s, fmt.Errorf("%d of %d proxies do not hold what a new one gets: %s", s.Differ, len(l.proxies), s.First)
	}
	return s, nil
}

// connectFresh connects the same proxies once more and gives them when nothing has come for a while.
func (l *load) connectFresh(ctx context.Context, addr string, perConn int, timeout, quiet time.Duration) ([]*proxy, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	again := &load{delta: l.delta, compares: true, pause: l.pause, allConfigured: make(chan struct{}), errors: map[string]int{}}
	for _, p := range l.proxies {
		again.proxies = append(again.proxies, &proxy{name: p.name, namespace: p.namespace, node: p.node})
	}
	again.unconfigured.Store(int64(len(again.proxies)))
	_, err := again.connect(ctx, addr, perConn, 0, timeout, quiet, 0)
	return again.proxies, err
}
