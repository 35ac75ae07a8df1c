"""Takes requests to answers: the commands, the decision about one, and the engine that commits many."""
