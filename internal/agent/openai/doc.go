// Package openai asks any server that speaks OpenAI's chat completions: OpenAI itself, vLLM, llama.cpp, Ollama and the
// many others, each with habits of its own.
//
// Here lives all that is peculiar to that protocol: how a request is spelled so that strict servers take it, how streamed
// answers are put together, and which failure an HTTP status means. One Complete is one attempt: no retry, no waiting for
// a rate limit, no session and no tool lives here, and no error or log line holds the API key.
package openai
