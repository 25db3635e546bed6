package inject

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	meshconfig "istio.io/api/mesh/v1alpha1"
)

// Istio's defaults, as far as they are left out of a pod.
var proxyDefaults = &meshconfig.ProxyConfig{
	ConfigPath:               "./etc/istio/proxy",
	BinaryPath:               "/usr/local/bin/envoy",
	ClusterName:              &meshconfig.ProxyConfig_ServiceCluster{ServiceCluster: "istio-proxy"},
	DrainDuration:            durationpb.New(45 * time.Second),
	TerminationDrainDuration: durationpb.New(5 * time.Second),
	ProxyAdminPort:           15000,
	ControlPlaneAuthPolicy:   meshconfig.AuthenticationPolicy_MUTUAL_TLS,
	DiscoveryAddress:         "istiod.istio-system.svc:15012",
	StatNameLength:           189,
	StatusPort:               15020,
}

// A message as JSON on one line; of a ProxyConfig only the fields that are not as the defaults have them.
func protoToJSON(message proto.Message) string {
	if message == nil || reflect.ValueOf(message).IsNil() {
		return emptyObject
	}
	if proxy, is := message.(*meshconfig.ProxyConfig); is {
		message = withoutDefaults(proxy)
	}
	text, err := protojson.Marshal(message)
	if err != nil {
		return emptyObject
	}
	var line bytes.Buffer
	if json.Compact(&line, text) != nil {
		return emptyObject
	}
	return line.String()
}

func withoutDefaults(proxy *meshconfig.ProxyConfig) proto.Message {
	rest := proto.Clone(proxy).(*meshconfig.ProxyConfig)
	message, defaults := rest.ProtoReflect(), proxyDefaults.ProtoReflect()
	defaults.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if message.Has(field) && message.Get(field).Equal(value) {
			message.Clear(field)
		}
		return true
	})
	return rest
}
