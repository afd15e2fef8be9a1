"""Where matches come from: OpenDota's files and API, tables, made-up ones."""
