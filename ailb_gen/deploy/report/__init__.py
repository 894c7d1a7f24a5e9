"""Plans and runs as one HTML file: the difference side by side, the waves in time, what became of every device."""
