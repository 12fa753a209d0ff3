package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A model is a pure function, so a table says all of it.
func TestModels(t *testing.T) {
	both, without := []string{notes, search}, []string{notes}
	failure := []result{{tool: search, text: "the library answers 503", failed: true}}
	refusal := []result{{tool: search, text: `Tool "search" is temporarily unavailable. Other tools: "notes".`}}
	noted := []result{{tool: notes, text: found + "a note"}}
	calls := func(tools ...string) move { return move{calls: tools} }
	for name, test := range map[string]struct {
		ask                                                     model
		first, withheld, afterFailure, afterRefusal, afterFound move
	}{
		"persistent": {persistent, calls(search), calls(notes), calls(search), calls(search), move{answer: found + "a note"}},
		"stubborn":   {stubborn, calls(search), calls(search), calls(search), calls(search), move{answer: found + "a note"}},
		"parallel":   {parallel, calls(search, search, search), calls(notes), calls(search, search, search), calls(search, search, search), move{answer: found + "a note"}},
		"lazy":       {lazy, calls(notes), calls(notes), calls(notes), calls(notes), move{answer: found + "a note"}},
		"obedient":   {obedient, calls(search), calls(search), calls(search), calls(notes), move{answer: found + "a note"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.first, test.ask(both, nil))
			assert.Equal(t, test.withheld, test.ask(without, nil))
			assert.Equal(t, test.afterFailure, test.ask(both, failure))
			assert.Equal(t, test.afterRefusal, test.ask(both, refusal))
			assert.Equal(t, test.afterFound, test.ask(both, noted))
		})
	}
	assert.Equal(t, move{}, persistent(nil, failure), "nothing is left to try")
}

// What has failed is no answer, whatever it says.
func TestUseful(t *testing.T) {
	assert.True(t, result{text: found + "x"}.useful())
	assert.False(t, result{text: found + "x", failed: true}.useful())
	assert.False(t, result{text: "x"}.useful())
}
