package backend

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sluice-db/sluice/backend/wire"
)

// LoginTime is how long a client may take to log in: a little less than the server waits
// (connect_timeout). A handshake that the server ends counts against sluice's host, which
// it locks out after max_connect_errors of them; one that sluice ends does not.
func (e *Engine) LoginTime() time.Duration { return e.loginTime }

func loginTime(c wire.Querier) (time.Duration, error) {
	r, err := c.Query("SELECT @@GLOBAL.connect_timeout")
	if err != nil {
		return 0, fmt.Errorf("connect_timeout: %w", err)
	}
	seconds, err := strconv.Atoi(string(r.Rows[0][0]))
	if err != nil {
		return 0, fmt.Errorf("connect_timeout: %w", err)
	}
	return time.Duration(seconds) * time.Second * 9 / 10, nil
}
