package config_test

import (
	"strings"
	"testing"
)

// F-03: indentation that is wrong never turns a section into nothing.
func TestBadIndentation(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"platforms:\ntelegram:\n  token: abc\n", `homing.yaml:2: telegram: unknown key; "platforms" at line 1 is empty: indent what belongs below it (did you mean "platforms.telegram"?)`},
		{"platforms:\n  telegram:\n  token: abc\n", `homing.yaml:3: platforms.token: unknown key; "telegram" at line 2 is empty: indent what belongs below it (did you mean "platforms.telegram.token"?)`},
		{"telegram:\n  token: abc\n", `homing.yaml:1: telegram: unknown key (did you mean "platforms.telegram"?)`},
		{"delegation:\n  max_spawn_depth: 2\n   max_iterations: 5\n", "homing.yaml:3: mapping values are not allowed in this context: check the indentation of this line and of the one before it"},
		{"log:\n\tlevel: info\n", "homing.yaml:2: a tab in the indentation: YAML is indented with spaces only"},
		{"log:\n  level: info\n  \tformat: json\n", "homing.yaml:3: a tab in the indentation: YAML is indented with spaces only"},
		{"log: level: info\n", "homing.yaml:1: mapping values are not allowed in this context: check the indentation of this line and of the one before it"},
		{"agent:\n  - model: x\n", "homing.yaml:2: agent: must be a section with keys below it: provider, model, base_url, api_key, command, script, system_prompt, workspace, max_iterations, context_tokens, request_timeout"},
		{"log:\n  level:\n    info: yes\n", "homing.yaml:3: log.level: must be one of debug, info, warn, error, not a section"},
	} {
		wantLines(t, file(c.text).refused(t), c.want)
	}
}

// F-04: a misspelt key stops the start, with the key that was meant, wherever it stands.
func TestMisspeltKeys(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"platforms:\n  telegram:\n    allowed_user: [\"1\"]\n", `homing.yaml:3: platforms.telegram.allowed_user: unknown key (did you mean "allowed_users"?)`},
		{"platforms:\n  discord:\n    require_mentions: true\n", `homing.yaml:3: platforms.discord.require_mentions: unknown key (did you mean "require_mention"?)`},
		{"terminal:\n  aprovals: always\n", `homing.yaml:2: terminal.aprovals: unknown key (did you mean "approvals"?)`},
		{"delegation:\n  surface_child_process_notification: true\n", `homing.yaml:2: delegation.surface_child_process_notification: unknown key (did you mean "surface_child_process_notifications"?)`},
		{"display:\n  busy_imput: queue\n", `homing.yaml:2: display.busy_imput: unknown key (did you mean "busy_input"?)`},
		{"htpp:\n  listen: \"\"\n", `homing.yaml:1: htpp: unknown key (did you mean "http"?)`},
		{"Log:\n  level: info\n", `homing.yaml:1: Log: unknown key (did you mean "log"?)`},
		{"approvals: always\n", `homing.yaml:1: approvals: unknown key (did you mean "terminal.approvals"?)`},
		{"lgo: {}\n", `homing.yaml:1: lgo: unknown key (did you mean "log"?)`},
		{"platforms:\n  telegram: {token:abc}\n", "homing.yaml:2: platforms.telegram.token: a space is missing after the colon"},
		{"agent.model: x\n", `homing.yaml:1: agent.model: unknown key; dots do not nest: write "agent" with "model" below it`},
		{"nonsense: 1\n", "homing.yaml:1: nonsense: unknown key"},
		{"platforms:\n  matrix:\n    token: x\n", "homing.yaml:2: platforms.matrix: unknown key"},
		{"profiles:\n  - name: a\n    terminal:\n      aproval_timeout: 5m\n", `homing.yaml:4: profiles[0].terminal.aproval_timeout: unknown key (did you mean "approval_timeout"?)`},
		{"profiles:\n  - name: a\n    drain: 5m\n", `homing.yaml:3: profiles[0].drain: unknown key (did you mean "drain"?)`},
		{"routing:\n  - plattform: slack\n    profile: default\n", `homing.yaml:2: routing[0].plattform: unknown key (did you mean "platform"?)`},
		{"? [a]\n: b\n", "homing.yaml:1: a key must be one word"},
		{"1: b\n", "homing.yaml:1: 1: unknown key"},
	} {
		wantLines(t, file(c.text).refused(t), c.want)
	}
}

