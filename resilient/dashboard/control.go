package dashboard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

// longestForm is how many bytes an order may have.
const longestForm = 8 << 10

// orders are what can be asked for.
var orders = map[string]breaker.Order{
	"force-open":   {Force: breaker.ForceOpen},
	"force-closed": {Force: breaker.ForceClosed},
	"disable":      {Force: breaker.ForceDisabled},
	"release":      {},
	"reset":        {Reset: true},
}

// refusal is why an order is not carried out, and what the browser is told.
type refusal struct {
	status int
	text   string
	cause  error // for the log; may be nil
}

func (e *refusal) Error() string {
	if e.cause != nil {
		return e.text + ": " + e.cause.Error()
	}
	return e.text
}

// control carries out an order on the circuit of a guard.
func (d *Dashboard) control(w http.ResponseWriter, r *http.Request) {
	action := Action{At: time.Now(), Service: sanitize.Message(r.PathValue("name"))}
	err := d.obey(w, r, &action)
	action.Err = sanitize.Error(err)
	d.audit(r.Context(), action)
	var refused *refusal
	switch {
	case err == nil:
		w.Header().Set("Location", "../"+url.PathEscape(r.PathValue("name"))) // it knows no prefix
		w.WriteHeader(http.StatusSeeOther)
	case errors.As(err, &refused):
		http.Error(w, refused.text, refused.status)
	default:
		http.Error(w, action.Err.Error(), http.StatusBadGateway)
	}
}

// obey goes through the checks in their order, and notes in the action how far it came.
func (d *Dashboard) obey(w http.ResponseWriter, r *http.Request, action *Action) error {
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return &refusal{http.StatusForbidden, "an order must come from this page", err}
	}
	author, err := d.options.Control(r)
	if err != nil {
		return &refusal{http.StatusForbidden, "you may not steer circuits", err}
	}
	if action.Author = sanitize.Message(author); action.Author == "" {
		return &refusal{http.StatusForbidden, "you may not steer circuits", errors.New("there is no author")}
	}
	guard, _, ok := d.find(r.PathValue("name"))
	if !ok {
		return &refusal{http.StatusNotFound, "there is no guard of exactly that name", nil}
	}
	order, err := readOrder(w, r, action)
	if err != nil {
		return err
	}
	if err := order.Validate(); err != nil {
		return &refusal{http.StatusBadRequest, err.Error(), nil}
	}
	if err := steer(r.Context(), guard, order); err != nil {
		return err
	}
	d.tellOrder(guard, action)
	return nil
}

// readOrder reads the form.
func readOrder(w http.ResponseWriter, r *http.Request, action *Action) (order breaker.Order, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/x-www-form-urlencoded" {
		return order, &refusal{http.StatusUnsupportedMediaType, "an order is a form", nil}
	}
	r.Body = http.MaxBytesReader(w, r.Body, longestForm)
	if err := r.ParseForm(); err != nil {
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			return order, &refusal{http.StatusRequestEntityTooLarge, "the order is too long", nil}
		}
		return order, &refusal{http.StatusBadRequest, "the form cannot be read", err}
	}
	kind := r.PostForm.Get("action")
	order, ok := orders[kind]
	if !ok {
		return order, &refusal{http.StatusBadRequest, "action is none of force-open, force-closed, disable, release, reset", nil}
	}
	action.Kind, action.Reason = kind, sanitize.Message(r.PostForm.Get("reason"))
	order.Author, order.Reason = action.Author, action.Reason
	if order.Force == breaker.NoForce {
		return order, nil
	}
	if order.For, err = time.ParseDuration(r.PostForm.Get("for")); err != nil {
		return order, &refusal{http.StatusBadRequest, `for is a duration such as "30m" or "2h"`, nil}
	}
	action.For = order.For
	return order, nil
}

// steer gives the order to all that share the circuit. What is lifted there, this process
// must not keep up by itself.
func steer(ctx context.Context, guard *resilient.Guard, order breaker.Order) error {
	circuit := guard.Circuit()
	if err := circuit.Steer(ctx, order); err != nil {
		return err
	}
	if order.Force == breaker.NoForce && circuit.Snapshot().Force != breaker.NoForce {
		circuit.Release()
	}
	return nil
}

// tellOrder puts it into the list of what happened.
func (d *Dashboard) tellOrder(guard *resilient.Guard, action *Action) {
	text := action.Kind + " by " + action.Author
	if action.For > 0 {
		text += fmt.Sprintf(" for %v", action.For)
	}
	d.meter.note(d.meter.of(guard.Name()), item{
		At: millis(action.At), Name: guard.Name(), State: "order", Text: text, Cause: action.Reason,
	})
}

// audit tells the log and whoever keeps such things.
func (d *Dashboard) audit(ctx context.Context, action Action) {
	attrs := []slog.Attr{
		slog.String("service", action.Service), slog.String("action", action.Kind), slog.String("author", action.Author),
		slog.String("reason", action.Reason), slog.Duration("for", action.For),
	}
	message := "circuit order carried out"
	if action.Err != nil {
		message = "circuit order refused"
		attrs = append(attrs, slog.String("error", action.Err.Error()))
	}
	d.options.logger().LogAttrs(ctx, slog.LevelWarn, message, attrs...)
	if d.options.Audit == nil {
		return
	}
	defer func() {
		if value := recover(); value != nil {
			d.options.logger().ErrorContext(ctx, "dashboard: panic contained",
				"in", "Audit", "panic", sanitize.Message(fmt.Sprint(value)))
		}
	}()
	d.options.Audit(ctx, action)
}
