package config

// Config is the whole effective configuration: every key has a value, defaults included, and folders are absolute.
//
// The tags are the table that everything else is made from: yaml is the key, default the text of its default, doc the
// sentence for people, kind what the text of a string must be (id, path, url, listen), usual a further name in the
// environment, min and max the limits of a number. A type with a Words method is a list of words.
type Config struct {
	DataDir    string     `yaml:"data_dir" kind:"path" doc:"Folder of everything that Homing keeps. Empty: $XDG_DATA_HOME/homing, else ~/.local/share/homing."`
	Drain      Duration   `yaml:"drain" default:"30s" doc:"Grace for running turns at SIGTERM; then a hard stop."`
	Log        Log        `yaml:"log" doc:"What the daemon writes about itself."`
	Agent      Agent      `yaml:"agent" doc:"The model that answers."`
	Delegation Delegation `yaml:"delegation" doc:"Work that the agent hands to subagents."`
	Terminal   Terminal   `yaml:"terminal" doc:"Commands that the agent runs."`
	Display    Display    `yaml:"display" doc:"What a person sees in the chat besides the answers."`
	Session    Session    `yaml:"session" doc:"What one conversation is."`
	Delivery   Delivery   `yaml:"delivery" doc:"How messages and results are brought to their chat."`
	Platforms  Platforms  `yaml:"platforms" doc:"The chats that the agent lives in."`
	HTTP       HTTP       `yaml:"http" doc:"API, console page and metrics."`
	Storage    Storage    `yaml:"storage" doc:"Where the state is kept."`
	Retention  Retention  `yaml:"retention" doc:"How long finished things are kept. 0: for ever."`
	Routing    []Route    `yaml:"routing" doc:"Which profile serves what; the most specific entry wins."`
	Profiles   []Profile  `yaml:"profiles" doc:"Further served profiles. What is left out comes from above; platforms never do."`
}

// Log says how much is logged, and in which form.
type Log struct {
	Level  LogLevel  `yaml:"level" default:"info" doc:"The least that is logged."`
	Format LogFormat `yaml:"format" default:"auto" doc:"auto: console on a terminal, else json."`
}

// Agent says which model answers, and within which limits.
type Agent struct {
	Provider       Provider `yaml:"provider" default:"openai" doc:"openai: any OpenAI-compatible server; rehearsal: a script instead of a model."`
	Model          string   `yaml:"model" doc:"Name of the model, as the provider knows it."`
	BaseURL        string   `yaml:"base_url" kind:"url" doc:"Address of the provider. Empty: the provider's own."`
	APIKey         Secret   `yaml:"api_key" usual:"openai=OPENAI_API_KEY anthropic=ANTHROPIC_API_KEY" doc:"Key of the provider."`
	Command        []string `yaml:"command" doc:"acp: the agent's command line."`
	Script         string   `yaml:"script" kind:"path" doc:"rehearsal: a script file. Empty: the built-in one."`
	SystemPrompt   string   `yaml:"system_prompt" doc:"Text in front of every conversation."`
	Workspace      string   `yaml:"workspace" kind:"path" doc:"Folder that the agent works in. Empty: workspace in the data folder."`
	MaxIterations  int      `yaml:"max_iterations" default:"250" min:"1" doc:"Model calls in one turn."`
	ContextTokens  int      `yaml:"context_tokens" default:"120000" min:"0" doc:"Size of the model's context; compaction starts at 80 %. 0: never by itself."`
	RequestTimeout Duration `yaml:"request_timeout" default:"10m" doc:"How long one model call may take."`
}

// Delegation is the limits of subagents, and which model they use.
type Delegation struct {
	SurfaceChildProcessNotifications bool     `yaml:"surface_child_process_notifications" default:"false" doc:"Whether the ends of a subagent's processes are shown in the owner's chat."`
	IndependentCompletions           bool     `yaml:"independent_completions" default:"false" doc:"Whether each result of a batch is reported by itself."`
	MaxConcurrentChildren            int      `yaml:"max_concurrent_children" default:"10" min:"1" doc:"Subagents that run at once."`
	MaxSpawnDepth                    int      `yaml:"max_spawn_depth" default:"1" min:"1" max:"2" doc:"1: children are leaves; 2: orchestrators with leaves."`
	MaxIterations                    int      `yaml:"max_iterations" default:"250" min:"1" doc:"Model calls of one subagent."`
	ChildTimeout                     Duration `yaml:"child_timeout" default:"0" doc:"Inactivity of a child, not its total time. 0: off."`
	MaxSummaryChars                  int      `yaml:"max_summary_chars" default:"24000" min:"1" doc:"Length of a subagent's summary."`
	Model                            string   `yaml:"model" doc:"Model of the subagents. Empty: as the parent."`
	Provider                         Provider `yaml:"provider" doc:"Provider of the subagents. Empty: as the parent."`
	BaseURL                          string   `yaml:"base_url" kind:"url" doc:"Address of the subagents' provider. Empty: as the parent."`
	APIKey                           Secret   `yaml:"api_key" doc:"Key of the subagents' provider. Empty: as the parent."`
}

// Terminal says how commands are run.
type Terminal struct {
	Shell           string     `yaml:"shell" default:"/bin/sh" doc:"Shell that runs the commands."`
	PromoteAfter    Duration   `yaml:"promote_after" default:"60s" doc:"A foreground command that lasts longer moves to the background."`
	OutputLimit     Size       `yaml:"output_limit" default:"64KiB" min:"1" doc:"Output kept per process, as head and tail."`
	MaxProcesses    int        `yaml:"max_processes" default:"64" min:"1" doc:"Processes running at once, per profile."`
	KillGrace       Duration   `yaml:"kill_grace" default:"3s" doc:"Time between the polite signal and the hard one."`
	EnvPassthrough  []string   `yaml:"env_passthrough" doc:"Variables that commands see besides PATH, HOME, LANG, TERM, TZ, TMPDIR, USER, SHELL."`
	Approvals       Approvals  `yaml:"approvals" default:"dangerous" doc:"Which commands a person must approve."`
	ApprovalTimeout Duration   `yaml:"approval_timeout" default:"5m" doc:"How long an approval is waited for; silence is no."`
	OnShutdown      OnShutdown `yaml:"on_shutdown" default:"keep" doc:"keep: background processes live on when the daemon stops; kill: they end with it."`
}