func TestWrongValues(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"delegation:\n  max_spawn_depth: deep\n", `homing.yaml:2: delegation.max_spawn_depth: "deep": is not a whole number`},
		{"delegation:\n  max_spawn_depth: 3\n", "homing.yaml:2: delegation.max_spawn_depth: 3 is too large: the most is 2"},
		{"delegation:\n  max_iterations: 010\n", `homing.yaml:2: delegation.max_iterations: "010": is not a whole number`},
		{"delegation:\n  max_iterations: 1e3\n", `homing.yaml:2: delegation.max_iterations: "1e3": is not a whole number`},
		{"delegation:\n  max_iterations: 99999999999\n", `homing.yaml:2: delegation.max_iterations: "99999999999": is too large`},
		{"delegation:\n  provider: opnai\n", `homing.yaml:2: delegation.provider: "opnai" is not one of openai, anthropic, acp, rehearsal (did you mean "openai"?)`},
		{"delegation: yes\n", "homing.yaml:1: delegation: must be a section with keys below it: surface_child_process_notifications, independent_completions, max_concurrent_children, max_spawn_depth, max_iterations, child_timeout, max_summary_chars, model, provider, base_url, api_key"},
		{"terminal:\n  promote_after: 60\n", `homing.yaml:2: terminal.promote_after: "60": a time needs a unit: write 90s, 5m or 48h; only 0 (off) stands alone`},
		{"terminal:\n  promote_after: \"60\"\n", `homing.yaml:2: terminal.promote_after: "60": a time needs a unit: write 90s, 5m or 48h; only 0 (off) stands alone`},
		{"terminal:\n  promote_after: 1.5\n", `homing.yaml:2: terminal.promote_after: "1.5": a time needs a unit: write 90s, 5m or 48h; only 0 (off) stands alone`},
		{"terminal:\n  promote_after: sixty seconds\n", `homing.yaml:2: terminal.promote_after: "sixty seconds": is not a time: write it like 90s, 5m, 1h30m or 48h; 0 is off`},
		{"retention:\n  dead: 30d\n", `homing.yaml:2: retention.dead: "30d": is not a time: write it like 90s, 5m, 1h30m or 48h; 0 is off`},
		{"drain: -5s\n", `homing.yaml:1: drain: "-5s": a time cannot be negative; 0 is off`},
		{"display:\n  busy_input: shout\n", `homing.yaml:2: display.busy_input: "shout" is not one of steer, queue, interrupt`},
		{"display:\n  busy_input: ques\n", `homing.yaml:2: display.busy_input: "ques" is not one of steer, queue, interrupt (did you mean "queue"?)`},
		{"platforms:\n  telegram:\n    allowed_users: {a: b}\n", "homing.yaml:3: platforms.telegram.allowed_users: must be a list, not a section"},
		{"platforms:\n  telegram:\n    allowed_users: 5\n", `homing.yaml:3: platforms.telegram.allowed_users: must be a list, like ["one", "two"]`},
		{"platforms:\n  telegram:\n    allowed_users: [5, [6]]\n", "homing.yaml:3: platforms.telegram.allowed_users: element 2: must be one text"},
		{"platforms:\n  telegram:\n    allowed_users:\n      - 5\n      -\n", "homing.yaml:4: platforms.telegram.allowed_users: element 2: is empty"},
		{"platforms:\n  telegram:\n    allowed_users: [\"\"]\n", "homing.yaml:3: platforms.telegram.allowed_users: element 1: is empty"},
		{"platforms:\n  telegram:\n    allowed_users: [\"*\"]\n", `homing.yaml:3: platforms.telegram.allowed_users: element 1: "*" is not an id: allow_all: true lets everybody in`},
		{"platforms:\n  telegram:\n    token: [abc]\n", "homing.yaml:3: platforms.telegram.token: must be one text, not a list"},
		{"platforms:\n  telegram:\n    token: {abc: def}\n", "homing.yaml:3: platforms.telegram.token: must be one text, not a section"},
		{"platforms:\n  telegram:\n    token: \"a\\nb\"\n", "homing.yaml:3: platforms.telegram.token: contains a line break or another control character"},
		{"platforms:\n  telegram:\n    api_url: \"\"\n", "homing.yaml:3: platforms.telegram.api_url: must not be empty"},
		{"platforms:\n  telegram:\n    home_chat: true\n", `homing.yaml:3: platforms.telegram.home_chat: "true" is true or false in YAML, and a text is wanted: put it in quotes`},
		{"platforms:\n  telegram:\n    home_chat: -100 5\n", `homing.yaml:3: platforms.telegram.home_chat: "-100 5" is not an id: it has a space in it`},
		{"agent:\n  model: false\n", `homing.yaml:2: agent.model: "false" is true or false in YAML, and a text is wanted: put it in quotes`},
		{"agent:\n  base_url: localhost:8080\n", "homing.yaml:2: agent.base_url: is not an address of a server: write it like https://example.com/v1"},
		{"agent:\n  base_url: ftp://x.example\n", "homing.yaml:2: agent.base_url: is not an address of a server: write it like https://example.com/v1"},
		{"agent:\n  base_url: https://ann:pw@x.example/v1\n", "homing.yaml:2: agent.base_url: has a user or a password in it: credentials have keys of their own"},
		{"agent:\n  base_url: https://x.example/v1?key=1\n", "homing.yaml:2: agent.base_url: has a ? or a # in it: only the address of the server and a path can be used"},
		{"log:\n  level: loud\n", `homing.yaml:2: log.level: "loud" is not one of debug, info, warn, error`},
		{"delivery:\n  max_attempts: -1\n", "homing.yaml:2: delivery.max_attempts: -1 is too small: the least is 1"},
		{"delivery:\n  max_attempts: 0\n", "homing.yaml:2: delivery.max_attempts: 0 is too small: the least is 1"},
		{"delivery:\n  dead_thread: shrug\n", `homing.yaml:2: delivery.dead_thread: "shrug" is not one of parent, hold`},
		{"delivery:\n  unknown: guess\n", `homing.yaml:2: delivery.unknown: "guess" is not one of hold, resend`},
		{"delivery:\n  min_backoff: 10m\n", "homing.yaml:2: delivery.min_backoff: min_backoff (10m) is longer than max_backoff (5m); see delivery.max_backoff"},
		{"delivery:\n  max_backoff: 1ms\n", "homing.yaml:2: delivery.max_backoff: min_backoff (1s) is longer than max_backoff (1ms); see delivery.min_backoff"},
		{"delivery:\n  min_backoff: 0\n", "homing.yaml:2: delivery.min_backoff: must be more than 0: the wait between two attempts cannot be switched off"},
		{"terminal:\n  output_limit: 10 apples\n", `homing.yaml:2: terminal.output_limit: "10 apples": is not a size: write a number with KB, MB, GB, KiB, MiB or GiB, like 64KiB`},
		{"terminal:\n  output_limit: 65536\n", `homing.yaml:2: terminal.output_limit: "65536": is not a size: write a number with KB, MB, GB, KiB, MiB or GiB, like 64KiB`},
		{"terminal:\n  output_limit: 0KB\n", "homing.yaml:2: terminal.output_limit: 0B is too small: the least is 1"},
		{"terminal:\n  output_limit: 999999999999GiB\n", `homing.yaml:2: terminal.output_limit: "999999999999GiB": is too large`},
		{"terminal:\n  output_limit: 0.3KiB\n", `homing.yaml:2: terminal.output_limit: "0.3KiB": is not a whole number of bytes`},
		{"http:\n  listen: 8765\n", `homing.yaml:2: http.listen: "8765" is not host:port: write it like 127.0.0.1:8765, or "" for none`},
		{"http:\n  listen: localhost:http\n", `homing.yaml:2: http.listen: "localhost:http": the port must be a number from 0 to 65535`},
		{"http:\n  listen: localhost:65536\n", `homing.yaml:2: http.listen: "localhost:65536": the port must be a number from 0 to 65535`},
		{"routing: {platform: slack}\n", "homing.yaml:1: routing: must be a list; each element begins with - and has keys: platform, account, chat, thread, user, profile"},
		{"routing:\n  - slack\n", "homing.yaml:2: routing[0]: must be a section with keys below it: platform, account, chat, thread, user, profile"},
		{"profiles:\n  -\n", "homing.yaml:2: profiles[0]: is empty"},
		{"profiles:\n  - agent: {model: x}\n", "homing.yaml:2: profiles[0].name: is missing"},
		{"profiles:\n  - name: a/b\n", "homing.yaml:2: profiles[0].name: must be letters, digits, - and _, at most 32"},
		{"profiles:\n  - name: a\n  - name: a\n", `homing.yaml:3: profiles[1].name: "a" is the name of an earlier profile`},
		{"routing:\n  - chat: 5\n", "homing.yaml:2: routing[0].profile: is missing"},
		{"routing:\n  - profile: work\n", `homing.yaml:2: routing[0].profile: "work" is the name of no profile`},
		{"routing:\n  - {profile: default, platform: matrix}\n", `homing.yaml:2: routing[0].platform: "matrix" is the name of no platform`},
	} {
		wantLines(t, file(c.text).refused(t), c.want)
	}
}

