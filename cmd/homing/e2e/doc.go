// Package e2e tests the program as its users meet it: the real binary as real processes, killed at the worst moments and
// started again, between a fake Telegram and a scripted model. It lies beside the command because it knows nothing else
// of the project: it types commands, reads what they print, and looks at what people see in their chats.
//
// Names in square brackets in comments and names of tests are rows of the scenario list, such as [C-01].
//
// HOMING_TEST_RACE=1 builds the binaries with the race detector; a report of it fails the test that provoked it.
package e2e
