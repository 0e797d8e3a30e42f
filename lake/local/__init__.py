"""The services of a lake on this machine: real ones, on loopback, under one supervisor."""
