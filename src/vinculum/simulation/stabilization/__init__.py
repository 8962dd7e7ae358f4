"""Keeping a motion on its constraints: feedback, projection, guaranteed accuracy."""
