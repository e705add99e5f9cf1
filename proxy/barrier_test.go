package proxy

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

func TestTakesLocks(t *testing.T) {
	lex := rewrite.Lex{Dialect: rewrite.MariaDB, Version: 101119, Charset: "utf8mb4"}
	for sql, want := range map[string]bool{
		"LOCK TABLES t WRITE":                               true,
		"FLUSH TABLES WITH READ LOCK":                       true,
		"FLUSH TABLES t FOR EXPORT":                         true,
		"INSERT INTO t VALUES (1); LOCK TABLES t READ":      true,
		"BACKUP STAGE BLOCK_DDL":                            true,
		"XA START 'x'":                                      true,
		"FLUSH TABLES":                                      false,
		"SELECT * FROM blocks":                              false,
		"WITH q AS (SELECT * FROM exports) SELECT * FROM q": false,
		"SELECT 1; SELECT * FROM blocks WHERE lock_id = 1":  false,
		"INSERT INTO blocks VALUES (1)":                     false,
	} {
		require.Equal(t, want, takesLocks(rewrite.Classify([]byte(sql), &lex).Kind, []byte(sql)), sql)
	}
}

func TestOnlyFoundRows(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT FOUND_ROWS()":              true,
		"select found_rows() as n":         true,
		"SELECT FOUND_ROWS(), ROW_COUNT()": false,
		"SELECT ROW_COUNT()":               false,
		"SHOW WARNINGS":                    false,
		"":                                 false,
	} {
		require.Equal(t, want, onlyFoundRows([]byte(sql)), sql)
	}
}

// What held rows take of the memory that all sessions share is given back to the byte,
// however they came to be flushed.
func TestHeldMemoryIsGivenBack(t *testing.T) {
	vars := map[string]string{"sql_mode": "", "auto_increment_increment": "1", "auto_increment_offset": "1"}
	for name, value := range map[string]string{
		"character_set_client": "utf8mb4", "character_set_connection": "utf8mb4", "collation_connection": "utf8mb4_bin",
		"time_zone": "SYSTEM", "foreign_key_checks": "ON", "unique_checks": "ON", "explicit_defaults_for_timestamp": "ON",
		"div_precision_increment": "4", "default_week_format": "0", "lc_time_names": "en_US",
	} {
		vars[name] = value
	}
	state, why := rewrite.NewState(vars, rewrite.MariaDB, 101119)
	require.Empty(t, why)
	sql := []byte("INSERT INTO x.t (a) VALUES (1)")
	table := &rewrite.Table{Schema: "x", Name: "t", Engine: "InnoDB", Transactional: true, Base: true,
		Columns: []rewrite.Column{{Name: "a", Type: "int"}}, Primary: &rewrite.Key{Parts: []rewrite.KeyPart{{}}}}
	plan, why := rewrite.NewPlan(rewrite.Form{Schema: "x", Table: "t", Columns: []string{"a"}, HasColumns: true, Width: 1}, table, state)
	require.Empty(t, why)

	for name, c := range map[string]struct {
		max, rows, bytes int
	}{
		"by rows":      {1 << 20, 3, 1 << 20},
		"by bytes":     {1 << 20, 1000, 2*len(sql) + 10},
		"by memory":    {2*len(sql) + 10, 1000, 1 << 20},
		"none is free": {1, 1000, 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			done := make(chan struct{})
			go func() { // only acknowledges: what a server does with the rows does not matter here
				defer close(done)
				server := wire.NewConn(far)
				for {
					if _, _, err := server.ReadPacket(1 << 20); err != nil {
						return
					}
					if server.WriteOK(1, &wire.OK{Status: wire.StatusInTrans}, wire.Caps{}) != nil {
						return
					}
				}
			}()
			x := &session{backend: &wire.Session{Conn: wire.NewConn(near)}, status: wire.StatusInTrans}
			x.b.Batching = &Batching{
				Memory: backend.NewMemory(int64(c.max)), HoldRows: c.rows, HoldBytes: c.bytes,
				Limits: backend.Limits{ChunkRows: 1000, ChunkBytes: 1 << 20, StatementBytes: 1 << 16},
			}
			x.b.touched = true
			s := &shape{plan: plan, target: backend.NewShape(plan, "u")}
			for range 20 {
				_, why := rewrite.Split(&x.b.rows, sql, &state.Lex)
				require.Empty(t, why)
				require.NoError(t, x.hold(s, sql, rewrite.Facts{}, time.Now()))
				require.EqualValues(t, x.b.reserved, x.b.Memory.Used())
			}
			x.dropHeld()
			require.Zero(t, x.b.Memory.Used())
			require.NoError(t, near.Close())
			<-done
		})
	}
}
