package einoguard_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// The model that will not be told: it sees the tool three times, and then calls it
// although it does not. The tool is not run, and the answer is a normal result (A113, A117).
func TestStubbornModel(t *testing.T) {
	for kind, make := range kinds {
		for _, streaming := range []bool{false, true} {
			t.Run(kind, func(t *testing.T) {
				bubbleUnless(streaming, t, func(t *testing.T) {
					g, down, m := newGuard(t, watchAll()), newBackend("search", fails), turns(10, "search")
					config := configured(m, invokable{newBackend("calc", works)}, make(down))
					o := collect(newRunner(t, g, config, streaming).Query(t.Context(), "do it"))
					require.NoError(t, o.err)
					assert.EqualValues(t, 3, down.hits.Load())
					require.Len(t, o.results, 10)
					assert.Equal(t, []string{"failed", "failed", "failed"}, o.results[:3])
					for i, list := range m.offered() {
						if i < 3 {
							assert.Equal(t, []string{"calc", "search"}, list)
						} else {
							assert.Equal(t, []string{"calc"}, list)
						}
					}
					for _, text := range o.results[3:] {
						requireRefused(t, text)
						assert.Contains(t, text, `Other tools: "calc".`)
						assert.NotContains(t, text, "hunter2")
					}
					assert.EqualValues(t, 7, g.Tools().Tools()[0].Refused)
					assert.Equal(t, 1, g.Tools().Tools()[0].Generation)
				})
			})
		}
	}
}

// A tool comes back by one probe: after a cooldown the next turn sees it, in the same run
// as well (A106), and a success closes the circuit.
func TestRecovery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g, b, m := newGuard(t, watchAll()), newBackend("search", fails), persistent("search")
		first := run(t, g, configured(m, invokable{b}))
		require.NoError(t, first.err)
		assert.Equal(t, "I cannot do it", first.answer)
		assert.EqualValues(t, 3, b.hits.Load())

		time.Sleep(time.Minute) // the first cooldown; the probe fails
		run(t, g, configured(persistent("search"), invokable{b}))
		assert.EqualValues(t, 4, b.hits.Load())
		require.Equal(t, breaker.Open, state(g, "search"))

		b.set(works)
		time.Sleep(time.Minute) // the second is twice as long
		run(t, g, configured(persistent("search"), invokable{b}))
		assert.EqualValues(t, 4, b.hits.Load())

		time.Sleep(time.Minute)
		o := run(t, g, configured(turns(2, "search"), invokable{b}))
		assert.Equal(t, []string{"42", "42"}, o.results)
		assert.Equal(t, breaker.Closed, state(g, "search"))
	})
}

// One turn has one probe, however often the model calls the tool in it (A109).
func TestParallelModel(t *testing.T) {
	for _, sequential := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			g, b := newGuard(t, watchAll()), newBackend("search", slowly)
			open(t, g, "search")
			time.Sleep(time.Minute)
			config := configured(turns(1, "search", "search", "search"), invokable{b})
			config.ToolsConfig.ExecuteSequentially = sequential
			o := run(t, g, config)
			require.NoError(t, o.err)
			if sequential { // the first has closed the circuit
				assert.Equal(t, []string{"42", "42", "42"}, o.results)
				return
			}
			assert.EqualValues(t, 1, b.hits.Load())
			slices.Sort(o.results)
			assert.Equal(t, "42", o.results[0])
			requireRefused(t, o.results[1])
			requireRefused(t, o.results[2])
			assert.Equal(t, breaker.Closed, state(g, "search"))
		})
	}
}

func slowly(context.Context, string) (string, error) {
	time.Sleep(time.Second)
	return "42", nil
}

// Calls one after the other whose probe fails: the others of the turn are refused.
func TestParallelModelInOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g, b := newGuard(t, watchAll()), newBackend("search", fails)
		open(t, g, "search")
		time.Sleep(time.Minute)
		config := configured(turns(1, "search", "search", "search"), invokable{b})
		config.ToolsConfig.ExecuteSequentially = true
		o := run(t, g, config)
		assert.EqualValues(t, 1, b.hits.Load())
		assert.Equal(t, "failed", o.results[0])
		requireRefused(t, o.results[1])
		requireRefused(t, o.results[2])
		assert.Equal(t, 2, g.Tools().Circuit("", "search").Snapshot().Generation)
	})
}

// A model that is offered the probe and does not use it gives it back with its answer
// (A110): at once if it calls nothing, and when all of its calls have begun.
func TestLazyModel(t *testing.T) {
	for _, answer := range []*schema.Message{says("I know it"), calls("calc")} {
		for _, streaming := range []bool{false, true} {
			bubbleUnless(streaming, t, func(t *testing.T) {
				g, b := newGuard(t, soon()), newBackend("search", works)
				free := func() bool {
					turn := g.Tools().Turn(t.Context(), []string{"search"})
					defer turn.Close()
					return len(turn.Withheld()) == 0
				}
				calc := newBackend("calc", func(context.Context, string) (string, error) {
					assert.True(t, free(), "the probe is held while another tool works")
					return "42", nil
				})
				due(t, g, "search")
				asks := 0
				m := &scripted{answer: func(asked) (*schema.Message, error) {
					assert.False(t, asks == 0 && free(), "the probe is not claimed")
					if asks++; asks == 1 {
						return answer, nil
					}
					return says("done"), nil
				}}
				o := collect(newRunner(t, g, configured(m, invokable{b}, invokable{calc}), streaming).Query(t.Context(), "do it"))
				require.NoError(t, o.err)
				assert.Equal(t, []string{"search", "calc"}, m.offered()[0])
				assert.True(t, free())
				assert.Zero(t, b.hits.Load())
			})
		}
	}
}

