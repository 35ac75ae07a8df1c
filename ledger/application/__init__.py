"""Takes requests to answers: commands, the decision about one, the engine that commits many."""
