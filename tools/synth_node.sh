#!/bin/sh
# The Node in which `cdk synth` runs the CDK; cdk.json names it. V8 collects garbage in four threads, which mostly wait for
# each other here, and optimizes the CDK's WebAssembly validator for a long run, which ends after a second. Without both, a
# synth takes a third less processor time. The flags are V8's, and NODE_OPTIONS does not take them.
exec node --single-threaded-gc --liftoff-only "$@"
