package apiserver

import (
	"crypto/x509"
	"net"
	"testing"
)

// The certificate is valid for the address that the server listens on.
func TestCertificateIsOfTheAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.2:0", "127.0.0.1:80", "localhost:0", "[::1]:0"} {
		c, err := newCertificate(address)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(c.pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		if err := leaf.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
}
