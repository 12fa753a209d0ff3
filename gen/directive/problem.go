package directive

import (
	"fmt"
	"go/token"
)

// A Problem is a directive that would do nothing or not what it says, and what to do
// about it.
type Problem struct {
	// Pos and End are the comment, or the part of it that is wrong.
	Pos, End token.Pos
	// What is wrong.
	What string
	// Why it is.
	Why string
	// Fix is what to do.
	Fix string
	// Replacement is the text to put in the place of what is from Pos to End; "" when
	// that is not all there is to do.
	Replacement string
}

// Error is one line: what, why, and what to do.
func (p Problem) Error() string { return fmt.Sprintf("%s: %s; %s", p.What, p.Why, p.Fix) }
