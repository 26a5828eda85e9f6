"""Rehearsals: does the course grade a synthetic class with known grades correctly?"""
