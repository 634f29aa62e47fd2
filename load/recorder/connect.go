package recorder

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Cluster holds the clients of a recording: three clients of one apiserver.
type Cluster struct {
	Host      string // as in the kubeconfig, without credentials; for messages and the trace's source
	Namespace string // of the kubeconfig's context
	Discovery discovery.DiscoveryInterface
	Dynamic   dynamic.Interface
	Metadata  metadata.Interface

	credentials string // "user:password@" of the server's URL, which must not be shown
}

// answerWithin bounds the wait for discovery; lists and watches end with their context.
const answerWithin = 15 * time.Second

// Connect makes the clients of a kubeconfig file. If kubeconfig is "" it uses $KUBECONFIG
// or ~/.kube/config, as kubectl does. context is the kubeconfig's context; "" is its
// current one. Connect does not contact the cluster.
func Connect(kubeconfig, context string) (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: context})
	if raw, err := loader.RawConfig(); err == nil { // if it fails, ClientConfig reports the error
		for name, cluster := range raw.Clusters {
			if err := errors.Join(checkURL("server", cluster.Server),
				checkURL("proxy-url", cluster.ProxyURL)); err != nil {
				return nil, fmt.Errorf("kubeconfig %s: cluster %s: %w", rules.GetDefaultFilename(), name, err)
			}
		}
	}
	config, err := loader.ClientConfig()
	err = new(Cluster).hide(err)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w; use --kubeconfig FILE and --context NAME",
			rules.GetDefaultFilename(), err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", rules.GetDefaultFilename(), err)
	}
	return ConnectTo(config, namespace)
}

// ConnectTo makes the clients of a configuration.
func ConnectTo(config *rest.Config, namespace string) (*Cluster, error) {
	if err := checkURL("the server's Host", config.Host); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.UserAgent = "benchrun-record"
	config.WarningHandlerWithContext = rest.NoWarnings{}
	config.QPS, config.Burst = 50, 100 // so that a first list of many pages is not throttled much
	c := &Cluster{Host: shown(config.Host), Namespace: namespace,
		credentials: credentialsOf(config.Host)}
	quick := rest.CopyConfig(config)
	quick.Timeout = answerWithin
	var err error
	if c.Discovery, err = discovery.NewDiscoveryClientForConfig(quick); err != nil {
		return nil, c.hide(fmt.Errorf("connect to %s: %w", c.Host, err))
	}
	if c.Dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, c.hide(fmt.Errorf("connect to %s: %w", c.Host, err))
	}
	if c.Metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, c.hide(fmt.Errorf("connect to %s: %w", c.Host, err))
	}
	return c, nil
}