// Display says what a person sees besides the answers.
type Display struct {
	BackgroundProcessNotifications Notifications `yaml:"background_process_notifications" default:"concise" doc:"How much is said of a background process that ended."`
	ToolProgress                   ToolProgress  `yaml:"tool_progress" default:"new" doc:"A line while tools run."`
	Streaming                      bool          `yaml:"streaming" default:"true" doc:"Whether an answer grows in place while the model writes it."`
	BusyInput                      BusyInput     `yaml:"busy_input" default:"steer" doc:"What a text does that comes during a turn. steer: into the turn's next step."`
	Language                       Language      `yaml:"language" default:"en" doc:"Language of the gateway's own texts."`
}

// Session says which messages belong to one conversation.
type Session struct {
	GroupSessionsPerUser  bool     `yaml:"group_sessions_per_user" default:"true" doc:"Whether each person in a group has a conversation of their own."`
	ThreadSessionsPerUser bool     `yaml:"thread_sessions_per_user" default:"false" doc:"Whether each person in a thread has a conversation of their own."`
	IdleReset             Duration `yaml:"idle_reset" default:"0" doc:"A conversation ends after so much silence. 0: it lasts until its person ends it."`
}

// Delivery says how often, how fast and how long messages are sent.
type Delivery struct {
	MaxAttempts int            `yaml:"max_attempts" default:"8" min:"1" doc:"Attempts at one message."`
	MinBackoff  Duration       `yaml:"min_backoff" default:"1s" doc:"Wait after the first failed attempt."`
	MaxBackoff  Duration       `yaml:"max_backoff" default:"5m" doc:"Longest wait between two attempts."`
	ExpireAfter Duration       `yaml:"expire_after" default:"48h" doc:"What has waited longer is given up. 0: never."`
	InboxLimit  int            `yaml:"inbox_limit" default:"100" min:"1" doc:"Entries waiting for one session."`
	SendTimeout Duration       `yaml:"send_timeout" default:"30s" doc:"Without an answer until then the outcome of a send is unknown."`
	DeadThread  DeadThread     `yaml:"dead_thread" default:"parent" doc:"A topic that is gone. parent: its chat, with a note naming it."`
	CatchUp     Duration       `yaml:"catch_up" default:"6h" doc:"After downtime, how old a missed message may be, at most 50 a chat. 0: none."`
	Unknown     UnknownOutcome `yaml:"unknown" default:"hold" doc:"Outcome of a send unknown. hold: wait for a person; resend: once more, labelled."`
	MediaDirs   []string       `yaml:"media_dirs" kind:"path" doc:"Besides the workspace: folders that files may be sent from."`
}

// HTTP says where the HTTP interface listens.
type HTTP struct {
	Listen string `yaml:"listen" default:"127.0.0.1:8765" kind:"listen" doc:"Address. Empty: no API, no console page, no metrics."`
	APIKey Secret `yaml:"api_key" doc:"Needed for /v1 and the console page. Empty: only health and, on loopback, metrics answer."`
}

// Storage says where the state is kept.
type Storage struct {
	Engine Engine `yaml:"engine" default:"bbolt" doc:"The store."`
	DSN    Secret `yaml:"dsn" doc:"postgres: how to reach it."`
}

// Retention says how long finished things are kept.
type Retention struct {
	Sent     Duration `yaml:"sent" default:"168h" doc:"Sent messages, done completions, journal."`
	Dead     Duration `yaml:"dead" default:"720h" doc:"Dead letters."`
	Sessions Duration `yaml:"sessions" default:"2160h" doc:"Ended sessions."`
}

// Route names the profile that serves what matches; an empty field matches everything.
type Route struct {
	Platform string `yaml:"platform" kind:"id" doc:"Name of the platform."`
	Account  string `yaml:"account" kind:"id" doc:"The bot's own id on the platform."`
	Chat     string `yaml:"chat" kind:"id" doc:"Id of the chat."`
	Thread   string `yaml:"thread" kind:"id" doc:"Id of the thread."`
	User     string `yaml:"user" kind:"id" doc:"Id of the person."`
	Profile  string `yaml:"profile" kind:"id" doc:"Name of the profile that answers."`
}

// Profile is a further served profile. Its sections are complete: what the file leaves out was taken from above, except
// for platforms, which start empty.
type Profile struct {
	Name       string      `yaml:"name" kind:"id" doc:"Name of the profile."`
	Agent      Agent       `yaml:"agent" doc:"As above."`
	Delegation Delegation  `yaml:"delegation" doc:"As above."`
	Terminal   Terminal    `yaml:"terminal" doc:"As above."`
	Display    Display     `yaml:"display" doc:"As above."`
	Session    Session     `yaml:"session" doc:"As above."`
	Delivery   Delivery    `yaml:"delivery" doc:"As above."`
	HTTP       ProfileHTTP `yaml:"http" doc:"The profile's own key."`
	Platforms  Platforms   `yaml:"platforms" doc:"The profile's own accounts."`
}

// ProfileHTTP is what a profile may set of the HTTP interface.
type ProfileHTTP struct {
	APIKey Secret `yaml:"api_key" doc:"Key of the profile below /p/NAME."`
}
