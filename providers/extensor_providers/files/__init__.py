"""The `files` provider: files and directories below one root folder."""
