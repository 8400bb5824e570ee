package config

// worded is a setting whose values are a list of words; the first form of each word is the one that is stored.
type worded interface{ Words() []string }

// LogLevel is the least that is logged.
type LogLevel string

// Levels of the log.
const (
	LevelDebug LogLevel = "debug"
	LevelInfo  LogLevel = "info"
	LevelWarn  LogLevel = "warn"
	LevelError LogLevel = "error"
)

// Words lists the values.
func (LogLevel) Words() []string { return list(LevelDebug, LevelInfo, LevelWarn, LevelError) }

// LogFormat is the form of the log.
type LogFormat string

// Forms of the log.
const (
	FormatAuto    LogFormat = "auto"
	FormatConsole LogFormat = "console"
	FormatJSON    LogFormat = "json"
)

// Words lists the values.
func (LogFormat) Words() []string { return list(FormatAuto, FormatConsole, FormatJSON) }

// Provider is the kind of server, or of agent, behind a model.
type Provider string

// Providers of models.
const (
	ProviderOpenAI    Provider = "openai"
	ProviderAnthropic Provider = "anthropic"
	ProviderACP       Provider = "acp"
	ProviderRehearsal Provider = "rehearsal"
)

// Words lists the values.
func (Provider) Words() []string {
	return list(ProviderOpenAI, ProviderAnthropic, ProviderACP, ProviderRehearsal)
}

// Approvals says which commands a person must approve.
type Approvals string

// Policies of approval.
const (
	ApprovalsOff       Approvals = "off"
	ApprovalsDangerous Approvals = "dangerous"
	ApprovalsAlways    Approvals = "always"
)

// Words lists the values.
func (Approvals) Words() []string { return list(ApprovalsOff, ApprovalsDangerous, ApprovalsAlways) }

// OnShutdown says what becomes of background processes when the daemon stops.
type OnShutdown string

// Fates of background processes.
const (
	ShutdownKeep OnShutdown = "keep"
	ShutdownKill OnShutdown = "kill"
)

// Words lists the values.
func (OnShutdown) Words() []string { return list(ShutdownKeep, ShutdownKill) }

// Notifications says how much is said of a background process that ended.
type Notifications string

// Amounts of notification.
const (
	NotifyConcise Notifications = "concise"
	NotifyAll     Notifications = "all"
	NotifyResult  Notifications = "result"
	NotifyError   Notifications = "error"
	NotifyOff     Notifications = "off"
)

// Words lists the values.
func (Notifications) Words() []string {
	return list(NotifyConcise, NotifyAll, NotifyResult, NotifyError, NotifyOff)
}

// ToolProgress says whether a line is shown while tools run.
type ToolProgress string

// Kinds of progress lines.
const (
	ProgressOff ToolProgress = "off"
	ProgressNew ToolProgress = "new"
	ProgressAll ToolProgress = "all"
)

// Words lists the values.
func (ToolProgress) Words() []string { return list(ProgressOff, ProgressNew, ProgressAll) }

// BusyInput says what a text does that comes during a turn.
type BusyInput string

// Ways of a text that comes during a turn.
const (
	BusySteer     BusyInput = "steer"
	BusyQueue     BusyInput = "queue"
	BusyInterrupt BusyInput = "interrupt"
)

// Words lists the values.
func (BusyInput) Words() []string { return list(BusySteer, BusyQueue, BusyInterrupt) }

// Language is the language of the gateway's own texts.
type Language string

// Languages of the gateway.
const (
	English Language = "en"
	Spanish Language = "es"
	French  Language = "fr"
)

// Words lists the values.
func (Language) Words() []string { return list(English, Spanish, French) }

// DeadThread says where a message goes whose topic is gone.
type DeadThread string

// Fates of a message whose topic is gone.
const (
	DeadThreadParent DeadThread = "parent"
	DeadThreadHold   DeadThread = "hold"
)

// Words lists the values.
func (DeadThread) Words() []string { return list(DeadThreadParent, DeadThreadHold) }

// UnknownOutcome says what becomes of a message of which nobody knows whether it arrived.
type UnknownOutcome string

// Fates of a message whose outcome is unknown.
const (
	UnknownHold   UnknownOutcome = "hold"
	UnknownResend UnknownOutcome = "resend"
)

// Words lists the values.
func (UnknownOutcome) Words() []string { return list(UnknownHold, UnknownResend) }

// Engine is the store of the state.
type Engine string

// Engines of the store.
const (
	EngineBolt     Engine = "bbolt"
	EnginePostgres Engine = "postgres"
)

// Words lists the values.
func (Engine) Words() []string { return list(EngineBolt, EnginePostgres) }

func list[W ~string](words ...W) []string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return texts
}
