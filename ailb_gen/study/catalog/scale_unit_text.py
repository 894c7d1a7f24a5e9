"""What the page of the scale unit says."""

TEXT = ""
NOTES = ""
