package e2e

// The keys of the server and of its clients. They stay the same when the server
// starts again, so that clients go on.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// The files in a server's folder. nobodyFile is a kubeconfig that leads nowhere:
// the server insists on one and never uses it.
const (
	caFile         = "ca.crt"
	serverCertFile = "server.crt"
	serverKeyFile  = "server.key"
	clientCertFile = "client.crt"
	clientKeyFile  = "client.key"
	nobodyFile     = "nobody.kubeconfig"
)

const nobodyKubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: nobody, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: nobody, context: {cluster: nobody, user: nobody}}]
users: [{name: nobody, user: {}}]
current-context: nobody
`

// writeKeys writes an authority, the server's certificate, and a client's of the
// group system:masters, which the API server lets do everything.
func writeKeys(dir string) error {
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "e2e-ca"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	caDER, err := x509.CreateCertificate(rand.Reader, authority, authority, caKey.Public(), caKey)
	if err != nil {
		return err
	}
	leaf := func(serial int64, subject pkix.Name, usage x509.ExtKeyUsage, certFile,
		keyFile string) error {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: subject,
			NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		}, authority, key.Public(), caKey)
		if err != nil {
			return err
		}
		keyDER, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			return err
		}
		return errors.Join(writePEM(dir, certFile, "CERTIFICATE", der),
			writePEM(dir, keyFile, "PRIVATE KEY", keyDER))
	}
	return errors.Join(
		writePEM(dir, caFile, "CERTIFICATE", caDER),
		leaf(2, pkix.Name{CommonName: "server"}, x509.ExtKeyUsageServerAuth, serverCertFile,
			serverKeyFile),
		leaf(3, pkix.Name{CommonName: "e2e", Organization: []string{"system:masters"}},
			x509.ExtKeyUsageClientAuth, clientCertFile, clientKeyFile),
		os.WriteFile(filepath.Join(dir, nobodyFile), []byte(nobodyKubeconfig), 0o600),
	)
}

func writePEM(dir, file, kind string, der []byte) error {
	return os.WriteFile(filepath.Join(dir, file),
		pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
