// Pins what the build takes from Go modules: protos, descriptors and CRDs. Nothing here is compiled.
module fairlead.dev/tools/deps

go 1.26.0

require (
	github.com/envoyproxy/go-control-plane/contrib v1.36.1-0.20260731231718-6c0b035a1609
	istio.io/api v1.31.0-alpha.1.0.20260819121012-5803fb6accf7
	k8s.io/api v0.36.1
	k8s.io/apimachinery v0.36.1
	sigs.k8s.io/gateway-api v1.6.0
)
