"""Result folders: written whole or not at all, with their settings, steps that are done, and typed results."""
