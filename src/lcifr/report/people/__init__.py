"""People on the page: who is shown, what similar people may have, and how that is worded."""
