"""A class that never was, whose grades are known: does the course grade it right?"""
