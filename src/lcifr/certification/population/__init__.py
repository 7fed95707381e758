"""What verdicts about people say of a population: counts, fit of predictions, and the statement made of them."""
