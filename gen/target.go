package gen

import (
	"go/ast"
	"go/token"
	"go/types"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// target is an interface to wrap.
type target struct {
	pkg     *packages.Package
	file    *ast.File
	source  string // the file's path
	decl    *directive.Type
	object  *types.TypeName
	iface   *types.Interface
	params  *types.TypeParamList
	service string
	pos     token.Position // of the interface's name
	methods []*method
	sealed  bool // it has methods that only another package can implement
	narrow  *narrow
	print   string // the fingerprint
}

// method is one method of a target, what was said about it, and what becomes of it.
type method struct {
	name      string
	signature *types.Signature
	pos       token.Position
	declared  token.Position // where its signature is written, in whatever package
	doc       string
	says      says
	marked    bool // by MarkIdempotent
	markedAt  token.Position
	verdict   verdict
}

// says is what directives say about a method, merged from wherever they stand.
type says struct {
	idempotent bool
	rewind     bool
	context    string
	errorNr    int
	total      time.Duration
	attempt    time.Duration
	op         string
	stream     bool
	skip       bool
	accessor   string
	// ownAccessor: the accessor is said of the method itself, not of the whole interface.
	ownAccessor bool
	construct   string

	// from is where the first of them stands; asks reports that one of them asks for
	// the method to be guarded.
	from   token.Position
	asks   bool
	byHand bool // op: guard it whatever its name is
	soft   bool // all that is said is inferred, and may be passed over
}

// kind is what becomes of a method.
type kind string

const (
	guarded   kind = "guarded"
	stream    kind = "stream"
	forwarded kind = "forwarded"
)

// verdict is how a method is printed.
type verdict struct {
	kind kind
	// why a method is forwarded, for its comment.
	why string
	// unguardable reports that a method was forwarded because it cannot be guarded,
	// not because somebody said so.
	unguardable bool

	op         string
	idempotent bool

	// ctx is the parameter that is or carries the context, -1 if there is none.
	ctx contextUse
	// err is the result that is the error.
	err int
	// rewind are the parameters to rewind before each attempt.
	rewind []int
	// accessor is the method of the only result that has the error; fill makes a
	// result of a rejection.
	accessor string
	fill     fill
}

// contextUse is where a method's context comes from.
type contextUse struct {
	param int // -1: none
	// original is set when the parameter is more than a context, so that the attempt's
	// own cannot stand in for it.
	original bool
	// request is set when the parameter is an *http.Request that carries it.
	request bool
}

// fill is how a rejection becomes a result that has its error behind an accessor.
type fill struct {
	setErr    bool        // v := new(T); v.SetErr(err)
	construct *types.Func // FUNC(err)
	targs     []types.Type
	context   bool // FUNC(ctx, err)
}

// narrow is the interface made by //resilient:from.
type narrow struct {
	name     string // the interface's
	base     string // what the constructor is named after
	of       string // the type that has the methods
	embedded bool   // by the interface that it is made for
}
