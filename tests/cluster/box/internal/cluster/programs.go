package cluster

import (
	"fmt"
	"os"
	"strings"
)

// program is one of the cluster's programs with its arguments.
type program struct {
	name string
	argv []string
}

func (c *Cluster) kube() string    { return programDir() + "/kube" }
func (c *Cluster) coredns() string { return programDir() + "/coredns" }

func programDir() string {
	if d := os.Getenv("KUBEBOX_PROGRAM"); d != "" {
		return strings.TrimSuffix(d, "/")
	}
	return strings.TrimSuffix(BesideProgram(""), "/")
}

func (c *Cluster) etcd() program {
	return program{"etcd", []string{"etcd",
		"--name=kubebox", "--data-dir=" + c.run("etcd"),
		"--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
		"--listen-peer-urls=http://127.0.0.1:2380", "--initial-advertise-peer-urls=http://127.0.0.1:2380",
		"--initial-cluster=kubebox=http://127.0.0.1:2380",
		"--experimental-watch-progress-notify-interval=5s",
		"--log-level=warn", "--logger=zap",
	}}
}

func (c *Cluster) apiserver() program {
	pki := func(n string) string { return c.path("pki", n) }
	return program{"kube-apiserver", append([]string{c.kube(), "kube-apiserver",
		"--etcd-servers=http://127.0.0.1:2379",
		"--advertise-address=" + nodeIP, "--secure-port=6443",
		"--service-cluster-ip-range=" + serviceNet,
		"--allow-privileged=true",
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--client-ca-file=" + pki("ca.crt"),
		"--tls-cert-file=" + pki("apiserver.crt"), "--tls-private-key-file=" + pki("apiserver.key"),
		"--kubelet-client-certificate=" + pki("apiserver-kubelet-client.crt"),
		"--kubelet-client-key=" + pki("apiserver-kubelet-client.key"),
		"--kubelet-certificate-authority=" + pki("ca.crt"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc." + domain,
		"--service-account-key-file=" + pki("sa.pub"), "--service-account-signing-key-file=" + pki("sa.key"),
		"--requestheader-client-ca-file=" + pki("ca.crt"), "--requestheader-allowed-names=front-proxy-client",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + pki("front-proxy-client.crt"), "--proxy-client-key-file=" + pki("front-proxy-client.key"),
		"--enable-aggregator-routing=true",
		"--profiling=false",
	}, c.APIFlags...)}
}

func (c *Cluster) controllerManager() program {
	return program{"kube-controller-manager", []string{c.kube(), "kube-controller-manager",
		"--kubeconfig=" + c.path("conf", "kube-controller-manager.kubeconfig"),
		"--bind-address=127.0.0.1", "--leader-elect=false", "--profiling=false",
		// At the default rate the controllers take four seconds to start.
		"--kube-api-qps=300", "--kube-api-burst=600",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + c.path("pki", "sa.key"),
		"--root-ca-file=" + c.path("pki", "ca.crt"),
		"--cluster-signing-cert-file=" + c.path("pki", "ca.crt"), "--cluster-signing-key-file=" + c.path("pki", "ca.key"),
		"--cluster-cidr=" + podNet, "--allocate-node-cidrs=false",
		"--service-cluster-ip-range=" + serviceNet,
	}}
}

func (c *Cluster) scheduler() program {
	return program{"kube-scheduler", []string{c.kube(), "kube-scheduler",
		"--kubeconfig=" + c.path("conf", "kube-scheduler.kubeconfig"),
		"--kube-api-qps=300", "--kube-api-burst=600",
		"--bind-address=127.0.0.1", "--leader-elect=false", "--profiling=false",
	}}
}

func (c *Cluster) kubelet() program {
	return program{"kubelet", []string{c.kube(), "kubelet",
		"--kubeconfig=" + c.path("conf", "kubelet.kubeconfig"),
		"--config=" + c.path("conf", "kubelet.yaml"),
		"--root-dir=" + c.run("kubelet"),
		"--hostname-override=" + nodeName, "--node-ip=" + nodeIP,
	}}
}

func (c *Cluster) proxy() program {
	return program{"kube-proxy", []string{c.kube(), "kube-proxy", "--config=" + c.path("conf", "kube-proxy.yaml")}}
}

// writeConfigs writes the configuration files of kubelet and kube-proxy, and
// the resolv.conf of the node and of "kubebox exec".
func (c *Cluster) writeConfigs() error {
	kubelet := fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %[1]s
port: 10250
readOnlyPort: 0
healthzBindAddress: 127.0.0.1
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %[2]s/pki/ca.crt}
authorization: {mode: Webhook}
tlsCertFile: %[2]s/pki/kubelet-serving.crt
tlsPrivateKeyFile: %[2]s/pki/kubelet-serving.key
rotateCertificates: false
containerRuntimeEndpoint: unix://%[2]s/run/cri.sock
podLogsDir: %[2]s/log/pods
volumePluginDir: %[2]s/run/kubelet/volume-plugins
resolvConf: %[2]s/conf/resolv.conf
clusterDNS: [%[3]s]
clusterDomain: %[4]s
# No cgroups: neither for quality of service nor for the node's own share.
cgroupsPerQOS: false
enforceNodeAllocatable: []
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
protectKernelDefaults: false
makeIPTablesUtilChains: false
localStorageCapacityIsolation: false
oomScoreAdj: 0
maxOpenFiles: 65536
maxPods: 250
podPidsLimit: -1
# The machine is shared: its full disk is not the cluster's business.
evictionHard: {memory.available: "0%%", nodefs.available: "0%%", nodefs.inodesFree: "0%%", imagefs.available: "0%%"}
imageGCHighThresholdPercent: 100
imageMaximumGCAge: 0s
registryPullQPS: 0
serializeImagePulls: false
# Quick starts matter more here than a gentle apiserver.
kubeAPIQPS: 200
kubeAPIBurst: 400
configMapAndSecretChangeDetectionStrategy: Watch
nodeStatusUpdateFrequency: 10s
nodeStatusReportFrequency: 5m
shutdownGracePeriod: 0s
`, nodeIP, c.Dir, dnsIP, domain)
	proxy := fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: %s/conf/kube-proxy.kubeconfig}
hostnameOverride: %s
mode: iptables
clusterCIDR: %s
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
oomScoreAdj: 0
# These are settings of the whole machine; it may keep its own.
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
iptables: {minSyncPeriod: 100ms, syncPeriod: 1h}
`, c.Dir, nodeName, podNet)
	resolv := fmt.Sprintf("nameserver %s\nsearch svc.%s %s\noptions ndots:3\n", dnsIP, domain, domain)
	for name, text := range map[string]string{"kubelet.yaml": kubelet, "kube-proxy.yaml": proxy, "resolv.conf": resolv, "addons.yaml": addons()} {
		if err := os.WriteFile(c.path("conf", name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
