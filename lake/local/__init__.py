"""The services of a lake on this machine: real ones, on loopback, each under a supervisor of its own."""
