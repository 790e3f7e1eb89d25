"""The bundled games, offered through the same hook as a stranger's."""
