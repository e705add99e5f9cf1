package main

import (
	"database/sql"
	"net"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// TestFakeServesARealDriver runs text and prepared statements, plain and spinning.
func TestFakeServesARealDriver(t *testing.T) {
	for _, spin := range []time.Duration{0, 50 * time.Microsecond} {
		t.Run(spin.String(), func(t *testing.T) {
			listener, err := net.Listen("tcp4", "127.0.0.1:0")
			require.NoError(t, err)
			var server sync.WaitGroup
			var failed error
			server.Go(func() {
				conn, err := listener.Accept()
				if err != nil {
					failed = err
					return
				}
				defer conn.Close()
				failed = newSession(conn, 7, spin).run()
			})
			db, err := sql.Open("mysql", "anyone:secret@tcp("+listener.Addr().String()+")/x")
			require.NoError(t, err)
			db.SetMaxOpenConns(1)
			for range 3 {
				result, err := db.Exec("INSERT INTO t VALUES (1)")
				require.NoError(t, err)
				affected, err := result.RowsAffected()
				require.NoError(t, err)
				require.EqualValues(t, 1, affected)
			}
			prepared, err := db.Prepare("INSERT INTO t VALUES (?, ?)")
			require.NoError(t, err)
			_, err = prepared.Exec("a", 2)
			require.NoError(t, err)
			require.NoError(t, prepared.Close())
			var count int
			require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM t").Scan(&count))
			require.Equal(t, 4, count)
			require.NoError(t, db.Close())
			require.NoError(t, listener.Close())
			server.Wait()
			require.NoError(t, failed)
		})
	}
}
