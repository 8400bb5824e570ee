package machine

import (
	"time"

	"github.com/homing-gateway/homing/internal/delivery"
)

// Policy is what an operator decides for a profile, as far as the rules read it. It is a value: a reload swaps it whole.
type Policy struct {
	Delivery    delivery.Policy
	ExpireAfter time.Duration // 0: never
	InboxLimit  int
	IdleReset   time.Duration // a conversation that was silent longer ends with the next message; 0: never

	SurfaceChildProcesses bool
	MaxChildren           int
	MaxSpawnDepth         int
	MaxIterations         int // model calls in a turn
	ChildIterations       int
	MaxSummaryChars       int

	MaxProcesses int // running at once

	Receipts ReceiptMode
}

// ReceiptMode is display.background_process_notifications.
type ReceiptMode string

// The modes of receipts.
const (
	ReceiptConcise ReceiptMode = "concise"
	ReceiptResult  ReceiptMode = "result"
	ReceiptError   ReceiptMode = "error"
	ReceiptOff     ReceiptMode = "off"
)
