package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/term"

	"github.com/homing-gateway/homing/config"
	"github.com/homing-gateway/homing/internal/gateway"
)

func runCommand(g *global) *cobra.Command {
	return leaf("run", "run the gateway in the foreground until it is told to stop", "homing run\nhoming run --config /etc/homing/homing.yaml", cobra.NoArgs,
		func([]string) error { return runDaemon(g) })
}

func runDaemon(g *global) error {
	loaded, err := g.load()
	if err != nil {
		return err
	}
	if problems := slices.Concat(loaded.NotBuilt, loaded.RequireForRun()); len(problems) > 0 {
		return exit(exitConfig, &config.Error{Problems: problems})
	}
	log, err := newLogger(loaded.Config.Log)
	if err != nil {
		return err
	}
	defer func() { _ = log.Sync() }()
	for _, w := range slices.Concat(loaded.Warnings, unheard(&loaded.Config)) {
		log.Warn("configuration", zap.String("problem", w.String()))
	}
	d := &daemon{cfg: &loaded.Config, log: log}
	if err := d.open(); err != nil {
		return err
	}
	defer d.close()
	log.Info("gateway starts", zap.String("version", version()), zap.String("data_dir", d.cfg.DataDir), zap.String("config", loaded.File))

	if len(d.cfg.Platforms.Enabled()) == 0 {
		log.Info("no platform is switched on: the agent is reached by homing chat alone")
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	hard, hardStop := context.WithCancel(context.Background())
	defer hardStop()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	ended := make(chan struct{})
	defer close(ended)
	go func() { // ends with this function
		for {
			select {
			case <-hangups:
				log.Warn("reading the configuration again is not available in this version: restart the gateway for that")
			case <-ended:
				return
			}
		}
	}()
	go watchSignals(signals, ended, func() { // ends with this function
		log.Info("gateway drains", zap.Duration("grace", d.cfg.Drain.Std()))
		time.AfterFunc(d.cfg.Drain.Std(), hardStop)
		stop()
	}, hardStop)
	switch err := d.serve(ctx, hard); {
	case err == nil:
		log.Info("gateway has ended")
		return nil
	case errors.Is(err, gateway.ErrHardStop):
		return exit(exitHardStop, err)
	default:
		return exit(exitDamaged, fmt.Errorf("the store failed, nothing more is acknowledged: %w", err))
	}
}

// lastMoment is what a second signal leaves to note that nobody crashed.
const lastMoment = time.Second

// watchSignals drains at the first signal. At the second the grace is over, and the process ends within a moment, whatever
// is stuck: that is safe by design.
func watchSignals(signals <-chan os.Signal, ended <-chan struct{}, drain, hard func()) {
	select {
	case <-signals:
		drain()
	case <-ended:
		return
	}
	select {
	case <-signals:
		hard()
	case <-ended:
		return
	}
	select {
	case <-time.After(lastMoment):
		os.Exit(exitHardStop)
	case <-ended:
	}
}

// newLogger makes the log of a daemon, on standard error.
func newLogger(c config.Log) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(string(c.Level))
	if err != nil {
		return nil, err
	}
	console := c.Format == config.FormatConsole || c.Format == config.FormatAuto && term.IsTerminal(int(os.Stderr.Fd()))
	var encoder zapcore.Encoder
	if console {
		e := zap.NewDevelopmentEncoderConfig()
		e.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		encoder = zapcore.NewConsoleEncoder(e)
	} else {
		e := zap.NewProductionEncoderConfig()
		e.EncodeTime = zapcore.RFC3339NanoTimeEncoder
		encoder = zapcore.NewJSONEncoder(e)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), level)), nil
}