// A model that fails, before its answer or in the middle, gives back what it was offered.
// So does a run whose context is over.
func TestModelThatFails(t *testing.T) {
	for name, fail := range map[string]func(cancel func()) (*schema.StreamReader[*schema.Message], error){
		"at once": func(func()) (*schema.StreamReader[*schema.Message], error) { return nil, errDown },
		"in the middle": func(func()) (*schema.StreamReader[*schema.Message], error) {
			reader, writer := schema.Pipe[*schema.Message](2)
			writer.Send(says("I"), nil)
			writer.Send(nil, errDown)
			writer.Close()
			return reader, nil
		},
		"with a panic": func(func()) (*schema.StreamReader[*schema.Message], error) { panic("model") },
		"cancelled": func(cancel func()) (*schema.StreamReader[*schema.Message], error) {
			cancel()
			return schema.StreamReaderFromArray([]*schema.Message{calls("nonsense")}), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, soon())
			due(t, g, "search")
			free := func() bool {
				turn := g.Tools().Turn(t.Context(), []string{"search"})
				defer turn.Close()
				return len(turn.Withheld()) == 0
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := &broken{stream: func() (*schema.StreamReader[*schema.Message], error) {
				assert.False(t, free(), "the probe is not claimed")
				return fail(cancel)
			}}
			o := collect(newRunner(t, g, configured(m, invokable{newBackend("search", works)}), true).Query(ctx, "do it"))
			require.Error(t, o.err)
			require.Eventually(t, free, time.Minute, time.Millisecond)
		})
	}
}

// broken is a model that streams only.
type broken struct {
	model.BaseChatModel
	stream func() (*schema.StreamReader[*schema.Message], error)
}

func (b *broken) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return b.stream()
}

// A request that is repeated has a turn of its own, and gets the whole list again.
func TestRetriedModel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g, b := newGuard(t, watchAll()), newBackend("search", works)
		open(t, g, "search")
		time.Sleep(time.Minute)
		asks := 0
		m := &scripted{answer: func(asked) (*schema.Message, error) {
			switch asks++; asks {
			case 1:
				return nil, errDown
			case 2:
				return calls("search"), nil
			default:
				return says("done"), nil
			}
		}}
		config := configured(m, invokable{b})
		config.ModelRetryConfig = &adk.ModelRetryConfig{MaxRetries: 1}
		o := run(t, g, config)
		require.NoError(t, o.err)
		assert.Equal(t, [][]string{{"search"}, {"search"}, {"search"}}, m.offered())
		assert.EqualValues(t, 1, b.hits.Load())
		assert.Equal(t, breaker.Closed, state(g, "search"))
	})
}

// 100 sessions at once of trips and recoveries with the same tools: what is registered
// stays as it is, and in the end every tool is offered (A114). Each has an agent of its
// own, since runs of one agent at once race in eino itself.
func TestRegisteredToolsStayAsTheyAre(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		var backends []*backend
		var tools []tool.BaseTool
		var before, names []string
		for _, name := range []string{"calc", "search", "fetch", "mail"} {
			b := newBackend(name, fails)
			backends, tools, names = append(backends, b), append(tools, invokable{b}), append(names, name)
			before = append(before, described(t, b.info))
		}
		same := slices.Clone(tools)
		m := &scripted{answer: func(a asked) (*schema.Message, error) {
			if len(a.messages) > 12 || len(a.offers()) == 0 {
				return says("done"), nil
			}
			return calls(a.offers()...), nil
		}}
		session := func() error {
			return collect(newRunner(t, g, configured(m, tools...), false).Query(t.Context(), "do it")).err
		}
		var sessions sync.WaitGroup
		for i := range 100 {
			sessions.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Second)
				if i == 50 {
					for _, b := range backends {
						b.set(works)
					}
				}
				assert.NoError(t, session())
			})
		}
		sessions.Wait()
		time.Sleep(time.Hour)
		require.NoError(t, session())

		lists := m.offered()
		assert.Contains(t, lists, []string(nil), "nothing has tripped")
		assert.Equal(t, names, lists[len(lists)-1])
		assert.Equal(t, same, tools)
		for i, b := range backends {
			assert.Equal(t, before[i], described(t, b.info))
			assert.Equal(t, breaker.Closed, state(g, b.info.Name))
		}
		for _, one := range m.requests {
			for _, offered := range one.options.Tools {
				i := slices.Index(names, offered.Name)
				assert.Same(t, backends[i].info, offered)
			}
		}
	})
}

// described is all that a model may learn of a tool.
func described(t *testing.T, info *schema.ToolInfo) string {
	t.Helper()
	declared, err := info.ToJSONSchema()
	require.NoError(t, err)
	raw, err := json.Marshal(declared)
	require.NoError(t, err)
	return info.Name + info.Desc + string(raw)
}
