// What is not a phase of every run: recording responses, connecting again, and proxies that do not read.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
)

// keepRecord remembers the first proxy's largest response of each type: its first is followed by shorter ones.
func (l *load) keepRecord(p *proxy, t int, b []byte) {
	if l.record && p == l.proxies[0] && len(b) > len(l.recorded[t]) {
		l.recorded[t] = slices.Clone(b)
	}
}

// writeRecord writes what replay reads. To be called when nothing is received any more.
func (l *load) writeRecord(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for t, name := range typeNames {
		if err := os.WriteFile(filepath.Join(dir, name+".bin"), l.recorded[t], 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Reconnect is a phase in which every proxy's stream is broken and opened again at once.
type Reconnect struct {
	Answered int     `json:"answered"` // proxies that got an answer for clusters and for listeners
	AllMS    float64 `json:"all_answered_ms"`
	Phase
}

// reconnect breaks all streams. In delta mode the new ones say what the proxy has, as Envoy does; in the state of the
// world they start from nothing.
func (l *load) reconnect(ctx context.Context, timeout, quiet time.Duration, pid int) (*Reconnect, error) {
	m := l.measure(pid)
	wait, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	l.unanswered.Store(int64(len(l.proxies)))
	for _, p := range l.proxies {
		for _, t := range []int{cds, lds} {
			p.answered[t].Store(false)
		}
		p.again.Store(true)
		(*p.breakStream.Load())()
	}
	start := time.Now()
	for l.unanswered.Load() > 0 && wait.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	r := &Reconnect{Answered: len(l.proxies) - int(l.unanswered.Load()), AllMS: ms(time.Since(start))}
	l.lastResponse.Store(time.Now().UnixNano())
	l.quiet(wait, quiet)
	r.Phase = m.end()
	return r, missing(l, func(p *proxy) string {
		if p.answered[cds].Load() && p.answered[lds].Load() {
			return ""
		}
		return "an answer after reconnecting"
	})
}

// noteAnswer counts proxies that were answered after a reconnect.
func (l *load) noteAnswer(p *proxy, t int) {
	if t != cds && t != lds || p.answered[t].Swap(true) {
		return
	}
	if p.answered[cds+lds-t].Load() && l.unanswered.Add(-1) < 0 {
		l.unanswered.Add(1)
	}
}

// resume asks on a new delta stream for everything that the proxy asked for, and says which versions it has.
func (p *proxy) resume(l *load) {
	for t := range nTypes {
		if !p.subs[t].asked {
			continue
		}
		var b []byte
		if t == eds || t == rds {
			names := make([]string, 0, len(p.subs[t-1].refs.count))
			for id, count := range p.subs[t-1].refs.count {
				if count > 0 {
					names = append(names, nameOf(id))
				}
			}
			slices.Sort(names)
			for _, n := range names {
				b = appendBytes(b, 3, n)
			}
		}
		for id, version := range p.subs[t].versions {
			b = appendBytes(b, 5, appendBytes(appendBytes(nil, 1, nameOf(id)), 2, version))
		}
		p.request(l, t, b)
	}
}

// keepVersions remembers the versions of a delta response's resources.
func (s *sub) keepVersions(r *response) {
	if s.versions == nil {
		s.versions = map[uint32]string{}
	}
	for _, resource := range r.resources {
		s.versions[idOf(field(resource, 3))] = string(field(resource, 1))
	}
	for _, name := range r.removed {
		delete(s.versions, idOf(name))
	}
}

// stuckProxy asks for clusters and never reads; its windows are as small as HTTP/2 clients have them.
type stuckProxy struct {
	stream grpc.ClientStream
	stale  []byte // a request that means nothing: it answers no response
}

func openStuck(ctx context.Context, addr string, l *load, p *proxy) (*stuckProxy, error) {
	conn, err := grpc.NewClient("passthrough:///mesh", grpc.WithContextDialer(anyOf(strings.Split(addr, ","))), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(1<<16), grpc.WithInitialConnWindowSize(1<<16))
	if err != nil {
		return nil, err
	}
	st, err := openStream(ctx, l, conn)
	if err != nil {
		return nil, err
	}
	p.out = &queue{wake: make(chan struct{}, 1)}
	p.request(l, cds, nil)
	for _, m := range p.out.msgs {
		if err := st.SendMsg(m); err != nil {
			return nil, err
		}
	}
	urlField, nonceField := protowire.Number(4), protowire.Number(5)
	if l.delta {
		urlField, nonceField = 2, 6
	}
	return &stuckProxy{st, appendBytes(appendBytes(nil, urlField, typeURLs[cds]), nonceField, "none")}, nil
}

// cut tells whether the server has ended the stream: then nothing can be sent on it any more.
func (s *stuckProxy) cut() bool { return errors.Is(s.stream.SendMsg([][]byte{s.stale}), io.EOF) }

// StuckReport says what became of the proxies that do not read.
type StuckReport struct {
	Streams int     `json:"streams"`
	Cut     int     `json:"cut"`
	CutMS   float64 `json:"all_cut_ms"` // from their start; with -timeout as its bound
}

func openAllStuck(ctx context.Context, addr string, l *load, proxies []*proxy) ([]*stuckProxy, error) {
	var all []*stuckProxy
	for _, p := range proxies {
		s, err := openStuck(ctx, addr, l, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %v", p.name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// awaitCut waits until the server has cut all of them.
func awaitCut(ctx context.Context, all []*stuckProxy, start time.Time, timeout time.Duration) *StuckReport {
	r := &StuckReport{Streams: len(all)}
	for end := start.Add(timeout); ; time.Sleep(100 * time.Millisecond) {
		r.Cut = 0
		for _, s := range all {
			if s.cut() {
				r.Cut++
			}
		}
		if r.Cut == r.Streams || time.Now().After(end) || ctx.Err() != nil {
			r.CutMS = ms(time.Since(start))
			return r
		}
	}
}
