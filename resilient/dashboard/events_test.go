package dashboard_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// Who asks for the head of the stream only, as monitors do, gets it, and keeps no place.
func TestHeadOfTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board := dashboard.New(nil, &dashboard.Options{MaxClients: 1})
		done := make(chan int, 1)
		go func() { done <- serve(board, http.MethodHead, "/events", nil).Code }()
		synctest.Wait()
		select {
		case code := <-done:
			assert.Equal(t, http.StatusOK, code)
		default:
			t.Error("it waits for the end of the stream")
			board.Close()
			<-done
		}
	})
}
