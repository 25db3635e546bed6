// Connections to one of several servers, as a Service's.
package main

import (
	"context"
	"math/rand"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// quickly tries a server that is away again after a tenth of a second, then less often.
var quickly = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
	MinConnectTimeout: 5 * time.Second,
}

// anyOf connects to one of the addresses by chance, or to the next one where nobody is there.
func anyOf(addresses []string) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		first, last := rand.Intn(len(addresses)), error(nil)
		for i := range addresses {
			var dialer net.Dialer
			conn, err := dialer.DialContext(ctx, "tcp", addresses[(first+i)%len(addresses)])
			if err == nil {
				return conn, nil
			}
			last = err
		}
		return nil, last
	}
}
