-- Gives the role :user the password that its verifier was made from; the password itself never leaves the pod.
\set ON_ERROR_STOP on
\set VERBOSITY terse
\set verifier `cat :'user'.verifier`
ALTER ROLE :"user" PASSWORD :'verifier';
