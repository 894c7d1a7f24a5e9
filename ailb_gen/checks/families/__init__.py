"""The checks: functions over a `Context`, and below them the rows of the catalogue that name them."""
