"""The exact checker on sweeps: standard library only, like the checker of people, on which it rests."""
