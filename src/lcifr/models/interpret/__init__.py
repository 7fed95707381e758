"""Models of interpret-core: explainable boosting machines as sums of trees."""
