"""The gradebook: records, backups, exports, late penalties, item analysis."""
