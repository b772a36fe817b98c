"""Campaigns: many generated programs through every path, in worker processes; findings are kept as they come."""
