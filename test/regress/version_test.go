package regress

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-db/sluice/backend/journal"
	"github.com/sluice-db/sluice/test/stage"
)

// TestRowsThatThisVersionDoesNotReplay: rows that another version of sluice has
// acknowledged, and that this one does not batch or cannot read, kept their table's
// queue from ever going on. They go to the reject log; the others are stored.
func TestRowsThatThisVersionDoesNotReplay(t *testing.T) {
	for name, sealed := range map[string]bool{"open": false, "sealed": true} {
		t.Run(name, func(t *testing.T) {
			stage.EachFresh(t, func(s *stage.Stage) {
				s.Root("CREATE TABLE a (x INT PRIMARY KEY, y INT)")
				loader := s.Through("app")
				sent := loader.Warm("INSERT INTO a VALUES (%d, 1)")
				s.Sluice.Kill9(s)
				want := otherVersion(s, sealed)

				s.Sluice.Restart(s)
				s.Flush()
				require.Equal(s, len(want), s.Metric(stage.Rejects))
				require.Equal(s, sent+2, s.Count("a"))
				require.Equal(s, 2, s.Count("a WHERE y = 2"))
				require.Contains(s, s.Sluice.Log(100), "does not replay some rows of the journal")
				again := s.Through("app")
				again.Warm("INSERT INTO a VALUES (%d + 1000, 1)") // the table's queue goes on
				again.Close()
				s.Flush()

				s.Sluice.Restart(s)
				require.Zero(s, s.Metric(stage.Rejects), "once")
				s.Sluice.Stop(s)
				require.Equal(s, want, rejected(s))
			})
		})
	}
}

// otherVersion appends to the journal what a version with other rules could have
// acknowledged, between rows as this one does, and returns what is to be rejected.
func otherVersion(s *stage.Stage, sealed bool) (rejects []string) {
	s.Helper()
	j, err := journal.Open(journal.Options{Dir: filepath.Join(s.Sluice.DataDir, "journal"), Sync: journal.SyncAlways})
	require.NoError(s, err)
	var blob []byte
	known := journal.ShapeID(0)
	for known = 1; ; known++ {
		blob = j.ShapeBlob(known)
		require.NotNil(s, blob, "no shape of the table")
		if bytes.Contains(blob, []byte(`"Name":"a"`)) {
			break
		}
	}
	shape := func(changed []byte) journal.ShapeID {
		require.NotEqual(s, string(blob), string(changed))
		id, err := j.Shape(changed)
		require.NoError(s, err)
		return id
	}
	refused := shape(bytes.Replace(blob, []byte(`"Triggers":false`), []byte(`"Triggers":true`), 1))
	unreadable := shape([]byte("{another form"))
	queue, err := j.Queue(s.Schema + ".a")
	require.NoError(s, err)
	states := j.Recovered()
	require.Len(s, states, 1)
	last, rows := uint64(0), states[0].Rows
	add := func(id journal.ShapeID, n uint32, body string) {
		last, err = j.Append(journal.Record{Queue: queue, Shape: id, Time: 1_700_000_000, Rows: n, Body: []byte(body)})
		require.NoError(s, err)
		rows += uint64(n)
	}
	add(refused, 2, "(7, 0),(8, 0)")
	add(known, 1, "(-1, 2)")
	add(known, 1, "(9, @anything)")
	add(unreadable, 1, "(10, 0)")
	add(known, 1, "(-2, 2)")
	if sealed {
		require.NoError(s, j.Seal(journal.Window{ID: last, Queue: queue, From: states[0].Applied, To: last, Rows: rows, Chunks: []uint32{0}}))
	}
	require.NoError(s, j.Close())
	table := "`" + s.Schema + "`.`a` "
	const run = ": sluice: this version does not replay the statement, run it yourself: "
	return []string{
		"INSERT INTO " + table + "(`x`,`y`) VALUES (7, 0),(8, 0)" + run + "a table with triggers",
		"INSERT INTO " + table + "(`x`,`y`) VALUES (9, @anything)" + run + "a value that names a column or variable",
		"INSERT INTO " + table + "VALUES (10, 0)" + run + "its description in the journal is not readable, so that only the rows are known and not their columns " +
			"(invalid character 'a' looking for beginning of object key string)",
	}
}

// rejected lists the reject log of a sluice that is stopped.
func rejected(s *stage.Stage) (list []string) {
	s.Helper()
	log, err := journal.OpenRejects(journal.RejectOptions{Dir: filepath.Join(s.Sluice.DataDir, "rejects")})
	require.NoError(s, err)
	defer func() { require.NoError(s, log.Close()) }()
	require.NoError(s, log.List(func(r journal.Reject) error {
		require.EqualValues(s, 1105, r.Errno)
		require.Equal(s, s.Schema+".a", r.Table)
		list = append(list, string(r.Statement)+": "+r.Message)
		return nil
	}))
	return list
}
