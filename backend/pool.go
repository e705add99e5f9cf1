package backend

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// pool holds the service account's connections: at most size at work at a time.
type pool struct {
	account Account
	slots   chan struct{}

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

func newPool(a Account, size int) *pool {
	return &pool{account: a, slots: make(chan struct{}, max(size, 1))}
}

// get waits for a slot and returns a connection, a new one if none is idle.
func (p *pool) get(ctx context.Context) (*conn, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	c, err := p.open(ctx)
	if err != nil {
		<-p.slots
		return nil, err
	}
	return c, nil
}

func (p *pool) open(ctx context.Context) (*conn, error) {
	c, err := dial(ctx, p.account)
	if err == nil {
		if err = c.prepare(); err == nil {
			return c, nil
		}
		_ = c.Close()
	}
	mend := ""
	if denied(err) {
		mend = "; mend the account: its name and host on the server, its password there and in SLUICE_BACKEND_PASSWORD or backend.password_file"
	}
	return nil, fmt.Errorf("service account at %s: %w%s", p.account.Addr, err, mend)
}

// put gives a connection back; with broken it is closed.
func (p *pool) put(c *conn, broken bool) {
	p.mu.Lock()
	if broken || p.closed {
		_ = c.Close()
	} else {
		_ = c.SetDeadline(time.Time{})
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	<-p.slots
}

// forget closes the idle connections: after the server went away none is worth trying.
func (p *pool) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle {
		_ = c.Close()
	}
	p.idle = nil
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.forget()
}
