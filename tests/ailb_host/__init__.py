"""Tests of ailb_gen/ailb_host."""
