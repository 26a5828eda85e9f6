"""The gradebook: records, backups, late penalties, spreadsheets in and out, item analysis."""
