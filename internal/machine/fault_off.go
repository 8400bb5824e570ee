//go:build !faultpoint

package machine

func faultPoint(Request, string) {}
