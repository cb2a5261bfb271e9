"""Papers reproduced again, with fresh seeds, under the lock or newer packages, and held against before."""