func TestWrongDocuments(t *testing.T) {
	const aliases = "anchors (&name) and aliases (*name) cannot be used here: write the value out, or use ${NAME} from the environment; put a text that begins with & or * in quotes"
	for _, c := range []struct {
		text string
		want []string
	}{
		{"- a\n- b\n", []string{"homing.yaml:1: the file must be a map of sections, like log: {level: info}"}},
		{"just words\n", []string{"homing.yaml:1: the file must be a map of sections, like log: {level: info}"}},
		{"log:\n  level: info\n---\nlog: {}\n", []string{"homing.yaml:3: a second document begins here; the file must be one document"}},
		{"log:\n  level: info\n  level: debug\n", []string{"homing.yaml:3: log.level: this key was already given at line 2"}},
		{"log:\n  level: info\ndisplay:\n  streaming: on\nlog:\n  format: json\n", []string{"homing.yaml:5: log: this key was already given at line 1"}},
		{"log: {level: info, \"level\": debug}\n", []string{"homing.yaml:1: log.level: this key was already given at line 1"}},
		{"agent: &a\n  model: x\n", []string{"homing.yaml:1: agent: " + aliases}},
		{"agent:\n  model: &m x\ndelegation:\n  model: *m\n", []string{"homing.yaml:2: agent.model: " + aliases, "homing.yaml:4: delegation.model: " + aliases}},
		{"log: &l {level: info}\ndisplay:\n  <<: *l\n", []string{"homing.yaml:1: log: " + aliases, "homing.yaml:3: display: merge keys (<<) cannot be used here: write the values out"}},
		{"levle: x\nagent: &a\n  model: x\ndrian: 1s\n", []string{"homing.yaml:1: levle: unknown key", "homing.yaml:2: agent: " + aliases, `homing.yaml:4: drian: unknown key (did you mean "drain"?)`}},
		{"agent:\n  model: *m\n", []string{"homing.yaml:2: a text that begins with * must be in quotes"}},
		{"agent:\n  model: !x y\n", []string{"homing.yaml:2: agent.model: types (!name) cannot be used here; put a text that begins with ! in quotes"}},
		{"log:\n  level: \"\x01\"\n", []string{"homing.yaml:2: the file must be UTF-8 text without control characters"}},
		{"log:\n  level: \"\xff\"\n", []string{"homing.yaml:2: the file must be UTF-8 text without control characters"}},
		{"log: {level: info\n", []string{"homing.yaml:1: did not find expected ',' or '}': inside [ ] and { } a text with ${NAME}, a comma or a bracket must be in quotes"}},
		{"agent:\n  command: [a, ${B}]\n", []string{"homing.yaml:2: did not find expected ',' or ']': inside [ ] and { } a text with ${NAME}, a comma or a bracket must be in quotes"}},
		{"\n\nlog:\n  level: info\n format: json\n", []string{"homing.yaml:3: did not find expected key: check the indentation of what begins here"}},
		{strings.Repeat("# long\n", 200_000), []string{"homing.yaml:1: the file is larger than 1 MiB"}},
	} {
		wantLines(t, file(c.text).refused(t), c.want...)
	}
	for _, empty := range []string{"", "\n", "# nothing\n", "---\n", "null\n", "{}\n", "\ufefflog:\n  level: info\n", "log:\r\n  level: info\r\n", "log:\nagent:\n  model:\nprofiles:\n", "routing: []\n"} {
		file(empty).load(t)
	}
}

