"""The services of a lake on this machine: real ones, on loopback, each under its own supervisor."""
