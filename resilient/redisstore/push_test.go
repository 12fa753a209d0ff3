package redisstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

const message = "5:a:b\n\xff,16:1790000000000000,1:0,1:0,1:0,16:1790000000000001,1:1,1:0,1:2,16:1789999999000000,1:0,16:1789999999000000," +
	"1:0,1:0,1:0,1:0,1:5,1:0,1:0,1:0,1:0,1:0,4:down,0:,0:,0:,"

func TestUnpack(t *testing.T) {
	circuit, answer, err := redisstore.Unpack(message)
	require.NoError(t, err)
	require.Equal(t, "a:b\n\xff", circuit)
	require.Equal(t, breaker.Open, answer.Record.Beneath)
	require.Equal(t, 5, answer.Record.Failures)
	require.Equal(t, "down", answer.Record.Cause)
}

// FuzzUnpack holds that whatever is published either makes sense or is an error.
func FuzzUnpack(f *testing.F) {
	f.Add(message)
	f.Add("1:x,")
	f.Fuzz(func(t *testing.T, payload string) {
		_, answer, err := redisstore.Unpack(payload)
		if err != nil {
			require.ErrorIs(t, err, breaker.ErrGarbled)
			return
		}
		m := answer.Record.Machine
		require.LessOrEqual(t, m.Beneath, breaker.HalfOpen)
		require.LessOrEqual(t, m.Force, breaker.ForceDisabled)
		require.GreaterOrEqual(t, answer.Now, time.Duration(0))
		for _, l := range m.Leases {
			require.GreaterOrEqual(t, l.End, time.Duration(0))
		}
	})
}
