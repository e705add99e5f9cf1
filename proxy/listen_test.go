package proxy

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file that is no socket used to be removed to make room for one.
func TestListenRemovesNothingButStaleSockets(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) Address { return Address{Network: "unix", Addr: filepath.Join(dir, name)} }

	require.NoError(t, os.WriteFile(at("file").Addr, []byte("precious"), 0o600))
	_, err := listen(at("file"))
	require.EqualError(t, err, "listen on "+at("file").String()+": there is a file that is no socket; choose another path, or remove the file")
	require.EqualError(t, Listenable(at("file"))[0], err.Error())
	text, err := os.ReadFile(at("file").Addr)
	require.NoError(t, err)
	require.Equal(t, "precious", string(text))

	require.NoError(t, os.Mkdir(at("dir").Addr, 0o700))
	_, err = listen(at("dir"))
	require.ErrorIs(t, err, errNoSocket)

	// A socket is followed only if it is one: a link to a file is not.
	require.NoError(t, os.Symlink(at("file").Addr, at("link").Addr))
	_, err = listen(at("link"))
	require.ErrorIs(t, err, errNoSocket)

	l, err := listen(at("live"))
	require.NoError(t, err)
	_, err = listen(at("live"))
	require.EqualError(t, err, "listen on "+at("live").String()+": address already in use; stop what listens there, or choose another address")
	require.EqualError(t, Listenable(at("live"))[0], err.Error())
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	require.NoError(t, Listenable(at("live"))[0])
	require.FileExists(t, at("live").Addr, "a look removes nothing")
	l, err = listen(at("live"))
	require.NoError(t, err, "nobody listens there any more")
	require.NoError(t, l.Close())
	require.NoError(t, Listenable(at("live"))[0])
}

// Every mistake has its address, its cause and what to do.
func TestListenErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	for _, c := range []struct {
		network, addr, want string
	}{
		{"tcp", taken.Addr().String(), "address already in use; stop what listens there, or choose another address"},
		{"tcp", "192.0.2.1:3307", "cannot assign requested address; it is none of this machine's: choose one that is, or :PORT for all"},
		{"unix", "/nonexistent/s", "no such file or directory; make the directory"},
	} {
		a := Address{Network: c.network, Addr: c.addr}
		_, err := listen(a)
		require.ErrorContains(t, err, "listen on "+a.String()+": ")
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, Listenable(a)[0], c.want)
	}
}
