package grpcguard_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/seed42274fcc/stoic/integrations/grpcguard"
	"github.com/seed42274fcc/stoic/resilient"
)

// A client whose calls are guarded, and a server that only our own services reach.
func Example() {
	server := grpc.NewServer(grpcguard.ServerOptions(grpcguard.Anyone)...)
	healthpb.RegisterHealthServer(server, health.NewServer())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()

	guard, err := resilient.NewGuard("health", resilient.DefaultPolicy(), &resilient.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := grpcguard.NewClient(&grpcguard.Options{
		Guards: grpcguard.One(guard), // in a program with more services: a *policies.Registry
		Op: func(method string) (resilient.Op, bool) { // whose option says nothing
			return resilient.Idempotent("check"), method == healthpb.Health_Check_FullMethodName
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	conn, err := grpc.NewClient(listener.Addr().String(),
		append(client.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = conn.Close() }()

	answer, err := healthpb.NewHealthClient(conn).Check(context.Background(), &healthpb.HealthCheckRequest{})
	fmt.Println(answer.GetStatus(), err)
	_, err = healthpb.NewHealthClient(conn).Check(context.Background(), &healthpb.HealthCheckRequest{Service: "shop"})
	fmt.Println(status.Code(err), guard.Circuit().Snapshot().Failures)
	// Output:
	// SERVING <nil>
	// NotFound 0
}

// The ready classifier, for guarded calls that are made by hand.
func ExampleClassify() {
	fmt.Println(grpcguard.Classify(status.Error(codes.NotFound, "no such order")))
	fmt.Println(grpcguard.Classify(status.Error(codes.Unavailable, "down")))
	// Output:
	// success
	// failure
}
