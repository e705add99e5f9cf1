package fault

import (
	"bytes"
	"crypto/tls"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// headers are 10,000 headers of packets of 16 MiB, without the packets.
var headers = bytes.Repeat([]byte{0xff, 0xff, 0xff, 0x00}, 10_000)

// TestGarbage (F079) sends garbage at each place of a session, and lengths that announce
// what never comes: sluice's memory stays bounded, a session that works notices nothing.
func TestGarbage(t *testing.T) {
	t.Parallel()
	anyone := &tls.Config{InsecureSkipVerify: true}
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.StartSluice(t, server)
		working := startHealthy(t, server, sluice)
		before := usageOf(t, sluice)
		for name, begin := range map[string]func() (net.Conn, error){
			"at first": func() (net.Conn, error) { return net.DialTimeout("tcp", sluice.Addr, rawclient.Deadline) },
			"in TLS before the login": func() (net.Conn, error) {
				conn := connect(t, sluice.Addr)
				greeting(t, conn)
				if _, err := conn.Write(sslRequest); err != nil {
					return nil, err
				}
				layer := tls.Client(conn, anyone)
				return layer, layer.Handshake()
			},
			"after the login": func() (net.Conn, error) { return loggedIn(sluice.Addr, rawclient.Options{}) },
			"in TLS":          func() (net.Conn, error) { return loggedIn(sluice.Addr, rawclient.Options{TLS: anyone}) },
			"for zlib": func() (net.Conn, error) {
				return loggedIn(sluice.Addr, rawclient.Options{Compression: rawclient.Compression{Algorithm: rawclient.Zlib}})
			},
			"for zstd": func() (net.Conn, error) {
				return loggedIn(sluice.Addr, rawclient.Options{Compression: rawclient.Compression{Algorithm: rawclient.Zstd}})
			},
		} {
			t.Run(name, func(t *testing.T) { pester(t, begin) })
		}
		settlesTo(t, sluice, before, 1)
		staysWithin(t, sluice, 256*mib)
		require.NotContains(t, sluice.Log(1000), "panic")
		working.check(t, server, sluice)
	})
}

// loggedIn is what is below a client after its login.
func loggedIn(addr string, o rawclient.Options) (net.Conn, error) {
	o.User, o.Password, o.Schema = "app", "app", "test"
	c, err := rawclient.Dial(addr, o)
	if err != nil {
		return nil, err
	}
	return c.Raw(), nil
}

// pester opens ten connections for each kind of garbage and leaves them together, when
// sluice has read it all.
func pester(t *testing.T, begin func() (net.Conn, error)) {
	t.Helper()
	const each = 10
	random := rand.NewChaCha8([32]byte{1})
	kinds := [][]byte{
		headers,
		{0xff, 0xff, 0xff, 0x00}, // 16 MiB, or half the header of a compressed packet
		{0xff, 0xff, 0xff, 0x00, 0xff, 0xff, 0xff, 0x00, 0xff}, // 16 MiB compressed to 16 MiB
		// A frame of zstd with a window of 16 MiB, in a compressed packet.
		{0xff, 0xff, 0xff, 0x00, 0xff, 0xff, 0xff, 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70},
	}
	for range long(3, 30) {
		noise := make([]byte, 1+random.Uint64()%100_000)
		_, _ = random.Read(noise)
		kinds = append(kinds, noise)
	}
	for _, kind := range kinds {
		var group errgroup.Group
		for range each {
			group.Go(func() error {
				conn, err := begin()
				if err != nil {
					return err
				}
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(200 * time.Millisecond))
				_, _ = conn.Write(kind)
				_, _ = io.Copy(io.Discard, conn)
				return nil
			})
		}
		require.NoError(t, group.Wait())
	}
}
