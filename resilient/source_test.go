package resilient_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient"
)

func TestGuardList(t *testing.T) {
	first, second := newGuard(t, steady(), nil), newGuard(t, steady(), nil) // of one name
	list := resilient.GuardList{first, second}
	assert.Equal(t, []string{first.Name(), first.Name()}, list.Names())
	found, ok := list.Lookup(first.Name())
	assert.True(t, ok)
	assert.Same(t, first, found)
	_, ok = list.Lookup("nobody")
	assert.False(t, ok)
	assert.Empty(t, resilient.GuardList(nil).Names())
}

// A program that keeps its guards itself can show them.
func ExampleGuardList() {
	stock, err := resilient.NewGuard("stock", resilient.DefaultPolicy(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var source resilient.Source = resilient.GuardList{stock}
	for _, name := range source.Names() {
		guard, _ := source.Lookup(name)
		fmt.Println(name, guard.Circuit().State())
	}
	// Output: stock closed
}
