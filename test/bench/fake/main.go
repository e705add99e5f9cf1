package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	address := flag.String("listen", "127.0.0.1:3307", "HOST:PORT or unix:PATH")
	spin := flag.Duration("spin", 0, "poll busily for so long before sleeping, for instance 50us")
	flag.Parse()
	if err := serve(*address, *spin); err != nil {
		fmt.Fprintln(os.Stderr, "fake:", err)
		os.Exit(1)
	}
}

// serve accepts sessions until SIGINT or SIGTERM.
func serve(address string, spin time.Duration) error {
	network := "tcp"
	if path, unix := strings.CutPrefix(address, "unix:"); unix {
		network, address = "unix", path
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var sessions sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]struct{}{}
	sessions.Go(func() {
		<-signals
		listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for conn := range open {
			conn.Close()
		}
	})
	for id := uint32(1); ; id++ {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			break
		}
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		mu.Lock()
		open[conn] = struct{}{}
		mu.Unlock()
		sessions.Go(func() {
			defer conn.Close()
			if err := newSession(conn, id, spin).run(); err != nil {
				fmt.Fprintln(os.Stderr, "fake: session:", err)
			}
			mu.Lock()
			defer mu.Unlock()
			delete(open, conn)
		})
	}
	sessions.Wait()
	return nil
}
