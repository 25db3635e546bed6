// Command certload asks an authority for certificates as agents do: istio.v1.auth.IstioCertificateService over TLS, a key and
// a request for each workload, one after another on a few connections.
//
//	certload -addr 127.0.0.1:15012 -roots root-cert.pem -token FILE -count 10000 [-connections 50] [-server-name NAME]
//
// Prints {"issued", "failed", "error", "seconds", "p50_ms", "p99_ms"} as JSON; the error is the first. Requests are made before
// the clock starts, and all certificates are for the token's account.
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protowire"
)

const method = "/istio.v1.auth.IstioCertificateService/CreateCertificate"

// raw passes encoded messages on: there are two fields to write and none to read.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }
func (raw) Name() string                       { return "proto" }

// request is an encoded IstioCertificateRequest with a key of its own, for an hour.
func request() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		return nil, err
	}
	csr := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	out := protowire.AppendTag(nil, 1, protowire.BytesType)
	out = protowire.AppendBytes(out, csr)
	out = protowire.AppendTag(out, 3, protowire.VarintType)
	return protowire.AppendVarint(out, 3600), nil
}

type report struct {
	Issued  int     `json:"issued"`
	Failed  int     `json:"failed"`
	Error   string  `json:"error"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
}

// ask sends one connection's share of the requests; times are milliseconds.
func ask(conn *grpc.ClientConn, requests [][]byte, token string) (times []float64, failed []error) {
	for _, one := range requests {
		ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token)
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		start := time.Now()
		var answer []byte
		err := conn.Invoke(ctx, method, &one, &answer)
		cancel()
		if err != nil {
			failed = append(failed, err)
			continue
		}
		times = append(times, float64(time.Since(start).Microseconds())/1e3)
	}
	return times, failed
}

func run(addr, serverName, token string, roots *x509.CertPool, count, connections int) (report, error) {
	requests := make([][]byte, count)
	for i := range requests {
		var err error
		if requests[i], err = request(); err != nil {
			return report{}, err
		}
	}
	creds := credentials.NewTLS(&tls.Config{RootCAs: roots, ServerName: serverName})
	var out report
	var times []float64
	var lock sync.Mutex
	var all sync.WaitGroup
	start := time.Now()
	for i := range connections {
		conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(creds), grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{})))
		if err != nil {
			return report{}, err
		}
		defer conn.Close()
		all.Go(func() {
			took, failed := ask(conn, requests[i*count/connections:(i+1)*count/connections], token)
			lock.Lock()
			defer lock.Unlock()
			times = append(times, took...)
			out.Failed += len(failed)
			if len(failed) > 0 && out.Error == "" {
				out.Error = failed[0].Error()
			}
		})
	}
	all.Wait()
	out.Seconds, out.Issued = time.Since(start).Seconds(), len(times)
	sort.Float64s(times)
	if len(times) > 0 {
		out.P50, out.P99 = times[len(times)/2], times[len(times)*99/100]
	}
	return out, nil
}

func work() error {
	addr := flag.String("addr", "", "of the authority, HOST:PORT")
	rootsFile := flag.String("roots", "", "PEM file of what vouches for it")
	tokenFile := flag.String("token", "", "file of the token that proves who asks")
	serverName := flag.String("server-name", "istiod.istio-system.svc", "that its certificate has")
	count := flag.Int("count", 10000, "certificates")
	connections := flag.Int("connections", 50, "at a time, each with one request at a time")
	flag.Parse()
	text, err := os.ReadFile(*rootsFile)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return errors.New(*rootsFile + ": no certificates")
	}
	token, err := os.ReadFile(*tokenFile)
	if err != nil {
		return err
	}
	out, err := run(*addr, *serverName, string(bytes.TrimSpace(token)), roots, *count, *connections)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func main() {
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "certload:", err)
		os.Exit(1)
	}
}
