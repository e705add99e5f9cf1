package backend

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/sluice-db/sluice/backend/schema"
	"github.com/sluice-db/sluice/backend/wire"
	"github.com/sluice-db/sluice/rewrite"
)

// Account is the service account and where it logs in.
type Account struct {
	Network  string // tcp or unix
	Addr     string
	User     string
	Password string
	TLS      *wire.TLS // nil: plain
	Timeout  time.Duration
}

// conn is a connection of the service account.
type conn struct {
	*wire.Session
	executor  executor
	state     *rewrite.State    // taken on last
	settings  map[string]string // what it set, by name
	dialect   rewrite.Dialect
	version   int
	maxPacket int // max_allowed_packet, bytes
}

// dial logs the service account in. The login itself is go-mysql's (all plugins); from
// then on the connection is read and written by package wire.
func dial(ctx context.Context, a Account) (*conn, error) {
	l, err := dialLink(ctx, a)
	if err != nil {
		return nil, err
	}
	network := "tcp"
	if l.secure() {
		network = "unix" // go-mysql sends passwords as they are there
	}
	connect := func(context.Context, string, string) (net.Conn, error) { return l, nil }
	c, err := client.ConnectWithDialer(ctx, network, a.Addr, a.User, a.Password, "", connect, func(c *client.Conn) error {
		c.UnsetCapability(mysql.CLIENT_QUERY_ATTRIBUTES)
		c.UnsetCapability(mysql.CLIENT_DEPRECATE_EOF)
		return nil
	})
	if err != nil {
		_ = l.Close()
		if l.failed != nil {
			return nil, l.failed
		}
		return nil, serverWords(err)
	}
	s := &wire.Session{Conn: l.wire, Caps: wire.Caps{Base: wire.ClientProtocol41 | wire.ClientTransactions}}
	g := wire.Greeting{Version: c.GetServerVersion()}
	n := &conn{Session: s, dialect: rewrite.MySQL, version: g.VersionNumber(), settings: make(map[string]string)}
	if g.IsMariaDB() {
		n.dialect = rewrite.MariaDB
	}
	n.executor = executor{conn: s, become: n.take}
	return n, nil
}

// serverWords turns go-mysql's error into ours, so that one type tells what a server said.
func serverWords(err error) error {
	var my *mysql.MyError
	if errors.As(err, &my) {
		return &wire.Error{Code: my.Code, State: my.State, Message: my.Message}
	}
	return err
}

// baseSettings are the same for every connection of the pool: a wait is cut
// short so that a retry can give way.
const baseSettings = "SET autocommit = 1, lock_wait_timeout = 10, wait_timeout = 3600, net_write_timeout = 600, net_read_timeout = 600"

// prepare settles a new connection.
func (c *conn) prepare() error {
	var refused *wire.Error
	for _, sql := range []string{
		baseSettings,
		"SET innodb_lock_wait_timeout = 10",
		"SET max_statement_time = 0", // MariaDB: a merged statement takes longer than one of the client's
		"SET SESSION transaction_isolation = 'READ-COMMITTED'",
		"SET SESSION tx_isolation = 'READ-COMMITTED'", // MariaDB before 11.1
		schema.Settings(c.dialect, c.version),
	} {
		if _, err := c.Query(sql); err != nil && (!errors.As(err, &refused) || refused.Code != 1193) {
			return err
		}
	}
	r, err := c.Query("SELECT @@max_allowed_packet, @@binlog_format")
	if errors.As(err, &refused) {
		r, err = c.Query("SELECT @@max_allowed_packet, 'ROW'")
	}
	if err != nil {
		return err
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	c.maxPacket, _ = strconv.Atoi(string(r.Rows[0][0]))
	if string(r.Rows[0][1]) == "STATEMENT" {
		// InnoDB refuses READ COMMITTED there (error 1665).
		for _, name := range []string{"transaction_isolation", "tx_isolation"} {
			if _, err := c.Query("SET SESSION " + name + " = 'REPEATABLE-READ'"); err != nil && !errors.As(err, &refused) {
				return err
			}
		}
	}
	return nil
}

// stateError says that a session's state could not be taken on. It hides the server's
// error: the rows are not to blame for it.
type stateError struct{ cause error }

func (e *stateError) Error() string { return "take on the session's state: " + e.cause.Error() }

// take gives the connection the state of the session that sent the rows. Only what
// differs is set: some variables cannot be set inside a transaction (MySQL 1766).
func (c *conn) take(s *rewrite.State) error {
	if c.state == s {
		return nil
	}
	var sql strings.Builder
	for _, v := range s.Carry() {
		if value, ok := c.settings[v.Name]; ok && value == v.Value {
			continue
		}
		if sql.Len() == 0 {
			sql.WriteString("SET ")
		} else {
			sql.WriteString(", ")
		}
		sql.WriteString(v.Name + " = " + v.Value)
	}
	if sql.Len() > 0 {
		clear(c.settings)
		if _, err := c.Query(sql.String()); err != nil {
			return &stateError{err}
		}
		for _, v := range s.Carry() {
			c.settings[v.Name] = v.Value
		}
	}
	c.state = s
	return nil
}
