package grpcguard

import (
	"errors"
	"strings"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/seed42274fcc/stoic/resilient"
)

// Options say how a [Client] guards calls. They are copied by [NewClient]; the functions
// in them are called concurrently. What they panic with goes on as that panic.
type Options struct {
	// Guards finds a call's guard by its name; required. [One] has the same guard for all.
	Guards resilient.Guards
	// Name is the name of the guard of a method, which is given in full, as in
	// "/shop.v1.Orders/Get". There should be few. Nil, and an empty name, mean [Service].
	Name func(method string) string
	// Op describes a method, where it has an opinion: its name, whether it may be repeated,
	// its limits. Nil, and false, mean what the method's own option says: see Files.
	Op func(method string) (op resilient.Op, ok bool)
	// Files finds the descriptors of methods. A method may be repeated if its
	// idempotency_level is NO_SIDE_EFFECTS or IDEMPOTENT, and not if nothing is known of it.
	// Nil means protoregistry.GlobalFiles, which generated code is in.
	Files interface {
		FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error)
	}
	// Classify says what a status other than OK means, where it has an opinion. Nil, and
	// OutcomeUnjudged, mean [Status].
	Classify func(s *status.Status) resilient.Outcome
	// External reports that a method is one of a server which the names of our calls are
	// no business of: the scope is not sent. Nil means that none is.
	External func(method string) bool
}

// ErrNoGuards says that the options have no guards.
var ErrNoGuards = errors.New("grpcguard: Options.Guards is nil; One(guard) has the same guard for all calls")

// One has the same guard for every name: for a client of one service.
func One(guard *resilient.Guard) resilient.Guards { return one{guard} }

type one struct{ guard *resilient.Guard }

func (o one) Guard(string) *resilient.Guard { return o.guard }

// Service is the full name of a method's service: "shop.v1.Orders" of
// "/shop.v1.Orders/Get".
func Service(method string) string {
	service, _ := split(method)
	return service
}

func split(method string) (service, name string) {
	method = strings.TrimPrefix(method, "/")
	if i := strings.LastIndexByte(method, '/'); i >= 0 {
		return method[:i], method[i+1:]
	}
	return "unknown", method
}

func (o *Options) name(method string) string {
	if o.Name != nil {
		if name := o.Name(method); name != "" {
			return name
		}
	}
	return Service(method)
}

func (o *Options) op(method string) resilient.Op {
	if o.Op != nil {
		if op, ok := o.Op(method); ok {
			return op
		}
	}
	_, name := split(method)
	if o.repeatable(method) {
		return resilient.Idempotent(name)
	}
	return resilient.NonIdempotent(name)
}

// repeatable reports whether the method's own option says that it may be repeated.
func (o *Options) repeatable(method string) bool {
	service, name := split(method)
	var found protoreflect.Descriptor
	var err error
	if full := protoreflect.FullName(service + "." + name); o.Files != nil {
		found, err = o.Files.FindDescriptorByName(full)
	} else {
		found, err = protoregistry.GlobalFiles.FindDescriptorByName(full)
	}
	if err != nil {
		return false
	}
	options, ok := found.Options().(*descriptorpb.MethodOptions)
	return ok && options.GetIdempotencyLevel() != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
}
