package fault

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/sluice-db/sluice/test/rawclient"
)

// guest is a client of a fake server that holds nothing but its connection, so that a test
// can have thousands.
type guest struct {
	net.Conn
	done byte // commands
}

// guestLogin is the login of a user app without a password.
var guestLogin = append(append([]byte{60, 0, 0, 1, 0x85, 0xa2, 0x0a, 0x00, 0, 0, 0, 1, 45}, make([]byte, 23)...),
	"app\x00\x00mysql_native_password\x00\x00"...)

func enter(addr string) (*guest, error) {
	conn, err := net.DialTimeout("tcp", addr, rawclient.Deadline)
	if err != nil {
		return nil, err
	}
	g := &guest{Conn: conn}
	if err := g.login(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return g, nil
}

func (g *guest) login() error {
	_ = g.SetDeadline(time.Now().Add(rawclient.Deadline))
	if _, first, err := skipPacket(g.Conn); err != nil || first != 10 {
		return fmt.Errorf("greeting: packet %#x, %w", first, err)
	}
	if _, err := g.Write(guestLogin); err != nil {
		return err
	}
	return g.expectOK()
}

// ping runs a command and looks whether the answer is this session's.
func (g *guest) ping() error {
	_ = g.SetDeadline(time.Now().Add(rawclient.Deadline))
	if _, err := g.Write([]byte{1, 0, 0, 0, rawclient.ComPing}); err != nil {
		return err
	}
	return g.expectOK()
}

func (g *guest) expectOK() error {
	var p [11]byte
	_, err := io.ReadFull(g.Conn, p[:])
	if err == nil && (p[4] != 0 || p[5] != g.done) {
		err = fmt.Errorf("%x is not OK number %d", p, g.done)
	}
	g.done = (g.done + 1) % 251
	return err
}

// quit leaves as it should be.
func (g *guest) quit() {
	_, _ = g.Write([]byte{1, 0, 0, 0, rawclient.ComQuit})
	_, _ = g.Read(make([]byte, 1))
	_ = g.Close()
}

// enterAll has n guests, which leave at the test's end at the latest.
func enterAll(t *testing.T, addr string, n int) []*guest {
	t.Helper()
	guests := make([]*guest, n)
	var group errgroup.Group
	group.SetLimit(32)
	for i := range guests {
		group.Go(func() (err error) {
			guests[i], err = enter(addr)
			return err
		})
	}
	err := group.Wait()
	t.Cleanup(func() { leaveAll(guests) })
	require.NoError(t, err)
	return guests
}

func leaveAll(guests []*guest) {
	for _, g := range guests {
		if g != nil {
			_ = g.Close()
		}
	}
}

// regular is a guest that works on beside a crowd, and must notice nothing.
type regular struct {
	served int
	err    error
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func startRegular(t *testing.T, addr string) *regular {
	t.Helper()
	g, err := enter(addr)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r := &regular{cancel: cancel}
	r.done.Go(func() {
		for r.err == nil && ctx.Err() == nil {
			r.err = g.ping()
			r.served++
			time.Sleep(time.Millisecond)
		}
		g.quit()
	})
	t.Cleanup(r.cancel)
	return r
}

func (r *regular) check(t *testing.T) {
	t.Helper()
	r.cancel()
	r.done.Wait()
	require.NoError(t, r.err)
	require.NotZero(t, r.served)
}
