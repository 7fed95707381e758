"""Networks and trees side by side: the rules of choice, and what the page says about both."""
