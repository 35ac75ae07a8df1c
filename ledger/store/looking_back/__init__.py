"""Looking back: the journal, timelines, the past as it stood, and proof that it was not changed."""
