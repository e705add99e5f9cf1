package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/go-sql-driver/mysql"

	"github.com/sluice-db/sluice/test/demo/stage"
)

// The accounts of every private server here. The servers listen on the loopback
// address and live as long as the run.
const (
	appUser     = "bench"
	serviceUser = "sluice"
	password    = "bench"
	schema      = "bench"
)

// withServer starts a server with the accounts, runs a part on it and stops it.
func (b *bench) withServer(ctx context.Context, kind, bufferPool string, run func(*stage.Server) error, extra ...string) (err error) {
	dir, err := os.MkdirTemp(b.dir, kind)
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	options := stage.ServerOptions{Dir: dir, BufferPool: bufferPool, Extra: extra}
	var server *stage.Server
	switch kind {
	case "mariadb":
		server, err = stage.StartMariaDB(ctx, options)
	case "mysql":
		server, err = stage.StartMySQL(ctx, b.mysqlRoot, options)
	default:
		err = fmt.Errorf("there is no server %q", kind)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop(), os.RemoveAll(dir)) }()
	err = server.Exec(ctx,
		"CREATE DATABASE sluice", "CREATE DATABASE "+schema,
		fmt.Sprintf("CREATE USER %s@'127.0.0.1' IDENTIFIED BY '%s'", appUser, password),
		fmt.Sprintf("CREATE USER %s@'127.0.0.1' IDENTIFIED BY '%s'", serviceUser, password),
		fmt.Sprintf("GRANT ALL ON `%s%%`.* TO %s@'127.0.0.1'", schema, appUser),
		fmt.Sprintf("GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON `%s%%`.* TO %s@'127.0.0.1'", schema, serviceUser),
		fmt.Sprintf("GRANT CREATE, SELECT, INSERT, UPDATE, DELETE ON sluice.* TO %s@'127.0.0.1'", serviceUser),
	)
	if err != nil {
		return err
	}
	// MySQL keeps the password's hash after one full login; old clients need that.
	if err := login(ctx, server.Addr); err != nil {
		return err
	}
	return run(server)
}

// login logs in as the clients will do, once.
func login(ctx context.Context, addr string) error {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr = appUser, password, "tcp", addr
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return fmt.Errorf("log in at %s: %w", addr, err)
	}
	db := sql.OpenDB(connector)
	if err := errors.Join(db.PingContext(ctx), db.Close()); err != nil {
		return fmt.Errorf("log in at %s: %w", addr, err)
	}
	return nil
}

// startSluice starts sluice with an empty journal in front of a server; flags are added.
func (b *bench) startSluice(ctx context.Context, backend string, flags ...string) (*stage.Sluice, error) {
	dir, err := os.MkdirTemp(b.dir, "sluice")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	return stage.StartSluice(ctx, stage.SluiceOptions{
		Binary: b.sluice, Dir: dir, Name: "journal", Backend: backend, User: serviceUser, Password: password,
		Args: flags,
	})
}
