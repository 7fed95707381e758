"""From verdicts to populations: counts, goodness of fit, and the certified share with its confidence bound."""
