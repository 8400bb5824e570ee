package gateway

import (
	"time"

	"go.uber.org/zap"

	"github.com/homing-gateway/homing/internal/chat"
	"github.com/homing-gateway/homing/internal/machine"
	"github.com/homing-gateway/homing/internal/view"
)

// selftestPatience is how long a self-test may take in one life of the daemon before it is said to be unfinished.
const selftestPatience = time.Minute

// selftest decides on /selftest: who may order one.
func (g *Gateway) selftest(a *account, m chat.Message) (*machine.Command, string) {
	switch {
	case !a.access.Admin(m.Address.Person):
		return nil, "/selftest is for admins: it starts commands on the machine that I run on. /whoami says what you are."
	case g.o.Rehearsal == nil:
		return nil, "There is nothing here that plays a self-test."
	}
	return &machine.Command{Name: machine.CommandSelftest}, ""
}

// examine follows a self-test by what is committed and reports what held: when it is over, or when its time is. A daemon
// that ends before that examines it again at its next start.
func (g *Gateway) examine(e machine.Examine) {
	did := e.Delegation.ID
	log := g.log.With(zap.String("delegation", string(did)))
	g.tasks.begin(func() {
		journal, stop := g.Follow()
		defer stop()
		limit := time.NewTimer(selftestPatience)
		defer limit.Stop()
		for late := false; ; {
			over, err := view.SelftestOver(g.o.Store, did)
			if over || late {
				var test view.Selftest
				if test, err = view.SelftestOf(g.o.Store, did); err == nil {
					text, held := test.Text()
					log.Info("self-test", zap.Bool("held", held))
					g.report(g.work, machine.Examined{Delegation: did, Text: text})
					return
				}
			}
			if err != nil {
				log.Error("self-test not looked at", zap.Error(err))
				if late {
					g.report(g.work, machine.Examined{Delegation: did, Text: "Self-test: not finished: the store could not be read: " + err.Error()})
					return
				}
			}
			select {
			case <-journal.C:
			case <-limit.C:
				late = true
			case <-g.work.Done():
				return
			}
		}
	})
}
