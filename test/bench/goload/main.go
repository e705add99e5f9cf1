package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "goload:", err)
		os.Exit(1)
	}
}

const insert = "INSERT IGNORE INTO ReverseIndex (word, score, location_id, y) VALUES "

// send sends one row.
type send func(ctx context.Context, word, score, location, year string) error

func run(ctx context.Context, args []string) (err error) {
	if len(args) != 4 {
		return errors.New("usage: goload literals|arguments|prepared FILE ROWS_PER_TRANSACTION SECONDS")
	}
	perTransaction, err := strconv.Atoi(args[2])
	if err != nil {
		return fmt.Errorf("rows per transaction: %w", err)
	}
	seconds, err := strconv.ParseFloat(args[3], 64)
	if err != nil {
		return fmt.Errorf("seconds: %w", err)
	}
	file, err := os.Open(args[1])
	if err != nil {
		return err
	}
	defer file.Close()
	db, err := sql.Open("mysql", dataSource(os.Getenv("DBI_DSN")))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	one, err := sender(ctx, conn, args[0])
	if err != nil {
		return err
	}
	if perTransaction > 0 {
		if _, err := conn.ExecContext(ctx, "SET autocommit=0"); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	limit := time.Duration(seconds * float64(time.Second))
	if err := load(ctx, conn, one, bufio.NewScanner(file), perTransaction, limit); err != nil {
		return err
	}
	var count int
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM ReverseIndex").Scan(&count); err != nil {
		return err
	}
	fmt.Println("count", count)
	return nil
}

func load(ctx context.Context, conn *sql.Conn, one send, lines *bufio.Scanner, perTransaction int, limit time.Duration) error {
	sent, start := 0, time.Now()
	shown := start
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if err := one(ctx, fields[0], fields[1], fields[2], fields[3]); err != nil {
			return err
		}
		sent++
		if perTransaction > 0 && sent%perTransaction == 0 {
			if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
				return err
			}
		}
		if sent%16 != 0 {
			continue
		}
		now := time.Now()
		if now.Sub(shown) >= 200*time.Millisecond {
			fmt.Println("rows", sent)
			shown = now
		}
		if limit > 0 && now.Sub(start) >= limit {
			break
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if perTransaction > 0 {
		if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
			return err
		}
	}
	fmt.Printf("sent %d %.6f\n", sent, time.Since(start).Seconds())
	return nil
}

func sender(ctx context.Context, conn *sql.Conn, mode string) (send, error) {
	const placeholders = insert + "(?, ?, ?, ?)"
	switch mode {
	case "literals":
		quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
		return func(ctx context.Context, word, score, location, year string) error {
			_, err := conn.ExecContext(ctx, insert+"('"+quote.Replace(word)+"', "+score+", "+location+", "+year+")")
			return err
		}, nil
	case "arguments":
		return func(ctx context.Context, word, score, location, year string) error {
			_, err := conn.ExecContext(ctx, placeholders, word, score, location, year)
			return err
		}, nil
	case "prepared":
		statement, err := conn.PrepareContext(ctx, placeholders)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, word, score, location, year string) error {
			_, err := statement.ExecContext(ctx, word, score, location, year)
			return err
		}, nil
	}
	return nil, fmt.Errorf("unknown way to send rows: %q", mode)
}

// dataSource turns "dbi:mysql:database=x;host=h;port=n" into the driver's form.
func dataSource(dbi string) string {
	fields := map[string]string{}
	for _, pair := range strings.Split(strings.TrimPrefix(dbi, "dbi:mysql:"), ";") {
		key, value, _ := strings.Cut(pair, "=")
		fields[key] = value
	}
	config := mysql.NewConfig()
	config.User, config.Passwd = os.Getenv("DBI_USER"), os.Getenv("DBI_PASS")
	config.Net, config.Addr, config.DBName = "tcp", fields["host"]+":"+fields["port"], fields["database"]
	return config.FormatDSN()
}
