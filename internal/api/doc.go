// Package api is how the outside reaches a daemon: the admin socket for the command line, and the HTTP listener. Both read
// committed data through package view and hand every change to the gateway as a request; nothing is decided here.
package api
