"""The application: tables, reports, commands, model files."""
