package process

// OnReached has Start tell where it has come to.
func (r *Runner) OnReached(reached func(point string)) { r.reached = reached }

// SuperviseReaching is Supervise, telling where it has come to.
func SuperviseReaching(args []string, reached func(point string)) int {
	return supervise(args, reached)
}

// EndGroup and EndSupervisor are what a client does about a supervisor that is gone or does not answer.
var (
	EndGroup      = endGroup
	EndSupervisor = endSupervisor
	Identify      = identify
	LifeOfMachine = lifeOfMachine
	WriteRecord   = writeRecord
)
