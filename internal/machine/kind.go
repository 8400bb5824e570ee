package machine

// KindOf names a kind of request: in logs, and in the points at which a test lets the process die. This is the one list;
// a test proves that no request is missing.
func KindOf(r Request) string {
	switch r.(type) {
	case Receive:
		return "receive"
	case Answered:
		return "answered"
	case Unanswered:
		return "unanswered"
	case Compacted:
		return "compacted"
	case ToolDone:
		return "tool_done"
	case Started:
		return "started"
	case Left:
		return "left"
	case Ended:
		return "ended"
	case Promoted:
		return "promoted"
	case Overdue:
		return "overdue"
	case Claim:
		return "claim"
	case SendDone:
		return "send_done"
	case Fetched:
		return "fetched"
	case Discarded:
		return "discarded"
	case Showing:
		return "showing"
	case Shown:
		return "shown"
	case Astray:
		return "astray"
	case Retracted:
		return "retracted"
	case Observed:
		return "observed"
	case Due:
		return "due"
	case Reachable:
		return "reachable"
	case Say:
		return "say"
	case EndSession:
		return "end_session"
	case StopDelegation:
		return "stop_delegation"
	case KillProcess:
		return "kill_process"
	case Requeue:
		return "requeue"
	case Drop:
		return "drop"
	case Examined:
		return "examined"
	case Recover:
		return "recover"
	case Shutdown:
		return "shutdown"
	}
	return ""
}
