package chaos_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/replica"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

// TestOneProbeOfTheFleet (P123, A13, A38): five processes with twenty callers each, at
// the instant when the cooldown ends. One call reaches the dependency.
func TestOneProbeOfTheFleet(t *testing.T) {
	t.Parallel()
	server := servers.Start(t)
	s := settings()
	s.RecoveryTimeout, s.Cooldown = 100*ms, 120*ms
	fleet := make([]*replica.Replica, 5)
	for i := range fleet {
		fleet[i] = replica.Start(t)
		// A Redis that does not answer in time leaves each to itself, with one probe for each.
		fleet[i].Ask(replica.Request{Open: &replica.Opening{
			URL: server.URL(), Name: "rush", Settings: s, Timeout: patient.Timeout,
		}})
	}
	for _, r := range fleet {
		r.Report()
	}
	require.True(t, servers.Within(10*time.Second, func() bool {
		fleet[0].Ask(replica.Request{Work: &replica.Working{Workers: 1, FailOneIn: 1, For: 5 * ms}})
		return fleet[0].Report().Work.Rejected > 0
	}))

	at := time.Now().Add(100 * ms)
	times, late := 0, 0
	for times < long(200, 20) && late < 20 {
		var admitted int64
		var until time.Time
		for _, r := range fleet {
			// Somewhat early, so that they are there when the store's clock says that it is time.
			r.Ask(replica.Request{Rush: &replica.Rushing{Callers: 20, At: at.Add(-5 * ms).UnixNano(), For: 60 * ms, Hold: 80 * ms}})
		}
		for _, r := range fleet {
			rushed := r.Report().Rush
			admitted += rushed.Admitted
			if rushed.State == breaker.Open && time.Unix(0, rushed.Until).After(until) {
				until = time.Unix(0, rushed.Until)
			}
		}
		if admitted == 0 { // a busy machine has let them come when it was over
			late++
			at = time.Now().Add(20 * ms)
			continue
		}
		times++
		require.EqualValues(t, 1, admitted, "in repetition %d", times)
		require.True(t, until.After(at), "the probe has failed, so the circuit is open again")
		at = until
	}
	t.Logf("%d times one call, %d times none in time", times, late)
	assert.Less(t, late, 20)
}
