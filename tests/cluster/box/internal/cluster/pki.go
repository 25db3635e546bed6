package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// writePKI makes one certificate authority and every key of the cluster, anew
// for each start.
func (c *Cluster) writePKI() error {
	ca, err := c.newCA()
	if err != nil {
		return err
	}
	apiNames := []string{"localhost", nodeName, "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + domain}
	apiIPs := []string{"127.0.0.1", nodeIP, apiServiceIP}
	for _, l := range []struct {
		file, name, group string
		dns, ips          []string
	}{
		{"apiserver", "kube-apiserver", "", apiNames, apiIPs},
		{"kubelet-serving", "system:node:" + nodeName, "system:nodes", []string{nodeName}, []string{nodeIP, "127.0.0.1"}},
		{"admin", "kubernetes-admin", "system:masters", nil, nil},
		{"apiserver-kubelet-client", "kube-apiserver-kubelet-client", "system:masters", nil, nil},
		{"kubelet", "system:node:" + nodeName, "system:nodes", nil, nil},
		{"kube-controller-manager", "system:kube-controller-manager", "", nil, nil},
		{"kube-scheduler", "system:kube-scheduler", "", nil, nil},
		{"kube-proxy", "system:kube-proxy", "", nil, nil},
		{"front-proxy-client", "front-proxy-client", "", nil, nil},
	} {
		if err := c.issue(ca, l.file, l.name, l.group, l.dns, l.ips); err != nil {
			return err
		}
	}
	for _, name := range []string{"kubelet", "kube-controller-manager", "kube-scheduler", "kube-proxy", "admin"} {
		if err := c.writeKubeconfig(c.path("conf", name+".kubeconfig"), name, apiAddress); err != nil {
			return err
		}
	}
	outside := c.API
	if outside == "" {
		outside = apiAddress
	}
	if err := c.writeKubeconfig(c.Kubeconfig(), "admin", outside); err != nil {
		return err
	}
	// RSA, as most clusters have it: some readers of the keys know only that.
	sa, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	pub, err := x509.MarshalPKIXPublicKey(&sa.PublicKey)
	if err != nil {
		return err
	}
	if err := writePEM(c.path("pki", "sa.pub"), "PUBLIC KEY", pub, 0o644); err != nil {
		return err
	}
	return writePEM(c.path("pki", "sa.key"), "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(sa), 0o600)
}

func (c *Cluster) newCA() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := template("kubebox-ca", "")
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{cert, key}, c.writePair("ca", der, key)
}

func template(name, group string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err)
	}
	subject := pkix.Name{CommonName: name}
	if group != "" {
		subject.Organization = []string{group}
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
	}
}

func (c *Cluster) issue(ca *authority, file, name, group string, dns, ips []string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	t := template(name, group)
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(ips) > 0 {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	t.DNSNames = dns
	for _, ip := range ips {
		t.IPAddresses = append(t.IPAddresses, net.ParseIP(ip))
	}
	der, err := x509.CreateCertificate(rand.Reader, t, ca.cert, &key.PublicKey, ca.key)
	if err != nil {
		return err
	}
	return c.writePair(file, der, key)
}

func (c *Cluster) writePair(name string, der []byte, key *ecdsa.PrivateKey) error {
	if err := writePEM(c.path("pki", name+".crt"), "CERTIFICATE", der, 0o644); err != nil {
		return err
	}
	k, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(c.path("pki", name+".key"), "EC PRIVATE KEY", k, 0o600)
}

func writePEM(path, kind string, data []byte, mode os.FileMode) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), mode)
}

// writeKubeconfig writes a kubeconfig that carries its keys, so that it may be copied.
func (c *Cluster) writeKubeconfig(path, user, server string) error {
	var data [3]string
	for i, name := range []string{"ca.crt", user + ".crt", user + ".key"} {
		b, err := os.ReadFile(c.path("pki", name))
		if err != nil {
			return err
		}
		data[i] = base64.StdEncoding.EncodeToString(b)
	}
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: kubebox
  cluster: {server: "https://%[1]s", certificate-authority-data: %[2]s}
users:
- name: %[3]s
  user: {client-certificate-data: %[4]s, client-key-data: %[5]s}
contexts:
- name: kubebox
  context: {cluster: kubebox, user: %[3]s}
current-context: kubebox
`, server, data[0], user, data[1], data[2])
	return os.WriteFile(path, []byte(text), 0o600)
}
