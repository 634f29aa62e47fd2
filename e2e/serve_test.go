package e2e

// The server process: etcd and the apiextensions-apiserver, started by TestMain.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/client-go/rest"
)

// serverEnv holds a serverConfig as JSON. Where it is set, the test binary is the server.
const serverEnv = "INFORMERBENCH_E2E_SERVER"

// serverConfig tells the server process where its state and its keys are.
type serverConfig struct {
	// Dir holds etcd's data and the files of newKeys. It outlives the process.
	Dir string
	// Flags are passed to the apiextensions-apiserver after those that it needs.
	Flags []string
}

// serverAddresses is the line that the server process prints when it is healthy.
type serverAddresses struct {
	API  string // host:port, TLS
	Etcd string // URL
}

// startTimeout bounds the start of etcd and of the API server, each.
const startTimeout = time.Minute

// serve runs the server until standard input ends, which it does when the test
// process dies. It is never stopped gracefully otherwise: tests kill it.
func serve(encoded string) error {
	var config serverConfig
	if err := json.Unmarshal([]byte(encoded), &config); err != nil {
		return err
	}
	etcdURL, err := startEtcd(config.Dir)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	address, failed, err := startAPIServer(config, etcdURL)
	if err != nil {
		return fmt.Errorf("start the API server: %w", err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(
		serverAddresses{API: address, Etcd: etcdURL}); err != nil {
		return err
	}
	parentGone := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		parentGone <- err
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("the API server ended: %w", err)
	case err := <-parentGone:
		return err
	}
}

// startEtcd starts a single member on a free port and returns its client URL.
func startEtcd(dir string) (string, error) {
	config := embed.NewConfig()
	config.Dir = filepath.Join(dir, "etcd")
	config.LogOutputs = []string{"stderr"}
	config.LogLevel = "error"
	// Peers are never contacted: there are none. A port of 0 is a free one.
	loopback := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{loopback}, []url.URL{loopback}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{loopback}, []url.URL{loopback}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	// The defaults suit a network between members; one member elects itself at once.
	config.TickMs, config.ElectionMs = 10, 100
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return "", err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return "http://" + etcd.Clients[0].Addr().String(), nil
	case err := <-etcd.Err():
		return "", err
	case <-time.After(startTimeout):
		return "", errors.New("no leader within " + startTimeout.String())
	}
}

// startAPIServer starts the apiextensions-apiserver on a free port. The channel gets
// the error that it ends with.
func startAPIServer(config serverConfig, etcdURL string) (address string, failed <-chan error,
	err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	o := options.NewCustomResourceDefinitionsServerOptions(os.Stdout, os.Stderr)
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	o.AddFlags(flags)
	kubeconfig := filepath.Join(config.Dir, nobodyFile)
	err = flags.Parse(append([]string{
		"--etcd-servers", etcdURL,
		"--client-ca-file", filepath.Join(config.Dir, caFile),
		"--tls-cert-file", filepath.Join(config.Dir, serverCertFile),
		"--tls-private-key-file", filepath.Join(config.Dir, serverKeyFile),
		// There is no kube-apiserver to delegate to: client certificates are enough,
		// and what would ask one for namespaces, webhooks and limits is off.
		"--authentication-skip-lookup",
		"--authentication-kubeconfig", kubeconfig,
		"--authorization-kubeconfig", kubeconfig,
		"--kubeconfig", kubeconfig,
		"--enable-priority-and-fairness=false",
		"--disable-admission-plugins",
		"NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ValidatingAdmissionPolicy,MutatingAdmissionPolicy",
	}, config.Flags...))
	if err != nil {
		return "", nil, err
	}
	secure := o.RecommendedOptions.SecureServing
	secure.Listener, secure.BindPort = listener, listener.Addr().(*net.TCPAddr).Port
	if err := errors.Join(o.ServerRunOptions.ComponentGlobalsRegistry.Set(), o.Complete(),
		o.Validate()); err != nil {
		return "", nil, err
	}
	c, err := o.Config()
	if err != nil {
		return "", nil, err
	}
	definitions := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(
		generatedopenapi.GetOpenAPIDefinitions)
	c.GenericConfig.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions,
		openapinamer.NewDefinitionNamer(apiserver.Scheme))
	c.GenericConfig.BuildHandlerChainFunc = func(handler http.Handler,
		generic *genericapiserver.Config) http.Handler {
		return genericapiserver.DefaultBuildHandlerChain(withGroups(handler), generic)
	}
	server, err := c.Complete().New(genericapiserver.NewEmptyDelegate())
	if err != nil {
		return "", nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.GenericAPIServer.PrepareRun().RunWithContext(context.Background()) }()
	if err := awaitHealth(server.GenericAPIServer.LoopbackClientConfig, ended); err != nil {
		return "", nil, err
	}
	return listener.Addr().String(), ended, nil
}

// awaitHealth polls /healthz, which answers 200 when the CRDs have been read. (/readyz
// never does: it awaits informers of the kube-apiserver that there is not.)
func awaitHealth(config *rest.Config, ended <-chan error) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	last := errors.New("no answer")
	for deadline := time.After(startTimeout); ; {
		select {
		case err := <-ended:
			return err
		case <-deadline:
			return fmt.Errorf("not ready within %s: %w", startTimeout, last)
		case <-tick.C:
		}
		response, err := client.Get(config.Host + "/healthz")
		if err != nil {
			last = err
			continue
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
		last = fmt.Errorf("%s: %s", response.Status, body)
	}
}
