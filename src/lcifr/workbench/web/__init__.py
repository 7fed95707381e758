"""The way from a request of the page to its answer: server, guard, typed requests, application."""
