module github.com/homing-gateway/homing/bench

go 1.26.0

require (
	github.com/homing-gateway/homing v0.0.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/oklog/ulid/v2 v2.1.2 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
)

replace github.com/homing-gateway/homing => ../
