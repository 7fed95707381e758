"""Audits on the page: started, watched, stopped, resumed, explored."""
