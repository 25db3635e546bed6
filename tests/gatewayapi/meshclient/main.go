// The program `client` of a Pod of the mesh, as the conformance suite calls it there: one or many requests to the suite's
// echo servers, and what came back as the lines that the suite reads (the image it is made for is not to be had as a
// module).
//
//	meshclient URL [--method=GET] [-H NAME:VALUE]... [--count=N]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pb "sigs.k8s.io/gateway-api/conformance/echo-basic/grpcechoserver"
)

const patience = 10 * time.Second

type call struct {
	at      *url.URL
	method  string
	headers http.Header
	count   int
}

func parse(words []string) (*call, error) {
	if len(words) == 0 {
		return nil, errors.New("a URL is missing")
	}
	at, err := url.Parse(words[0])
	if err != nil {
		return nil, err
	}
	c := &call{at: at, method: http.MethodGet, headers: http.Header{}, count: 1}
	for rest := words[1:]; len(rest) > 0; rest = rest[1:] {
		switch {
		case strings.HasPrefix(rest[0], "--method="):
			c.method = strings.TrimPrefix(rest[0], "--method=")
		case strings.HasPrefix(rest[0], "--count="):
			if c.count, err = strconv.Atoi(strings.TrimPrefix(rest[0], "--count=")); err != nil {
				return nil, err
			}
		case rest[0] == "-H" && len(rest) > 1:
			name, value, _ := strings.Cut(rest[1], ":")
			c.headers.Add(name, value)
			rest = rest[1:]
		default:
			return nil, fmt.Errorf("not understood: %s", rest[0])
		}
	}
	return c, nil
}

// echoed is what the suite's HTTP server answers with.
type echoed struct {
	Path, Host, Method, Proto, Pod string
	Headers                        http.Header
}

func (c *call) overHTTP(out io.Writer) error {
	request, err := http.NewRequest(c.method, c.at.String(), nil)
	if err != nil {
		return err
	}
	request.Header = c.headers
	if host := c.headers.Get("Host"); host != "" {
		request.Host = host
	}
	client := http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "StatusCode=%d\n", answer.StatusCode)
	write(out, "ResponseHeader", answer.Header)
	var e echoed
	if json.Unmarshal(body, &e) == nil {
		fmt.Fprintf(out, "Hostname=%s\nURL=%s\nHost=%s\nMethod=%s\nProto=%s\n", e.Pod, e.Path, e.Host, e.Method, e.Proto)
		write(out, "RequestHeader", e.Headers)
	}
	return nil
}

func write(out io.Writer, field string, headers http.Header) {
	for name, values := range headers {
		for _, value := range values {
			fmt.Fprintf(out, "%s=%s:%s\n", field, name, value)
		}
	}
}

func (c *call) overGRPC(out io.Writer) error {
	connection, err := grpc.NewClient("passthrough:///"+c.at.Host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := pb.NewGrpcEchoClient(connection).Echo(ctx, &pb.EchoRequest{})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "StatusCode=%d\nHostname=%s\n", http.StatusOK, answer.GetAssertions().GetContext().GetPod())
	return nil
}

func run(words []string) error {
	c, err := parse(words)
	if err != nil {
		return err
	}
	send := c.overHTTP
	if c.at.Scheme == "grpc" {
		send = c.overGRPC
	}
	for n := 0; n < c.count; n++ {
		if err := send(os.Stdout); err != nil {
			return err
		}
		fmt.Println()
	}
	return nil
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
