"""The resource types, a file per service: each made, changed and deleted by calls to the account's own APIs."""
