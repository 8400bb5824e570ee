// Package rehearsal is a provider without a model: a script of rules says what is answered. It plays the demo, and it
// stands in for a model wherever somebody wants the same answer every time.
//
// An answer depends on the script and the request alone, but for the count of scripted failures. Nothing is run and nothing
// is stored here; what a script calls are tools, and who runs them is not known here.
//
// # Scripts
//
// A script is a YAML file with rules and, perhaps, a fallback text. Rules are tried from the top; the first one that fits
// answers:
//
//	rules:
//	  - name: free text
//	    when:                        # all that is named must hold
//	      who: person                # or subagent; summary: the request for one, whose text is the record
//	      says: [build, make]        # one of these words is in the text, in any case; a single word needs no list
//	      matches: 'build (\w+)'     # a regular expression on the text
//	      brief: '^Build'            # one on the conversation's first user message, a subagent's brief
//	      notice: process            # not a text but a machine notice: delegation, process, watch or any
//	      status: '^exited 0'        # a regular expression on the rest of its marker line
//	      origin: '^Started by'      # and one on the lines that say where it comes from
//	      step: 0                    # so many tool results came since: 2, or 3+ for three and more
//	      result: {tool: terminal, contains: ok, matches: 'o.'}   # the last of them
//	    wait: 300ms
//	    fail: {kind: unavailable, times: 2, retry_after: 1s, message: text}   # then the rule answers, if it can
//	    say: 'I build {{group 1}}.'
//	    call:
//	      - tool: terminal
//	        args: {command: 'make {{group 1 | shell}}', background: true}
//	fallback: what is said when no rule fits
//
// A rule that calls and names neither step nor result is for step 0. What comes together in one turn (notices, texts) is
// answered piece by piece: while one of them still calls tools, the others wait, and at the end all that is said is one
// text.
//
// Texts and arguments may hold {{text}}, {{group 1}}, {{group "name"}}, {{last "proc"}} (the newest id of that kind),
// {{result}}, {{result "field.0.field"}}, {{notice "id"}} (also kind, status, origin), {{first}} and {{said}} (what people
// said in the conversation), {{brief}}, {{session}} and {{open}} (two braces). A filter may follow: {{text | line}} is the
// first line, {{text | shell}} is quoted as one word of a shell's command line.
package rehearsal
