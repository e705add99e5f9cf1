package fault

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/sluice-db/sluice/test/rawclient"
	"github.com/sluice-db/sluice/test/servers"
)

// TestChurn opens and ends many sessions at once, so that descriptors are used
// again at once: the end of one session must not be taken for another's.
func TestChurn(t *testing.T) {
	t.Parallel()
	servers.Each(t, func(t *testing.T, server *servers.Server) {
		sluice := servers.StartSluice(t, server)
		group, _ := errgroup.WithContext(context.Background())
		for range 16 {
			group.Go(func() error {
				var errs []error
				for range 250 {
					errs = append(errs, visit(sluice.Addr))
				}
				return errors.Join(errs...)
			})
		}
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// visit is a short session: a few statements and a farewell.
func visit(addr string) error {
	c, err := rawclient.Dial(addr, rawclient.Options{User: "app", Password: "app", Schema: "test"})
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	defer func() { _ = c.Close() }()
	for range 5 {
		reply, err := c.Do(c.Query([]byte("SELECT 1")))
		if err != nil {
			return err
		}
		if reply.Failed() {
			return fmt.Errorf("SELECT 1: %s", reply)
		}
	}
	_, err = c.Do(rawclient.Simple(rawclient.ComQuit, rawclient.ClosedReply))
	return err
}