// All problems are told at once: those of the file by line, then those of the environment and the flags.
func TestAllProblemsAtOnce(t *testing.T) {
	p := file("drain: soon\nlog:\n  levle: info\nplatforms:\n  telegram:\n    enabled: true\n  slack:\n    enabled: maybe\n    app_token: ${NOPE}\n",
		"HOMING_AGENT_PROVIDER=clippy")
	p.flags = map[string]string{"data_dri": "/x"}
	wantLines(t, p.refused(t),
		`homing.yaml:1: drain: "soon": is not a time: write it like 90s, 5m, 1h30m or 48h; 0 is off`,
		`homing.yaml:3: log.levle: unknown key (did you mean "level"?)`,
		`homing.yaml:8: platforms.slack.enabled: "maybe": is neither true nor false: write true, false, yes, no, on or off`,
		`homing.yaml:9: platforms.slack.app_token: the variable NOPE is not set in the environment, or is blank`,
		`env HOMING_AGENT_PROVIDER: agent.provider: "clippy" is not one of openai, anthropic, acp, rehearsal`,
		`flag: data_dri: unknown key`,
		`homing.yaml:6: platforms.telegram: is enabled and has no credentials: set platforms.telegram.token, or enabled: false`,
	)
}

// A value that another layer hides is checked all the same.
func TestHiddenValuesAreChecked(t *testing.T) {
	wantLines(t, file("log:\n  level: loud\n", "HOMING_LOG_LEVEL=info").refused(t),
		`homing.yaml:2: log.level: "loud" is not one of debug, info, warn, error`)
}
