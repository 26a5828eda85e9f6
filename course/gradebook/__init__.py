"""The gradebook: what is written to it, backups, exports, lateness, what its grades say."""
