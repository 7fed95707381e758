"""Steps of boosting: the best one of every attribute and pair under a second-order model of the robust loss."""
