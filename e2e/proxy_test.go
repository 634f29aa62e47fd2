package e2e

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy forwards TCP connections from a fixed address to the server's address of the
// moment. It cuts connections, refuses them, and stops reading answers.
type proxy struct {
	listener net.Listener
	running  sync.WaitGroup

	mu struct {
		sync.Mutex
		backend string
		conns   map[net.Conn]bool // both ends of each
		down    bool              // connections are refused
		flowing chan struct{}     // closed unless answers are held back
	}
}

// newProxy listens on a free loopback port until the test ends.
func newProxy(t testing.TB) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener}
	p.mu.conns = map[net.Conn]bool{}
	p.mu.flowing = make(chan struct{})
	close(p.mu.flowing)
	p.running.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.flow()
		p.setDown(true)
		p.running.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // the listener is closed
		}
		p.running.Go(func() { p.forward(client) })
	}
}

func (p *proxy) forward(client net.Conn) {
	defer func() { _ = client.Close() }()
	p.mu.Lock()
	backend := p.mu.backend
	p.mu.Unlock()
	server, err := net.Dial("tcp", backend)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	// Small buffers, so that a server soon notices that its answers are not read.
	if tcp, ok := server.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(32 << 10)
	}
	if !p.register(client, server) {
		return
	}
	defer p.forget(client, server)
	var copying sync.WaitGroup
	copying.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	p.answer(client, server)
	_ = client.Close()
	copying.Wait()
}

// answer copies from the server to the client, except while answers are held back.
func (p *proxy) answer(client io.Writer, server io.Reader) {
	buffer := make([]byte, 16<<10)
	for {
		n, err := server.Read(buffer)
		p.mu.Lock()
		flowing := p.mu.flowing
		p.mu.Unlock()
		<-flowing
		if n > 0 {
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// register notes connections, which cut closes then. It is false while the line is down:
// nothing is noted, and the caller closes them.
func (p *proxy) register(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.down {
		return false
	}
	for _, c := range conns {
		p.mu.conns[c] = true
	}
	return true
}

func (p *proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.mu.conns, c)
	}
}

// retarget sends new connections to another address.
func (p *proxy) retarget(backend string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.backend = backend
}

// cut ends every connection and returns how many there were.
func (p *proxy) cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.mu.conns {
		_ = c.Close()
	}
	return len(p.mu.conns) / 2
}

// setDown refuses connections, and cuts those that there are, or admits them again.
func (p *proxy) setDown(down bool) {
	p.mu.Lock()
	p.mu.down = down
	p.mu.Unlock()
	if down {
		p.cut()
	}
}

// hold stops reading the server's answers until flow.
func (p *proxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.flowing = make(chan struct{})
}

// flow undoes hold.
func (p *proxy) flow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.mu.flowing:
	default:
		close(p.mu.flowing)
	}
}
