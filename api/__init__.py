"""The ledger's interfaces: HTTP and command line, and the packages that both of them use."""
