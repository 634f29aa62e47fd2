package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// name is the name of the cluster, the user and the context.
const name = "informerbench"

// RESTConfig returns the server's address, certificate and token for client-go's clients.
// It does not throttle (QPS is -1). Call it after Start. The config belongs to the caller.
func (s *Server) RESTConfig() *rest.Config {
	c := &rest.Config{Host: s.URL(), BearerToken: s.options.Token, QPS: -1, UserAgent: name}
	if s.cert != nil {
		c.CAData = s.cert.pem
	}
	return c
}

// Kubeconfig returns the same as a kubeconfig file, for kubectl and other programs. Every
// reader of the file can use the token.
func (s *Server) Kubeconfig() ([]byte, error) {
	c := clientcmdapi.NewConfig()
	cluster := clientcmdapi.NewCluster()
	cluster.Server = s.URL()
	if s.cert != nil {
		cluster.CertificateAuthorityData = s.cert.pem
	}
	user := clientcmdapi.NewAuthInfo()
	user.Token = s.options.Token
	c.Clusters[name] = cluster
	c.AuthInfos[name] = user
	c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	c.CurrentContext = name
	data, err := clientcmd.Write(*c)
	if err != nil {
		return nil, fmt.Errorf("apiserver: write the kubeconfig: %w", err)
	}
	return data, nil
}

// certificate is self-signed: server certificate and authority at once.
type certificate struct {
	pair tls.Certificate
	pem  []byte
}

// certificateLife is far longer than a benchmark; the key never leaves the process.
const certificateLife = 30 * 24 * time.Hour

// newCertificate makes one for localhost, 127.0.0.1, ::1, and the host of the address if that
// is another of the loopback's.
func newCertificate(address string) (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // a client's clock may be slow
		NotAfter:     now.Add(certificateLife),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:         true, BasicConstraintsValid: true,
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if host, _, err := net.SplitHostPort(address); err == nil && net.ParseIP(host) != nil {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(host))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &certificate{
		pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}, nil
}
