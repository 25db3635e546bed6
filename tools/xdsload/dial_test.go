package main

import (
	"context"
	"net"
	"testing"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestConnectionsGoToAnyThatIsThere(t *testing.T) {
	one, two := listen(t), listen(t)
	dial := anyOf([]string{one.Addr().String(), two.Addr().String()})
	met := map[string]int{}
	connect := func() {
		conn, err := dial(context.Background(), "")
		if err != nil {
			t.Fatal(err)
		}
		met[conn.RemoteAddr().String()]++
		conn.Close()
	}
	for range 100 {
		connect()
	}
	if a, b := met[one.Addr().String()], met[two.Addr().String()]; a < 20 || b < 20 {
		t.Errorf("%d and %d connections", a, b)
	}
	one.Close()
	clear(met)
	for range 20 {
		connect()
	}
	if met[two.Addr().String()] != 20 {
		t.Errorf("connections %v, the first server is away", met)
	}
	two.Close()
	if _, err := dial(context.Background(), ""); err == nil {
		t.Error("connected to nobody")
	}
}
