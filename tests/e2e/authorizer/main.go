// An authorizer of Envoy's ext_authz over gRPC, with grpc-go and Envoy's own API:
//
//	authorizer PORT NAME
//
// A request with "x-pass: yes" may go on, and its server is told by whom in "x-checked-by"; another is answered 403 with
// NAME and whom the certificates of the connection name.
package main

import (
	"context"
	"log"
	"net"
	"os"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	authv3 "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

type authorizer struct {
	authv3.UnimplementedAuthorizationServer
	name string
}

func (a authorizer) Check(_ context.Context, request *authv3.CheckRequest) (*authv3.CheckResponse, error) {
	attributes := request.GetAttributes()
	if attributes.GetRequest().GetHttp().GetHeaders()["x-pass"] == "yes" {
		checked := &corev3.HeaderValueOption{Header: &corev3.HeaderValue{Key: "x-checked-by", Value: a.name}}
		return &authv3.CheckResponse{
			Status: &rpcstatus.Status{Code: int32(codes.OK)},
			HttpResponse: &authv3.CheckResponse_OkResponse{
				OkResponse: &authv3.OkHttpResponse{Headers: []*corev3.HeaderValueOption{checked}}},
		}, nil
	}
	return &authv3.CheckResponse{
		Status: &rpcstatus.Status{Code: int32(codes.PermissionDenied)},
		HttpResponse: &authv3.CheckResponse_DeniedResponse{
			DeniedResponse: &authv3.DeniedHttpResponse{
				Status: &typev3.HttpStatus{Code: typev3.StatusCode_Forbidden},
				Body:   a.name + " says no to " + attributes.GetSource().GetPrincipal(),
			}},
	}, nil
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("authorizer PORT NAME")
	}
	listener, err := net.Listen("tcp", ":"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	authv3.RegisterAuthorizationServer(server, authorizer{name: os.Args[2]})
	log.Fatal(server.Serve(listener))
}
