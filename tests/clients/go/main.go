// Clients and servers of a one-method service over grpc-go: the server answers with its name.
//
//	client server NAME=ADDRESS... [-xds]
//	client call
//
// "server" prints a line when all listen (with -xds: when xDS has made all serve). "call" answers each line of JSON
// on its input, {"target": "xds:///echo:7000", "count": 100, "method": "Say", "headers": {"x": "y"}}, with one on its
// output: {"answers": {"v1": 75, "v2": 25}, "errors": {}}. A target's connections stay for further lines.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	xdscreds "google.golang.org/grpc/credentials/xds"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const service = "fairlead.test.Echo"

type echo struct{ name string }

func (e echo) say(ctx context.Context) (*wrapperspb.StringValue, error) {
	return wrapperspb.String(e.name), nil
}

// Fails unless the call is a retry.
func (e echo) flaky(ctx context.Context) (*wrapperspb.StringValue, error) {
	if len(metadata.ValueFromIncomingContext(ctx, "grpc-previous-rpc-attempts")) == 0 {
		return nil, status.Error(codes.Unavailable, "the first attempt fails")
	}
	return e.say(ctx)
}

// Answers after a while that no call should have to wait, but before the callers here give up by themselves.
func (e echo) slow(ctx context.Context) (*wrapperspb.StringValue, error) {
	select {
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	case <-time.After(20 * time.Second):
		return e.say(ctx)
	}
}

func method(name string, handle func(echo, context.Context) (*wrapperspb.StringValue, error)) grpc.MethodDesc {
	return grpc.MethodDesc{
		MethodName: name,
		Handler: func(server any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			if err := decode(new(wrapperspb.StringValue)); err != nil {
				return nil, err
			}
			return handle(server.(echo), ctx)
		},
	}
}

var description = grpc.ServiceDesc{
	ServiceName: service,
	HandlerType: (*any)(nil),
	Methods:     []grpc.MethodDesc{method("Say", echo.say), method("Flaky", echo.flaky), method("Slow", echo.slow)},
}

// Serves until the process ends; `ready` is called when calls are accepted.
func serve(name, address string, useXds bool, ready func()) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	if !useXds {
		server := grpc.NewServer()
		server.RegisterService(&description, echo{name})
		ready()
		log.Fatal(server.Serve(listener))
	}
	credentials, err := xdscreds.NewServerCredentials(xdscreds.ServerOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		log.Fatal(err)
	}
	var once sync.Once
	server, err := xds.NewGRPCServer(grpc.Creds(credentials), xds.ServingModeCallback(func(_ net.Addr, args xds.ServingModeChangeArgs) {
		if args.Mode == connectivity.ServingModeServing {
			once.Do(ready)
		}
	}))
	if err != nil {
		log.Fatal(err)
	}
	server.RegisterService(&description, echo{name})
	log.Fatal(server.Serve(listener))
}

func serveAll(arguments []string) {
	useXds := slices.Contains(arguments, "-xds")
	var waiting sync.WaitGroup
	for _, argument := range arguments {
		if name, address, found := strings.Cut(argument, "="); found {
			waiting.Add(1)
			go serve(name, address, useXds, waiting.Done)
		}
	}
	waiting.Wait()
	fmt.Println("ready")
	select {}
}

type order struct {
	Target  string
	Count   int
	Method  string
	Headers map[string]string
}

type outcome struct {
	Answers map[string]int `json:"answers"`
	Errors  map[string]int `json:"errors"`
}

func call(connection *grpc.ClientConn, order order) outcome {
	done := outcome{map[string]int{}, map[string]int{}}
	for range order.Count {
		ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(context.Background(), metadata.New(order.Headers)), time.Minute)
		var answer wrapperspb.StringValue
		err := connection.Invoke(ctx, "/"+service+"/"+order.Method, wrapperspb.String(""), &answer)
		cancel()
		if err != nil {
			done.Errors[err.Error()]++
		} else {
			done.Answers[answer.Value]++
		}
	}
	return done
}

func connect(target string) *grpc.ClientConn {
	credentials, err := xdscreds.NewClientCredentials(xdscreds.ClientOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		log.Fatal(err)
	}
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(credentials))
	if err != nil {
		log.Fatal(err)
	}
	return connection
}

func callAll() {
	connections := map[string]*grpc.ClientConn{}
	output := json.NewEncoder(os.Stdout)
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		var wanted order
		if err := json.Unmarshal(input.Bytes(), &wanted); err != nil {
			log.Fatal(err)
		}
		if connections[wanted.Target] == nil {
			connections[wanted.Target] = connect(wanted.Target)
		}
		if err := output.Encode(call(connections[wanted.Target], wanted)); err != nil {
			log.Fatal(err)
		}
	}
}

func main() {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "server":
		serveAll(os.Args[2:])
	case len(os.Args) == 2 && os.Args[1] == "call":
		callAll()
	default:
		log.Fatal("usage: client server NAME=ADDRESS... [-xds] | client call")
	}
}
