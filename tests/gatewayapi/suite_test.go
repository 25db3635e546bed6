// The Gateway API's conformance suite, unmodified, against a Fairlead that reads and writes files. conformance.py starts
// it in the network of the Pods, with what is needed in its environment.
package gatewayapi

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/gateway-api/apis/v1alpha2"
	"sigs.k8s.io/gateway-api/apis/v1alpha3"
	"sigs.k8s.io/gateway-api/apis/v1beta1"
	xv1alpha1 "sigs.k8s.io/gateway-api/apisx/v1alpha1"
	"sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/tests"
	"sigs.k8s.io/gateway-api/conformance/utils/config"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
	"sigs.k8s.io/gateway-api/pkg/features"

	"fairlead.dev/tests/gatewayapi/cluster"
)

const className = "istio"

// supportedFeatures are those that Istio declares at the pinned version and UDPRoute, or every one with EVERY_FEATURE.
func supportedFeatures() []features.FeatureName {
	supported := features.AllFeatures.Clone()
	if os.Getenv("EVERY_FEATURE") == "" {
		supported.Delete(
			features.GatewayBackendClientCertificateFeature,
			features.GatewayHTTPSListenerDetectMisdirectedRequestsFeature,
			features.MeshClusterIPMatchingFeature)
	}
	return features.SetsToNamesSet(supported).UnsortedList()
}

var profiles = []suite.ConformanceProfileName{suite.GatewayHTTPConformanceProfileName, suite.GatewayTLSConformanceProfileName,
	suite.GatewayGRPCConformanceProfileName, suite.GatewayTCPConformanceProfileName, suite.GatewayUDPConformanceProfileName, suite.MeshHTTPConformanceProfileName}

// waits are the suite's, shortened where a test that fails would wait minutes for a status.
func waits() config.TimeoutConfig {
	w := config.DefaultTimeoutConfig()
	for _, one := range []*time.Duration{
		&w.GatewayMustHaveAddress, &w.GatewayMustHaveCondition, &w.GatewayStatusMustHaveListeners,
		&w.GatewayListenersMustHaveConditions, &w.ListenerSetMustHaveCondition, &w.ListenerSetListenersMustHaveConditions,
		&w.GWCMustBeAccepted, &w.HTTPRouteMustNotHaveParents, &w.HTTPRouteMustHaveCondition, &w.TLSRouteMustHaveCondition,
		&w.TCPRouteMustHaveCondition, &w.UDPRouteMustHaveCondition, &w.RouteMustHaveParents, &w.LatestObservedGenerationSet} {
		*one = 30 * time.Second
	}
	return w
}

func newScheme(t *testing.T) *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, gatewayv1.Install, v1beta1.Install, v1alpha2.Install,
		v1alpha3.Install, xv1alpha1.Install, apiextensionsv1.AddToScheme} {
		require.NoError(t, add(s))
	}
	return s
}

func setting(t *testing.T, name string) string {
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: the suite is started by conformance.py", name)
	}
	return value
}

// serve starts the server that stands in for Kubernetes' and tells where it is.
func serve(t *testing.T) (*rest.Config, *cluster.Server) {
	server, err := cluster.New(cluster.Folders{Objects: setting(t, "OBJECTS"), Statuses: setting(t, "STATUSES"),
		Logs: setting(t, "LOGS"), Networks: setting(t, "NETWORKS"), Client: setting(t, "MESH_CLIENT")}, os.DirFS(setting(t, "DEFINITIONS")))
	require.NoError(t, err)
	listener, err := net.Listen("tcp", setting(t, "API_ADDRESS"))
	require.NoError(t, err)
	go func() { _ = http.Serve(listener, server) }()
	go server.ReadStatuses(context.Background())
	return &rest.Config{Host: fmt.Sprintf("http://%s", listener.Addr()), QPS: -1, ContentConfig: rest.ContentConfig{
		ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON}}, server
}

// chosen gives the tests that ONLY names, all if it names none.
func chosen(all []suite.ConformanceTest) []suite.ConformanceTest {
	only := os.Getenv("ONLY")
	if only == "" {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(test suite.ConformanceTest) bool {
		return !slices.Contains(strings.Split(only, ","), test.ShortName)
	})
}

// createClass makes the GatewayClass that Istio makes for itself.
func createClass(t *testing.T, c client.Client) {
	class := &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: className},
		Spec: gatewayv1.GatewayClassSpec{ControllerName: "istio.io/gateway-controller"}}
	require.NoError(t, c.Create(context.Background(), class))
}

func TestGatewayAPI(t *testing.T) {
	log.SetLogger(zap.New(zap.WriteTo(os.Stdout)))
	at, server := serve(t)
	clientOptions := client.Options{Scheme: newScheme(t), Mapper: server.Mapper}
	c, err := client.New(at, clientOptions)
	require.NoError(t, err)
	createClass(t, c)
	kube, err := clientset.NewForConfig(at)
	require.NoError(t, err)
	hostname := gatewayv1.HostnameAddressType
	options := suite.ConformanceOptions{
		ConfigurableOptions: suite.ConfigurableOptions{
			GatewayClassName:         className,
			CleanupTestResources:     true,
			SupportedFeatures:        supportedFeatures(),
			ConformanceProfiles:      profiles,
			TimeoutConfig:            waits(),
			UsableNetworkAddresses:   []gatewayv1.GatewaySpecAddress{{Value: "infra-backend-v1.gateway-conformance-infra.svc.cluster.local", Type: &hostname}},
			UnusableNetworkAddresses: []gatewayv1.GatewaySpecAddress{{Value: "foo", Type: &hostname}},
		},
		Client: c, ClientOptions: clientOptions, Clientset: kube, RestConfig: at,
		ManifestFS: []fs.FS{&conformance.Manifests},
	}
	s, err := suite.NewConformanceTestSuite(options)
	require.NoError(t, err)
	s.Setup(t, tests.ConformanceTests)
	require.NoError(t, s.Run(t, chosen(tests.ConformanceTests)))
}
