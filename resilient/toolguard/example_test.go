package toolguard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// tool is what some framework calls one.
type tool struct {
	name string
	run  func(ctx context.Context, arguments string) (string, error)
}

func search(context.Context, string) (string, error) { return "", errors.New("search is down") }

func calculate(context.Context, string) (string, error) { return "42", nil }

func Example() {
	guard, err := toolguard.New(&toolguard.Options{MonitorAll: true, Exclude: []string{"final_answer"}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	tools := []tool{{"search", search}, {"calculate", calculate}}
	ctx := context.Background()
	// region loop
	for range 4 {
		turn := guard.Turn(ctx, []string{"search", "calculate"})
		offered := toolguard.Filter(turn, tools, func(t tool) string { return t.name })
		chosen := ask(offered) // your model
		answer, err := toolguard.Call(turn.Context(ctx), guard, chosen.name, "query", chosen.run)
		var refused *toolguard.RefusedError
		if errors.As(err, &refused) {
			answer, err = refused.Message(), nil // a normal result: an error would be tried again
		}
		fmt.Println(len(offered), chosen.name, answer, err)
		turn.Close()
	}
	// endregion loop

	// Output:
	// 2 search  search is down
	// 2 search  search is down
	// 2 search  search is down
	// 1 calculate 42 <nil>
}

// ask is a model that likes the first tool best.
func ask(offered []tool) tool { return offered[0] }

func ExampleGuard_Begin() {
	guard, _ := toolguard.New(&toolguard.Options{Monitor: []string{"search"}, Logger: slog.New(slog.DiscardHandler)})
	// In a server there are no turns: what is due is claimed by the call.
	for range 4 {
		permit, err := guard.Begin(context.Background(), "search")
		if err != nil {
			fmt.Println(strings.Contains(err.Error(), "refused: open until"))
			continue
		}
		value, err := search(permit.Context(), "query")
		fmt.Println(permit.EndResult(value, err))
	}

	// Output:
	// error
	// error
	// error
	// true
}

func ExampleWithOutcome() {
	guard, _ := toolguard.New(&toolguard.Options{MonitorAll: true})
	for range 50 {
		_, _ = toolguard.Call(context.Background(), guard, "mail", "to=ann", func(context.Context, string) (string, error) {
			return "", toolguard.WithOutcome(errors.New("403 Forbidden"), toolguard.Denied)
		})
	}
	fmt.Println(len(guard.Tools()), "tools have ever failed")

	// Output:
	// 0 tools have ever failed
}

func ExampleTurn_Allowed() {
	guard, _ := toolguard.New(&toolguard.Options{MonitorAll: true, Mode: toolguard.Mask, Logger: slog.New(slog.DiscardHandler)})
	ctx := context.Background()
	_, _ = toolguard.Call(ctx, guard, "search", "query", func(context.Context, string) (string, error) {
		return "", resilient.RetryAfter(errors.New("429 Too Many Requests"), 300e9)
	})
	turn := guard.Turn(ctx, []string{"search", "calculate"})
	defer turn.Close()
	fmt.Println(turn.Allowed(), turn.Withheld()[0].Tool, turn.Withheld()[0].Reason)

	// Output:
	// [calculate] search open
}
