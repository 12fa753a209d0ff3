package replica

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/redis/go-redis/v9/logging"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// server is the side of the process that does it.
type server struct {
	mu      sync.Mutex // one line at a time
	output  *json.Encoder
	circuit *breaker.Circuit
	tools   *toolbox
}

func serve(input io.Reader, output io.Writer) {
	logging.Disable()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	s := &server{output: json.NewEncoder(output)}
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var q Request
		response := Response{Done: true}
		err := json.Unmarshal(lines.Bytes(), &q)
		if err == nil {
			err = s.handle(q, &response)
		}
		if err != nil {
			response.Error = err.Error()
		}
		s.say(response)
	}
}

func (s *server) say(r Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.output.Encode(r)
}

var (
	errNoCircuit = errors.New("no circuit was opened")
	errNoGuard   = errors.New("no guard was made")
)

func (s *server) handle(q Request, r *Response) (err error) {
	ctx := context.Background()
	switch {
	case q.Write != nil:
		return q.Write.do(ctx, s.say)
	case q.Open != nil:
		s.circuit, err = q.Open.do(ctx)
		return err
	case q.Guard != nil:
		s.tools, err = q.Guard.do(ctx)
		return err
	case q.Turn != nil && s.tools != nil:
		r.Report.Tools = q.Turn.do(ctx, s.tools)
	case q.Use != nil && s.tools != nil:
		r.Report.Tools = q.Use.do(ctx, s.tools)
	case q.Turn != nil || q.Use != nil:
		return errNoGuard
	case s.circuit == nil:
		return errNoCircuit
	case q.Work != nil:
		r.Report.Work = q.Work.do(s.circuit)
	case q.Rush != nil:
		r.Report.Rush = q.Rush.do(s.circuit)
	}
	return nil
}
