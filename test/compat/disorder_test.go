package compat

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// TestLoginOutOfOrder sends a login, and the answer to an auth switch, with the sequence
// id of a first command, as clients do that take the switch for the end of the login.
func TestLoginOutOfOrder(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.SharedSluice(t, server.Kind)
		for name, early := range map[string]bool{"login": true, "answer": false} {
			direct := disorder(t, server.Addr, early)
			require.Contains(t, direct, "Got packets out of order", name)
			require.Equal(t, direct, strings.Replace(disorder(t, sluice.Addr, early), "sluice: ", "", 1), name)
		}
	})
}

// disorder returns the server's last packet, with its sequence id.
func disorder(t *testing.T, addr string, early bool) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(rawclient.Deadline)))
	receive := func() string {
		header := make([]byte, 4)
		_, err := io.ReadFull(conn, header)
		require.NoError(t, err)
		payload := make([]byte, int(header[0])|int(header[1])<<8)
		_, err = io.ReadFull(conn, payload)
		require.NoError(t, err)
		return string(header[3]) + string(payload)
	}
	send := func(seq byte, payload string) {
		_, err := conn.Write(append([]byte{byte(len(payload)), 0, 0, seq}, payload...))
		require.NoError(t, err)
	}
	receive()
	// CLIENT_PROTOCOL_41, CLIENT_SECURE_CONNECTION and CLIENT_PLUGIN_AUTH
	login := "\x00\x82\x08\x00\x00\x00\x00\x01\x2d" + strings.Repeat("\x00", 23) + "app\x00\x00" + rawclient.ClearPassword + "\x00"
	if early {
		send(0, login)
		return receive()
	}
	send(1, login)
	require.Equal(t, "\x02\xfe", receive()[:2], "an auth switch")
	send(0, "\x03SELECT 1")
	return receive()
}
